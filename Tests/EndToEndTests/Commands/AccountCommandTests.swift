// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkKit
import TidemarkTestSupport

/// What operators see of accounts and do with them, with the real command, the real server and a connected app.
@Suite struct AccountCommandTests {
    private static let id = CKRecord.ID(recordName: "n", zoneID: CKRecordZone.ID(zoneName: "Notes"))

    /// Without what is other in each run: dates, numbers, identifiers and names of users.
    private func golden(_ output: String) -> String {
        output
            .replacing(/"\d{4}-\d\d-\d\dT[0-9:.]+Z"/) { _ in "DATE" }
            .replacing(/"_?[0-9a-f]{32}"/) { _ in "HEX" }
            .replacing(/"address":"[^"]*"/) { _ in "\"address\":TEXT" }
            .replacing(/:\d+/) { _ in ":N" }
    }

    /// Without who ran the command.
    private func anyOperator(_ line: String) -> String {
        line.replacing(/"who":"[^"]*"/) { _ in "\"who\":OPERATOR" }
    }

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

    @Test func `R-862, R-830: an account and a zone are shown in numbers, as JSON with the documented keys`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers"]) { place in
            try await save(in: place.database())
            let account = try await place.admin("accounts", "show", "alice", "-o", "json")
            #expect(account.status == 0)
            #expect(
                golden(account.output).replacing(/"(quotaBytes|bytes)":null/) { "\"\($0.1)\":N" }
                    == """
                    {"account":"alice","created":DATE,"credentials":N,"devices":N,"encryption":"escrowed","name":null,\
                    "disabled":null,"quotaBytes":N,"hasOwnQuota":false,"bytes":N,"addresses":[],"zones":N,"records":N,\
                    "shares":N,"recordBytes":N,"assetBytes":N,"sharedZones":N,"subscriptions":N,"containers":[{"container":\
                    "iCloud.test.operator","environment":"development","user":HEX}]}

                    """)
            #expect(account.output.contains("\"credentials\":1,\"devices\":1,"))
            #expect(account.output.contains("\"zones\":2,"))
            let zone = try await place.admin(
                "zones", "show", "alice", "Notes", "--container", place.site.container, "-o", "json")
            #expect(zone.status == 0)
            #expect(
                golden(zone.output).replacing("\"feed\":null", with: "\"feed\":N")
                    == """
                    {"zone":"Notes","head":N,"records":N,"tombstones":N,"recordBytes":N,"keys":N,"shares":N,\
                    "subscriptions":N,"created":DATE,"feed":N,"oldestToken":N,"tombstoneBytes":N,"largestRecordBytes":N,\
                    "encryption":"per record","participants":N,"clientTokens":N}

                    """)
            #expect(zone.output.contains("\"records\":1,\"tombstones\":0,"))
        }
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
            #expect(audit.status == 0)
            #expect(
                anyOperator(golden(audit.output))
                    == """
                    {"time":DATE,"who":OPERATOR,"action":"accounts disable","target":"alice","result":"done","detail":null,\
                    "device":null,"address":null,"id":N}

                    """)
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
