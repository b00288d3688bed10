// SPDX-License-Identifier: Apache-2.0

import Foundation
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

    @Test func `R-994: an archive that lacks the content of an asset prevents the deletion, and the app goes on`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers"], keepsAssets: true) { place in
            let database = place.database()
            try await database.save(CKRecordZone(zoneID: Self.id.zoneID))
            let record = CKRecord(recordType: "Note", recordID: Self.id)
            record["picture"] = CKAsset(fileURL: URL(fileURLWithPath: try place.write("a picture", to: "picture")))
            try await database.save(record)
            let path = "\(place.directory.path)/alice.jsonl"
            let deletion = ["accounts", "delete", "alice", "--yes", "--export", path]
            let refused = try await place.admin(deletion)
            #expect(refused.status == 1, "\(refused.output)")
            #expect(refused.output.contains("--asset-directory") && refused.output.contains("Nothing was deleted."))
            #expect(!FileManager.default.fileExists(atPath: path))
            let again = place.database()
            #expect(try await again.record(for: Self.id).recordType == "Note", "it may sign in again")
            let deleted = try await place.admin(deletion + ["--asset-directory", "\(place.directory.path)/assets"])
            #expect(deleted.status == 0, "\(deleted.output)")
            let archive = try String(contentsOfFile: path, encoding: .utf8)
            #expect(archive.contains(Data("a picture".utf8).base64EncodedString()))
            try await eventually("the app is refused") { await isRefused(again) }
            let assets = "\(place.directory.path)/assets"
            func isKept() -> Bool {
                let files = FileManager.default.enumerator(atPath: assets)?.compactMap { $0 as? String } ?? []
                return files.contains { name in
                    guard let content = FileManager.default.contents(atPath: "\(assets)/\(name)") else { return false }
                    return content.range(of: Data("a picture".utf8)) != nil
                }
            }
            #expect(isKept(), "until it is collected")
            let collected = try await place.admin(
                "assets", "collect", "--asset-directory", assets, "--asset-grace-hours", "0", "--yes")
            #expect(collected.status == 0, "\(collected.output)")
            #expect(!isKept())
        }
    }
}
