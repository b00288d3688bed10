// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit

/// Encrypted values of zones that have more keys together than an answer may have.
@Suite struct ManyKeysTests {
    private let zoneIDs = (0..<100).map { CKRecordZone.ID(zoneName: "Secrets \($0)") }

    private func records(_ name: String) -> [CKRecord] {
        zoneIDs.map { zoneID in
            let record = CKRecord(
                recordType: "Secret", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
            record.encryptedValues["secret"] = "\(name) of \(zoneID.zoneName)"
            return record
        }
    }

    @Test func `R-744, R-067: a new device writes and reads in a hundred zones of many keys`() async throws {
        try await KeyWorld.with { world in
            try await world.withServer { site in
                let first = site.makeContainer("first").privateCloudDatabase
                let zones = zoneIDs.map { CKRecordZone(zoneID: $0) }
                _ = try await first.modifyRecordZones(saving: zones, deleting: [])
                _ = try await first.modifyRecords(saving: records("first"), deleting: [])
                // Twenty keys a zone, without a hundred times twenty requests.
                try world.change("UPDATE zone_key SET number = 20")
                try world.change(
                    """
                    INSERT INTO zone_key (database_id, zone_id, number, created_at, id, account_key_id, wrapped)
                    SELECT database_id, zone_id, n, created_at, id, account_key_id, wrapped
                      FROM zone_key, generate_series(1, 19) AS n
                    """)
                #expect(try await world.zoneKeyIDs().count == 2_000)

                let second = site.makeContainer("second").privateCloudDatabase
                _ = try await second.modifyRecords(saving: records("second"), deleting: [])
                #expect(try await world.zoneKeyIDs().count == 2_000, "it has made no keys")
                let third = site.makeContainer("third").privateCloudDatabase
                let written = records("first") + records("second")
                let found = try await third.records(for: written.map(\.recordID))
                for record in written {
                    let secret = try found[record.recordID]?.get().encryptedValues["secret"] as? String
                    #expect(secret == record.encryptedValues["secret"] as? String)
                }
            }
        }
    }
}
