// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// A key of a zone's encrypted values, closed by its owner's account key.
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

    /// What is wrong with it whatever is stored; nil if nothing is.
    package var refusal: FailureReason? {
        let isFit =
            id.count == SealedValue.keyIDByteCount && accountKeyID.count == AccountKey.idByteCount
            && wrapped.count == Self.wrappedByteCount
        return isFit ? nil : .requestInvalid
    }
}

/// The keys of a zone, or why there is no such zone.
package struct ZoneKeysRead: Sendable, Equatable {
    /// Oldest first; nil if the zone does not live.
    package var keys: [WrappedZoneKey]?
    /// If the zone does not live: why the last one of that name ended.
    package var lastRemoval: ZoneRemovalReason?

    package init(keys: [WrappedZoneKey]?, lastRemoval: ZoneRemovalReason? = nil) {
        self.keys = keys
        self.lastRemoval = lastRemoval
    }

    package var outcome: Result<[WrappedZoneKey], FailureReason> {
        keys.map { .success($0) } ?? .failure(.missingZone(lastRemoval))
    }
}
