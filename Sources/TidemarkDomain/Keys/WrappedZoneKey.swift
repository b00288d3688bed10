// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// A key for a zone's encrypted values, itself encrypted with its owner's account key.
package struct WrappedZoneKey: Sendable, Equatable {
    /// A nonce, the key and a tag.
    package static let wrappedByteCount = 60

    /// ``SealedValue/keyIDByteCount`` bytes.
    package let id: [UInt8]
    package let accountKeyID: [UInt8]
    package let wrapped: [UInt8]

    package init(id: [UInt8], accountKeyID: [UInt8], wrapped: [UInt8]) {
        self.id = id
        self.accountKeyID = accountKeyID
        self.wrapped = wrapped
    }

    /// The same for a user who cannot be given the key, and may have it from elsewhere.
    package var idAlone: WrappedZoneKey { WrappedZoneKey(id: id, accountKeyID: [], wrapped: []) }

    /// Why the key is refused, whatever is stored; nil if it is not.
    package var refusal: FailureReason? {
        let isFit =
            id.count == SealedValue.keyIDByteCount && accountKeyID.count == AccountKey.idByteCount
            && wrapped.count == Self.wrappedByteCount
        return isFit ? nil : .requestInvalid
    }
}

/// The keys of a zone, or why the zone does not exist.
package struct ZoneKeysRead: Sendable, Equatable {
    /// Oldest first; nil if no zone of that name lives.
    package var keys: [WrappedZoneKey]?
    /// If no zone of that name lives: why the last one ended.
    package var lastRemoval: ZoneRemovalReason?
    /// The zone's shares, if they were asked for and the zone lives.
    package var sharing: ZoneSharing?

    package init(keys: [WrappedZoneKey]?, lastRemoval: ZoneRemovalReason? = nil) {
        self.keys = keys
        self.lastRemoval = lastRemoval
    }

    package var outcome: Result<[WrappedZoneKey], FailureReason> {
        keys.map { .success($0) } ?? .failure(.missingZone(lastRemoval))
    }

    /// The same for this caller: in the shared database, the zone exists only for users who take part in a share of it
    /// (I-5).
    package func outcome(for access: RecordAccess) -> Result<[WrappedZoneKey], FailureReason> {
        guard access.scope == .shared else { return outcome }
        guard let keys, access.sharing(sharing) != nil else { return .failure(.zoneNotFound) }
        return .success(keys)
    }
}
