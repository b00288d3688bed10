// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
package import TidemarkWire

/// What owners and participants of shared zones ask, as messages.
///
/// A zone without an owner is the caller's own.
package enum ShareRequests {
    package typealias Request = WireClientEnvelope.OneOfRequest

    package static func zone(_ name: String, of owner: String = "") -> WireZoneID {
        var zone = WireZoneID()
        (zone.name, zone.owner) = (name, owner)
        return zone
    }

    private static func scope(of zone: WireZoneID) -> WireDatabaseScope { zone.owner.isEmpty ? .private : .shared }

    // MARK: Shares

    /// Shares a zone, or changes its share.
    ///
    /// - Parameters:
    ///   - permission: what everybody with the link may do; unspecified: as now.
    ///   - participants: all who are to take part; nil: those who do now.
    ///   - tag: of the CKShare record; empty for a new share.
    package static func share(
        _ zone: String, _ permission: WireSharePermission = .unspecified,
        with participants: [WireParticipantSave]? = nil, tag: [UInt8] = [], _ stamp: WireRequestStamp
    ) -> WireModifyRecords {
        var save = WireRecordSave()
        (save.name, save.type, save.tag) = (Share.zoneWideName, Share.recordType, tag)
        save.share.publicPermission = permission
        save.share.participants = participants ?? []
        save.share.setsParticipants = participants != nil
        var request = modifying(Self.zone(zone), stamp)
        request.zones[0].saves = [save]
        return request
    }

    /// Ends the share of a zone.
    package static func endShare(of zone: String, _ stamp: WireRequestStamp) -> WireModifyRecords {
        deleting([Share.zoneWideName], in: Self.zone(zone), stamp)
    }

    /// Somebody who is invited by the record name. Of one who is in the share already, the number is enough.
    ///
    /// - Parameter number: their ID in the share.
    package static func participant(
        _ number: UInt8, named user: String = "", _ permission: WireSharePermission = .readWrite
    ) -> WireParticipantSave {
        var participant = WireParticipantSave()
        participant.id = [UInt8](repeating: number, count: 16)
        (participant.user, participant.permission) = (user, permission)
        return participant
    }

    package static func accept(_ link: String, declines: Bool = false) -> Request {
        var request = WireAcceptShares()
        (request.links, request.declines) = ([link], declines)
        return .acceptShares(request)
    }

    package static func metadata(_ link: String) -> Request {
        var request = WireFetchShareMetadata()
        request.links = [link]
        return .fetchShareMetadata(request)
    }

    /// Makes a zone of the caller's own.
    package static func make(_ name: String, _ stamp: WireRequestStamp) -> Request {
        var request = WireModifyZones()
        (request.database, request.stamp, request.saves) = (.private, stamp, [zone(name)])
        return .modifyZones(request)
    }

    /// Leaves a zone of another, or deletes one's own.
    package static func delete(_ zone: WireZoneID, _ stamp: WireRequestStamp) -> Request {
        var request = WireModifyZones()
        (request.database, request.stamp, request.deletes) = (scope(of: zone), stamp, [zone])
        return .modifyZones(request)
    }

    // MARK: Records

    package static func saving(
        _ names: [String], _ text: String = "text", in zone: WireZoneID, by policy: WireSavePolicy = .allKeys,
        _ stamp: WireRequestStamp
    ) throws -> WireModifyRecords {
        let fields = [UInt8](try FieldMap([Field("text", .string(text))]).bytes)
        var request = modifying(zone, stamp)
        request.policy = policy
        request.zones[0].saves = names.map { name in
            var save = WireRecordSave()
            (save.name, save.type, save.fields) = (name, "Note", fields)
            return save
        }
        return request
    }

    package static func deleting(
        _ names: [String], in zone: WireZoneID, _ stamp: WireRequestStamp
    ) -> WireModifyRecords {
        var request = modifying(zone, stamp)
        request.zones[0].deletes = names
        return request
    }

    private static func modifying(_ zone: WireZoneID, _ stamp: WireRequestStamp) -> WireModifyRecords {
        var part = WireZoneModifications()
        part.zone = zone
        var request = WireModifyRecords()
        (request.database, request.stamp, request.zones) = (scope(of: zone), stamp, [part])
        return request
    }

    package static func records(_ names: [String], in zone: WireZoneID) -> Request {
        var part = WireZoneRecordNames()
        (part.zone, part.names) = (zone, names)
        var request = WireFetchRecords()
        (request.database, request.zones) = (scope(of: zone), [part])
        return .fetchRecords(request)
    }

    /// The CKShare record of a zone.
    package static func shareRecord(of zone: WireZoneID) -> Request { records([Share.zoneWideName], in: zone) }

    // MARK: Feeds, lists and queries

    package static func page(
        of zone: WireZoneID, after token: [UInt8] = [], atMost limit: UInt32 = 0
    ) -> Request {
        var request = WireFetchZoneChanges()
        (request.database, request.zone, request.token, request.limit) = (scope(of: zone), zone, token, limit)
        return .fetchZoneChanges(request)
    }

    package static func notes(in zone: WireZoneID, after cursor: [UInt8] = [], atMost limit: UInt32 = 0) -> Request {
        var request = WireQueryRecords()
        request.database = scope(of: zone)
        request.query.recordType = "Note"
        request.query.zone = zone
        (request.cursor, request.limit) = (cursor, limit)
        return .queryRecords(request)
    }

    /// The changes of the caller's shared database.
    package static func sharedFeed(after token: [UInt8] = []) -> Request {
        var request = WireFetchDatabaseChanges()
        (request.database, request.token) = (.shared, token)
        return .fetchDatabaseChanges(request)
    }

    /// The zones of the caller's shared database.
    package static func sharedZones() -> Request {
        var request = WireFetchZones()
        request.database = .shared
        return .fetchZones(request)
    }

    /// Subscribes to the changes of the caller's shared database.
    package static func subscribeToShared() -> Request {
        var request = WireModifySubscriptions()
        request.database = .shared
        request.saves = [TestClient.subscription("shared")]
        return .modifySubscriptions(request)
    }
}
