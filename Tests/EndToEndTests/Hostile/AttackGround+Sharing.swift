// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkBytes
import TidemarkKit
import TidemarkPostgres
import TidemarkServer
import TidemarkTestSupport
import TidemarkWire

/// Zones that attackers share, or that others share with them.
extension AttackGround {
    /// Another credential of an account.
    func credential(of name: String) throws -> String {
        let credential = Credential.make()
        try execute(
            """
            INSERT INTO credential (account_id, hash)
            SELECT id, '\\x\(Hex.encode(credential.hash))' FROM account WHERE name = '\(name)'
            """)
        return credential.text
    }

    /// The record name of an account's user.
    func userName(of name: String) async throws -> String {
        try await place.container(token: try credential(of: name)).userRecordID().recordName
    }

    /// The name of an account that helps the attacker. Others have other ones.
    func helper(_ number: Int) -> String { "\(account.name)-helper-\(number)" }

    /// Makes helpers, and returns a credential of each.
    func makeHelpers(_ numbers: Range<Int>) throws -> [String] { try place.makeAccounts(numbers.map(helper)) }

    /// A new zone, which everybody may join who has the link. Returns the end of the link.
    func share(
        _ zoneName: String, by credential: String, _ permission: CKShare.ParticipantPermission = .readOnly
    ) async throws -> String {
        let database = place.database(token: credential)
        let zoneID = CKRecordZone.ID(zoneName: zoneName)
        try await database.save(CKRecordZone(zoneID: zoneID))
        let share = CKShare(recordZoneID: zoneID)
        share.publicPermission = permission
        guard let url = (try await database.save(share) as? CKShare)?.url else {
            throw NeverHappened(description: "the share has no URL")
        }
        return url.lastPathComponent
    }

    /// The link of the zone in which the neighbour lives. Everybody who has it may read there.
    func neighboursLink() async throws -> String {
        let neighbour = try credential(of: "neighbour")
        let zoneID = CKRecordZone.ID(zoneName: "Neighbour")
        let id = CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zoneID)
        let found = try await place.database(token: neighbour).records(for: [id])[id]
        if case .success(let record)? = found, let url = (record as? CKShare)?.url { return url.lastPathComponent }
        return try await share(zoneID.zoneName, by: neighbour)
    }

    /// The account makes a zone, and invites as many people as it may, by the longest addresses.
    func inviteAll(_ zoneName: String) async throws {
        try await place.database(token: account.credential).save(CKRecordZone(zoneName: zoneName))
        let answer = try await ask(account.credential) {
            let save = Attack.shareSave(Attack.inviting(99, round: 1, addressBytes: 320))
            $0.modifyRecords = Attack.modify([save], in: zoneName, 2, .private)
        }
        guard case .saved? = answer.modifyRecords.zones.first?.saves.first?.result else {
            throw NeverHappened(description: "no share of very many people: \(answer)")
        }
    }

    /// Somebody joins a share.
    func join(_ link: String, as credential: String) async throws {
        let answer = try await ask(credential) {
            $0.acceptShares = WireAcceptShares()
            $0.acceptShares.links = [link]
        }
        guard case .metadata? = answer.acceptShares.results.first?.result else {
            throw NeverHappened(description: "nobody joins: \(answer)")
        }
    }

    /// Helpers join a share, and want to hear of changes. Returns a credential of each.
    func joinAndSubscribe(_ link: String, _ numbers: Range<Int>) async throws -> [String] {
        let credentials = try makeHelpers(numbers)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for credential in credentials {
                group.addTask {
                    try await join(link, as: credential)
                    let shared = place.database(.shared, token: credential)
                    try await shared.save(CKDatabaseSubscription(subscriptionID: "viewer"))
                }
            }
            try await group.waitForAll()
        }
        return credentials
    }

    /// The answer to one request, which the library would not send as it is.
    func ask(
        _ credential: String, _ fill: (inout WireClientEnvelope) -> Void
    ) async throws -> WireServerEnvelope {
        let client = try await RawClient(place.site)
        defer { client.disconnect() }
        try client.send(WireClientEnvelope.hello(place.site, token: credential, device: 254))
        _ = try await client.answer(to: 1)
        var envelope = WireClientEnvelope()
        envelope.id = 2
        fill(&envelope)
        try client.send(envelope)
        return try await client.answer(to: 2)
    }

    /// Makes as many ended shares with as many people in a zone of the account as a server keeps (`endedSharesMax`,
    /// `endedParticipantsMax`).
    func endShares(of zoneName: String) throws {
        let zone = "zone z ON z.database_id = \(database) AND z.name = '\(zoneName)' AND z.removal IS NULL"
        // NB: an ID that did not depend on `m` could be made once for all rows of a person, as PostgreSQL orders the joins.
        try execute(
            """
            INSERT INTO share
            SELECT c.* FROM share t JOIN \(zone) AND t.database_id = z.database_id AND t.zone_id = z.id
             CROSS JOIN generate_series(1, 20) AS n
             CROSS JOIN LATERAL jsonb_populate_record(t, jsonb_build_object('number', -n, 'ended_number', 1)) AS c
            """,
            """
            INSERT INTO share_participant
            SELECT c.* FROM share_participant t JOIN \(zone) AND t.database_id = z.database_id AND t.zone_id = z.id
             CROSS JOIN generate_series(1, 20) AS n CROSS JOIN generate_series(1, 5) AS m
             CROSS JOIN LATERAL jsonb_populate_record(
                   t, jsonb_build_object('share_number', -n, 'id', md5(concat(t.id, m)))) AS c
            """)
    }

    /// Makes further zones like one that is shared, with its share, its records, and everybody who takes part. To share
    /// them one by one would take minutes.
    ///
    /// - Parameters:
    ///   - name: of the zone. Theirs begin with it, a space and their numbers, from 1 on.
    ///   - owner: the name of the account.
    func multiplyShare(_ name: String, of owner: String, count: Int) throws {
        let database = """
            (SELECT d.id FROM database d JOIN container c ON c.id = d.container_id
               JOIN container_user u ON u.id = d.user_id JOIN account a ON a.id = u.account_id
              WHERE d.scope = 2 AND c.identifier = '\(place.site.container)' AND a.name = '\(owner)')
            """
        let zones = """
            (SELECT o.database_id, o.id, m.id AS copy_id, m.name AS copy_name
               FROM zone o
               JOIN zone m ON m.database_id = o.database_id AND m.name LIKE '\(name) %' AND m.removal IS NULL
              WHERE o.database_id = \(database) AND o.name = '\(name)' AND o.removal IS NULL) AS z
            """
        try execute(
            """
            INSERT INTO zone (database_id, name, created_at, change_number, write_number, byte_count, largest_record)
            SELECT z.database_id, z.name || ' ' || n, z.created_at, z.change_number, z.write_number, z.byte_count,
                   z.largest_record
              FROM zone z CROSS JOIN generate_series(1, \(count)) AS n
             WHERE z.database_id = \(database) AND z.name = '\(name)' AND z.removal IS NULL
            """)
        // Whatever columns the tables have.
        for table in ["record", "share", "share_participant", "share_requester", "share_link"] {
            try execute(
                """
                INSERT INTO \(table)
                SELECT c.* FROM \(zones) JOIN \(table) t ON t.database_id = z.database_id AND t.zone_id = z.id
                 CROSS JOIN LATERAL jsonb_populate_record(t, jsonb_build_object('zone_id', z.copy_id)) AS c
                """)
        }
        try execute(
            """
            INSERT INTO shared_zone
            SELECT c.* FROM \(zones) JOIN shared_zone t ON t.owner_database_id = z.database_id AND t.zone_id = z.id
             CROSS JOIN LATERAL jsonb_populate_record(
                   t, jsonb_build_object('zone_id', z.copy_id, 'zone_name', z.copy_name)) AS c
            """)
    }
}
