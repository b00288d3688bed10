// SPDX-License-Identifier: Apache-2.0

import TidemarkBytes
import TidemarkKit
import TidemarkWire

/// Attacks by zones that others share, by links, and by shares. Whoever has no credential is refused each of these requests.
extension Attack {
    static let sharing = [
        strangersRequests, refusedSaves, madeUpOwners, wrongLinks, wrongAcceptances, wrongRequests, lookups,
        acceptances, remadeShares, invitations, links, sharedEdits, manySharedZones, largeShares, endedShares,
        movedHierarchies,
    ]

    // MARK: By strangers

    /// Each is about a zone of the neighbour, in which the attacker has no part. If it went to the zone's writers (R-711), or
    /// took its lock, the neighbour would wait for thousands of them.
    private static let strangersRequests = Attack(
        testDescription: "a stranger's requests for the neighbour's zone", company: .strangers, underWay: 100,
        period: nil,
        learn: { AttackKnowledge(words: [try await $0.userName(of: "neighbour")]) },
        fillKnowing: { fillStrangely(&$0, about: zone("Neighbour", of: $1.word)) },
        holds: { $0.holds("NOT EXISTS (SELECT FROM record WHERE type = 'Stranger')") }
    ) { _, _ in }

    private static func fillStrangely(_ envelope: inout WireClientEnvelope, about zone: WireZoneID) {
        let id = envelope.id
        switch id % 10 {
        case 0:
            envelope.modifyRecords = save("Stranger", ["text": "x"], in: "", id, .shared)
            envelope.modifyRecords.zones[0].zone = zone
        case 1, 2:
            envelope.modifyRecords = modify([], in: "", id, .shared)
            envelope.modifyRecords.zones[0].zone = zone
            envelope.modifyRecords.zones[0].deletes = [id % 10 == 1 ? "letter 1" : CKRecordNameZoneWideShare]
        case 3:
            envelope.modifyZones = WireModifyZones()
            envelope.modifyZones.database = .shared
            envelope.modifyZones.stamp = stamp(id)
            envelope.modifyZones.deletes = [zone]
        case 4:
            envelope.fetchRecords = fetch(["letter 1"], .shared)
            envelope.fetchRecords.zones[0].zone = zone
        case 5:
            envelope.fetchZoneChanges = WireFetchZoneChanges()
            envelope.fetchZoneChanges.database = .shared
            envelope.fetchZoneChanges.zone = zone
        case 6:
            envelope.queryRecords = query("Letter", WirePredicate(), .shared)
            envelope.queryRecords.query.zone = zone
        case 7:
            envelope.fetchKeys = WireFetchKeys()
            envelope.fetchKeys.database = .shared
            envelope.fetchKeys.zones = [zone]
            envelope.fetchKeys.inPages = true
        case 8:
            envelope.prepareAssetUpload = WirePrepareAssetUpload()
            envelope.prepareAssetUpload.database = .shared
            envelope.prepareAssetUpload.zone = zone
            envelope.prepareAssetUpload.sha256 = Array(repeating: 7, count: 32)
            envelope.prepareAssetUpload.byteCount = 1 << 20
        default:
            envelope.fetchZones = WireFetchZones()
            envelope.fetchZones.database = .shared
            envelope.fetchZones.zones = [zone]
        }
    }

    /// The neighbour lets everybody with the link read. Each save goes to the zone's writers, and is refused there. If whoever
    /// may only read had no turn of their own (R-711), the neighbour's saves would wait for thousands of them.
    private static let refusedSaves = Attack(
        testDescription: "saves of somebody who may only read", company: .strangers, underWay: 100, period: nil,
        byNobody: .none("nobody takes part"),
        learn: { ground in
            try await ground.join(try await ground.neighboursLink(), as: ground.account.credential)
            return AttackKnowledge(words: [try await ground.userName(of: "neighbour")])
        },
        fillKnowing: { envelope, known in
            envelope.modifyRecords = save("Stranger", ["text": "x"], in: "", envelope.id, .shared)
            envelope.modifyRecords.zones[0].zone = zone("Neighbour", of: known.word)
        },
        holds: { $0.holds("NOT EXISTS (SELECT FROM record WHERE type = 'Stranger')") }
    ) { _, _ in }

    /// Each names 400 owners, who must be looked up. If a save looked them up before its turn (R-711), thousands of look-ups
    /// would come before one of the neighbour's reads.
    private static let madeUpOwners = Attack(
        testDescription: "zones of 400 owners that nobody is", company: .strangers, underWay: 64, period: 16
    ) { envelope, _ in
        let zones = (0..<400).map { zone("Notes", of: userName(envelope.id * 400 + $0)) }
        guard envelope.id.isMultiple(of: 2) else {
            envelope.fetchZones = WireFetchZones()
            envelope.fetchZones.database = .shared
            envelope.fetchZones.zones = zones
            return
        }
        envelope.modifyRecords = WireModifyRecords()
        envelope.modifyRecords.database = .shared
        envelope.modifyRecords.stamp = stamp(envelope.id)
        envelope.modifyRecords.zones = zones.map {
            var part = WireZoneModifications()
            part.zone = $0
            part.deletes = ["letter"]
            return part
        }
    }

    /// As many as a request may have, and now and then more.
    private static let wrongLinks = Attack(
        testDescription: "questions for 100 links that lead nowhere", company: .strangers, underWay: 64, period: 16
    ) { envelope, _ in
        envelope.fetchShareMetadata = WireFetchShareMetadata()
        envelope.fetchShareMetadata.links = madeUpLinks(envelope.id, count: envelope.id % 8 == 7 ? 400 : 100)
    }

    private static let wrongAcceptances = Attack(
        testDescription: "acceptances of 100 links that lead nowhere", company: .strangers, underWay: 64, period: 16
    ) { envelope, _ in
        envelope.acceptShares = WireAcceptShares()
        envelope.acceptShares.links = madeUpLinks(envelope.id, count: 100)
        envelope.acceptShares.declines = envelope.id.isMultiple(of: 2)
    }

    /// Most are more than an account may ask for in a minute. Each of the others waits a while for its answer (R-972).
    private static let wrongRequests = Attack(
        testDescription: "requests for access to links that lead nowhere", company: .strangers, underWay: 64, period: 16
    ) { envelope, _ in
        envelope.requestShareAccess = WireRequestShareAccess()
        envelope.requestShareAccess.links = madeUpLinks(envelope.id, count: envelope.id % 8 == 7 ? 100 : 1)
    }

    /// Each asks whether 50 addresses and 50 names are anybody's.
    private static let lookups = Attack(
        testDescription: "look-ups of 100 people", company: .strangers, underWay: 64, period: 16
    ) { envelope, _ in
        envelope.fetchShareParticipants = WireFetchShareParticipants()
        envelope.fetchShareParticipants.lookups = (0..<UInt64(100)).map { number in
            var lookup = WireParticipantLookup()
            if number < 50 {
                lookup.email = "\(envelope.id).\(number)@example.org"
            } else {
                lookup.user = userName(envelope.id * 100 + number)
            }
            return lookup
        }
    }

    // MARK: By who makes and joins shares

    /// Everybody joins and leaves again and again. Each time the share has a new version, which all must hear of.
    private static let acceptances = Attack(
        testDescription: "100 viewers who join and leave", company: .shares, connections: 100, isShared: true,
        underWay: 2, period: 2, byNobody: .none("nobody joins"),
        learn: { ground in
            let owner = try ground.makeHelpers(0..<1)[0]
            let link = try await ground.share("Joined", by: owner)
            return AttackKnowledge(words: [link], credentials: try ground.makeHelpers(1..<(ground.isLong ? 101 : 11)))
        },
        fillKnowing: {
            $0.acceptShares = WireAcceptShares()
            $0.acceptShares.links = [$1.word]
            $0.acceptShares.declines = $0.id.isMultiple(of: 2)
        }
    ) { _, _ in }

    /// The owner shares, deletes and makes the zone anew. Somebody else joins by the first link meanwhile.
    private static let remadeShares = Attack(
        testDescription: "zones that are shared and deleted while somebody joins", company: .shares, underWay: 4,
        period: nil, byNobody: .none("nobody shares"),
        learn: { ground in
            let link = try await ground.share("Remade", by: ground.account.credential)
            let helpers = try ground.makeHelpers(0..<1)
            return AttackKnowledge(words: [link], credentials: [ground.account.credential] + helpers)
        },
        fillKnowing: { envelope, known in
            switch envelope.id % 4 {
            case 0:
                envelope.acceptShares = WireAcceptShares()
                envelope.acceptShares.links = [known.word]
            case 1:
                var share = WireShareSave()
                share.publicPermission = .readWrite
                envelope.modifyRecords = modify([shareSave(share)], in: "Remade", envelope.id, .private)
            default:
                envelope.modifyZones = WireModifyZones()
                envelope.modifyZones.database = .private
                envelope.modifyZones.stamp = stamp(envelope.id)
                if envelope.id % 4 == 2 {
                    envelope.modifyZones.deletes = [zone("Remade")]
                } else {
                    envelope.modifyZones.saves = [zone("Remade")]
                }
            }
        }
    ) { _, _ in }

    /// In turn 16 zones' shares are made with as many people as there may be, and deleted.
    private static let invitations = Attack(
        testDescription: "invitations of 99 people whom nobody knows", company: .shares, connections: 4, underWay: 8,
        period: nil, byNobody: .none("nobody invites"),
        prepare: { database, _ in
            let zones = (0..<16).map { CKRecordZone(zoneName: "Invited \($0)") }
            _ = try await database.modifyRecordZones(saving: zones, deleting: [])
        }
    ) { envelope, _ in
        let name = "Invited \(envelope.id / 2 % 16)"
        if envelope.id.isMultiple(of: 2) {
            let save = shareSave(inviting(99, round: envelope.id))
            envelope.modifyRecords = modify([save], in: name, envelope.id, .private)
        } else {
            envelope.modifyRecords = modify([], in: name, envelope.id, .private)
            envelope.modifyRecords.zones[0].deletes = [CKRecordNameZoneWideShare]
        }
    }

    /// Each seems to make a share, and is given a link before it is refused: it has somebody whom nobody knows. If the links
    /// that no share took over had no bound, a million of them would be left in a minute.
    private static let links = Attack(
        testDescription: "shares that are refused once they have a link", company: .shares, underWay: 50, period: nil,
        byNobody: .none("nobody shares"),
        prepare: { database, _ in try await database.save(CKRecordZone(zoneName: "Linked")) },
        // A hundred that no share took over, and some that were made at once.
        holds: {
            $0.holds(
                "(SELECT count(*) FROM share_link_target WHERE owner_database_id = \($0.database)) BETWEEN 1 AND 200")
        }
    ) { envelope, scope in
        var share = inviting(1, round: 1)
        share.participants[0].email = ""
        envelope.modifyRecords = modify([shareSave(share)], in: "Linked", envelope.id, scope)
    }

    // MARK: By shares of many people, and of many zones

    /// Each save concerns everybody who has the zone. They are told of it, and do not read that.
    private static let sharedEdits = Attack(
        testDescription: "saves in zones of 99 people who do not read", company: .viewers, underWay: 16, period: nil,
        byNobody: .none("nobody saves"),
        learn: { ground in
            let link = try await ground.share("Busy", by: ground.account.credential)
            let viewers = try await ground.joinAndSubscribe(link, 0..<(ground.isLong ? 99 : 10))
            try ground.multiplyShare("Busy", of: ground.account.name, count: ground.isLong ? 400 : 5)
            return AttackKnowledge(listeners: viewers)
        },
        fillKnowing: { envelope, _ in
            let zoneName = "Busy \(1 + envelope.id % 5)"
            envelope.modifyRecords = save("Small", ["text": "x"], in: zoneName, envelope.id, .private)
        }
    ) { _, _ in }

    /// Lists of zones, and changes of them from the beginning. The access to each zone is read with it.
    private static let manySharedZones = Attack(
        testDescription: "lists and changes of 1,000 shared zones", company: .viewers, connections: 50, isShared: true,
        underWay: 16, period: 4, byNobody: .none("nothing is shared with nobody"),
        arrange: { ground in
            let link = try await ground.share("Many", by: try ground.makeHelpers(100..<101)[0])
            try await ground.join(link, as: ground.account.credential)
            try ground.multiplyShare("Many", of: ground.helper(100), count: ground.isLong ? 999 : 99)
        }
    ) { envelope, _ in
        guard envelope.id % 4 > 0 else {
            envelope.fetchZones = WireFetchZones()
            envelope.fetchZones.database = .shared
            return
        }
        envelope.fetchDatabaseChanges = WireFetchDatabaseChanges()
        envelope.fetchDatabaseChanges.database = .shared
        envelope.fetchDatabaseChanges.withEnds = envelope.id % 4 == 1
    }

    /// An answer has the participants with each share. If their bytes did not count, a few requests would take hundreds of
    /// megabytes.
    private static let largeShares = Attack(
        testDescription: "hundreds of shares of 99 people with the longest addresses", company: .viewers,
        connections: 4, underWay: 8, period: 2, byNobody: .none("nobody shares"),
        arrange: { ground in
            try await ground.inviteAll("Large")
            try ground.multiplyShare("Large", of: ground.account.name, count: ground.isLong ? 399 : 39)
        }
    ) { envelope, scope in
        if envelope.id.isMultiple(of: 2) {
            envelope.queryRecords = query(CKRecord.SystemType.share, WirePredicate(), scope)
        } else {
            envelope.fetchRecords = fetchShares((1...399).map { "Large \($0)" }, scope)
        }
    }

    /// Ten thousand people who were once invited to each zone. If they were read whenever a share is shown, an event loop
    /// would be held by them.
    private static let endedShares = Attack(
        testDescription: "shares of zones that were shared 20 times before", company: .viewers, connections: 4,
        underWay: 16, byNobody: .none("nobody shares"),
        arrange: { ground in
            try await ground.inviteAll("Ended")
            try ground.endShares(of: "Ended")
            try ground.multiplyShare("Ended", of: ground.account.name, count: ground.isLong ? 20 : 2)
        }
    ) { $0.fetchRecords = fetchShares(["Ended"] + (1...20).map { "Ended \($0)" }, $1) }
}

/// By hierarchies that are shared.
extension Attack {
    private static let movedZoneCount: UInt64 = 4

    private static func leafCount(_ isLong: Bool) -> Int { isLong ? 15_000 : 3_000 }

    /// A small save moves thousands of records under a share, and the next one takes them out. If an account could do that in
    /// all zones at once (R-776), the neighbour would wait for its transactions.
    private static let movedHierarchies = Attack(
        testDescription: "moves of thousands of records in and out of a share", company: .shares, connections: 4,
        underWay: 4, period: nil, byNobody: .none("nobody shares"),
        prepare: { database, _ in
            let leaf = CKRecord(recordType: "Leaf", recordID: CKRecord.ID(recordName: "leaf"))
            try await database.save(leaf)
            for number in 0..<movedZoneCount {
                let zone = CKRecordZone(zoneName: "Moved \(number)")
                try await database.save(zone)
                func record(_ name: String) -> CKRecord {
                    CKRecord(recordType: "Branch", recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID))
                }
                let root = record("root")
                let saves = [root, record("branch"), CKShare(rootRecord: root)]
                _ = try await database.modifyRecords(saving: saves, deleting: [])
            }
        },
        arrange: { ground in
            try ground.multiply(
                "leaf", count: leafCount(ground.isLong), in: "z.name LIKE 'Moved %'", name: "'leaf ' || n",
                parent: "'branch'")
        },
        // A row for each record and share, however often it was moved.
        holds: {
            let rowsMax = Int(movedZoneCount) * (leafCount($0.isLong) + 3)
            return $0.holds(
                "(SELECT count(*) FROM share_record WHERE database_id = \($0.database)) BETWEEN 1 AND \(rowsMax)")
        }
    ) { envelope, scope in
        var save = WireRecordSave()
        save.name = "branch"
        save.type = "Branch"
        save.parentChange = .parentRemoved
        if envelope.id.isMultiple(of: 2) {
            save.parent = "root"
            save.parentChange = .parentSet
        }
        envelope.modifyRecords = modify(
            [save], in: "Moved \(envelope.id / 2 % movedZoneCount)", envelope.id, scope)
        envelope.modifyRecords.policy = .changedKeys
    }
}

/// Of what requests for shares are made.
extension Attack {
    static func zone(_ name: String, of owner: String) -> WireZoneID {
        var id = zone(name)
        id.owner = owner
        return id
    }

    /// As the server names users. Nobody has it.
    static func userName(_ number: UInt64) -> String { "_" + hexText(number) }

    /// As the server makes links. They lead nowhere.
    static func madeUpLinks(_ round: UInt64, count: UInt64) -> [String] {
        (0..<count).map { hexText(round * 400 + $0) }
    }

    /// 32 digits.
    private static func hexText(_ number: UInt64) -> String {
        let bytes: [UInt8] = (0..<16).map { $0 < 8 ? UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) : 0xA5 }
        return Hex.encode(bytes)
    }

    static func fetchShares(_ zoneNames: [String], _ scope: WireDatabaseScope) -> WireFetchRecords {
        var request = WireFetchRecords()
        request.database = scope
        request.zones = zoneNames.map {
            var part = WireZoneRecordNames()
            part.zone = zone($0)
            part.names = [CKRecordNameZoneWideShare]
            return part
        }
        return request
    }

    /// A save of a zone's share of which the client knows no version.
    static func shareSave(_ share: WireShareSave, fields: [String: String] = [:]) -> WireRecordSave {
        var save = WireRecordSave()
        save.name = CKRecordNameZoneWideShare
        save.type = CKRecord.SystemType.share
        save.fields = fieldBytes(fields)
        save.share = share
        return save
    }

    /// A share of so many people, who have addresses that nobody has.
    static func inviting(_ count: Int, round: UInt64, addressBytes: Int = 0) -> WireShareSave {
        var share = WireShareSave()
        share.publicPermission = .noAccess
        share.setsParticipants = true
        share.participants = (1...count).map { number in
            var participant = WireParticipantSave()
            participant.id = Array(repeating: UInt8(number), count: 16)
            let name = "\(round).\(number)@"
            let host = String(repeating: "x", count: max(8, addressBytes - name.utf8.count - 4)) + ".org"
            participant.email = name + host
            participant.role = .privateUser
            participant.permission = .readOnly
            return participant
        }
        return share
    }
}
