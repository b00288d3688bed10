// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkFields
package import TidemarkWire

/// A `FetchZoneChanges` in the types of the rules.
package struct ZoneChangesQuery: Sendable {
    /// Nil for a zone that the caller's database cannot have.
    package let key: ZoneKey?
    /// Empty: from the beginning.
    package let token: [UInt8]
    /// 0: the server decides.
    package let limit: Int
    package let selection: FieldSelection?
    /// Whether a fetch without a token also gets all deletions.
    package let tellsEnds: Bool

    /// - Throws: ``Refusal`` with `requestInvalid`.
    package init(_ request: WireFetchZoneChanges, by viewpoint: Viewpoint) throws(Refusal) {
        key = viewpoint.zoneKey(of: request.zone)
        token = request.token
        limit = Int(request.limit)
        selection = request.hasDesiredKeys ? try FieldSelection(request.desiredKeys) : nil
        tellsEnds = request.withEnds
    }
}

/// A `FetchDatabaseChanges` in the types of the rules.
package struct DatabaseChangesQuery: Sendable {
    /// Empty: from the beginning.
    package let token: [UInt8]
    /// 0: the server decides.
    package let limit: Int
    /// Whether a fetch without a token also gets the ends of zones.
    package let tellsEnds: Bool
    /// The zone that the client would ask for next, if it is in the same private or shared database.
    package let then: ZoneChangesQuery?
    /// Whether the client takes changes of its private database from pushes.
    package let follows: Bool

    package init(_ request: WireFetchDatabaseChanges, by viewpoint: Viewpoint) {
        token = request.token
        limit = Int(request.limit)
        tellsEnds = request.withEnds
        follows = request.follows && viewpoint.access.scope == .private
        // If it is invalid, the client learns that when it sends the request itself.
        then = request.mayHaveThen ? try? ZoneChangesQuery(request.then, by: viewpoint) : nil
    }
}

extension WireFetchDatabaseChanges {
    /// Whether a page of a zone may come with the answer. The public database has no such pages.
    package var mayHaveThen: Bool { hasThen && then.database == database && database != .public }
}

extension WireFetchDatabaseChangesAnswer {
    /// - Parameter lacksSubscription: whether the subscription that the client relies on no longer exists.
    /// - Throws: ``Refusal`` with `serverFault` if the viewpoint does not know the owner of a zone.
    package init(
        _ page: DatabasePage, seenFrom viewpoint: Viewpoint, lacksSubscription: Bool = false
    ) throws(Refusal) {
        self.init()
        ended = try page.ended.map { entry throws(Refusal) -> WireZoneEnd in
            var end = WireZoneEnd()
            end.zone = try WireZoneID(entry.key, seenFrom: viewpoint)
            end.reason = WireZoneEndReason(entry.removal ?? .deleted)
            return end
        }
        changed = try page.changed.map { entry throws(Refusal) -> WireZoneID in
            try WireZoneID(entry.key, seenFrom: viewpoint)
        }
        token = page.token.bytes
        moreComing = page.moreComing
        subscriptionMissing = lacksSubscription
    }
}

extension WireZoneEndReason {
    fileprivate init(_ reason: ZoneRemovalReason) {
        switch reason {
        case .deleted: self = .deleted
        case .purged: self = .purged
        case .encryptedDataReset: self = .encryptedDataReset
        }
    }
}
