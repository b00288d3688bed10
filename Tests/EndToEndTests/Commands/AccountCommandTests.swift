// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkKit
import TidemarkTestSupport

/// What operators see of accounts and do with them, with the real command, the real server and a connected app.
@Suite struct AccountCommandTests {
    private static let id = CKRecord.ID(recordName: "n", zoneID: CKRecordZone.ID(zoneName: "Notes"))

    private func isRefused(_ database: CKDatabase) async -> Bool {
        do {
            _ = try await database.record(for: Self.id)
            return false
        } catch let error as CKError {
            return error.code == .accountTemporarilyUnavailable
        } catch {
            return false
        }
    }

    private func save(in database: CKDatabase) async throws {
        try await database.save(CKRecordZone(zoneID: Self.id.zoneID))
        try await database.save(CKRecord(recordType: "Note", recordID: Self.id))
    }

    @Test func `R-861: an app that is connected is told when its account is disabled, and the audit says who did it`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let database = place.database()
            try await save(in: database)
            let disabled = try await place.admin("accounts", "disable", "alice")
            #expect(disabled.status == 0 && disabled.output == "alice is disabled.\n")
            try await eventually("the app is refused") { await isRefused(database) }
            let audit = try await place.admin("audit", "list", "--kind", "actions", "--since", "1h", "-o", "json")
            let action = "\"action\":\"accounts disable\",\"target\":\"alice\",\"result\":\"done\""
            #expect(audit.status == 0 && audit.output.contains(action), "\(audit.output)")
            #expect(try await place.admin("accounts", "enable", "alice").status == 0)
            let again = place.database()
            #expect(try await again.record(for: Self.id).recordType == "Note", "nothing was deleted")
        }
    }

    @Test func `R-866: an app that is connected is told when its device is revoked, and the audit says who did it`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let database = place.database()
            try await save(in: database)
            let device = try await place.admin("devices", "list", "alice", "-o", "name").output
                .split(separator: "\n").map(String.init)
            #expect(device.count == 1)
            let revoked = try await place.admin(["devices", "revoke", "alice"] + device)
            #expect(revoked.status == 0 && revoked.output == "Revoked \(device[0]).\n")
            try await eventually("the app is refused") { await isRefused(database) }
            let other = try await place.database().record(for: Self.id)
            #expect(other.recordType == "Note", "another device goes on")
            let audit = try await place.admin("audit", "list", "--kind", "actions", "--since", "1h", "-o", "json")
            let revocation = "\"action\":\"devices revoke\",\"target\":\"alice \(device[0])\",\"result\":\"done\""
            #expect(audit.output.contains(revocation), "\(audit.output)")
        }
    }
}
