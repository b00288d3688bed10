// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkCrypto
import TidemarkKit
import TidemarkTestSupport
import TidemarkWire

/// What a database may hold (R-011), as an operator says it and an app meets it, with the real server.
@Suite struct QuotaTests {
    private static let megabyte = 1_048_576
    private let zoneID = CKRecordZone.ID(zoneName: "Notes")

    private func note(_ name: String, byteCount: Int, in zoneID: CKRecordZone.ID? = nil) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zoneID ?? .default))
        record["text"] = String(repeating: "x", count: byteCount)
        return record
    }

    private func file(_ name: String, _ url: URL) -> CKRecord {
        let record = CKRecord(recordType: "File", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        record["file"] = CKAsset(fileURL: url)
        return record
    }

    private func place(_ body: (OperatorPlace) async throws -> Void) async throws {
        try await OperatorPlace.with(keepsAssets: true) { place in
            #expect(try await place.admin("containers", "create", place.site.container).status == 0)
            try await body(place)
        }
    }

    /// Of one item of a batch that failed.
    private func code(_ failure: CKError, _ id: CKRecord.ID) -> CKError.Code? {
        (failure.partialErrorsByItemID?[AnyHashable(id)] as? CKError)?.code
    }

    private func setQuota(_ place: OperatorPlace, _ options: String...) async throws -> String {
        let set = try await place.admin(["containers", "set-quota", place.site.container] + options)
        #expect(set.status == 0, "\(set.output)")
        return set.output
    }

    private func databases(_ place: OperatorPlace) async throws -> String {
        try await place.admin("databases", "list", "--container", place.site.container).output
    }

    @Test func `R-011: a private database takes as much as its quota, and whatever makes it no larger`() async throws {
        try await place { place in
            let (alice, bob) = (place.database(), place.database(token: try await place.makeAccount("bob")))
            for database in [alice, bob] { try await database.save(CKRecordZone(zoneID: zoneID)) }
            let first = try await alice.save(note("first", byteCount: 600_000, in: zoneID))
            // The server has seen the database without a quota: it notices with the next save.
            #expect(try await setQuota(place, "--private-megabytes", "1").contains("each private database 1 MB"))
            let refusal = try await failure { try await alice.save(note("second", byteCount: 600_000, in: zoneID)) }
            #expect(refusal.code == .quotaExceeded)
            #expect(refusal.localizedDescription.contains("of 1048576 bytes"), "\(refusal.localizedDescription)")
            #expect(refusal.localizedDescription.contains("tidemark admin containers set-quota"))

            let batch = [note("small", byteCount: 10, in: zoneID), note("second", byteCount: 600_000, in: zoneID)]
            let atomic = try await failure {
                try await alice.modifyRecords(saving: batch, deleting: [first.recordID], atomically: true)
            }
            #expect(code(atomic, batch[0].recordID) == .batchRequestFailed)
            #expect(code(atomic, batch[1].recordID) == .quotaExceeded)
            #expect(code(atomic, first.recordID) == .batchRequestFailed)
            // R-120: on a reference that is violated apps delete the child.
            let child = note("child", byteCount: 10, in: zoneID)
            child.parent = CKRecord.Reference(record: batch[1], action: .none)
            let apart = try await alice.modifyRecords(saving: [child] + batch, deleting: [], atomically: false)
            #expect(code(apart.saveResults[batch[0].recordID]) == nil)
            #expect(code(apart.saveResults[batch[1].recordID]) == .quotaExceeded)
            #expect(code(apart.saveResults[child.recordID]) == .quotaExceeded)

            // Other users and the public database have room of their own.
            try await bob.save(note("bobs", byteCount: 900_000, in: zoneID))
            try await place.database(.public).save(note("public", byteCount: 900_000))

            first["text"] = String(repeating: "y", count: 600_000)
            try await alice.save(first)
            try await alice.deleteRecord(withID: first.recordID)
            try await alice.save(note("second", byteCount: 600_000, in: zoneID))
            try await alice.deleteRecordZone(withID: zoneID)
            try await alice.save(note("third", byteCount: 900_000))
            #expect(try await setQuota(place, "--private-megabytes", "none").contains("without a quota"))
            try await alice.save(note("fourth", byteCount: 900_000))
        }
    }

    @Test func `R-011: all that is public counts against the container, whoever saves it`() async throws {
        try await place { place in
            let bobsToken = try await place.makeAccount("bob")
            let said = try await setQuota(place, "--public-megabytes", "1", "--public-share-megabytes", "none")
            #expect(said.contains("the public database 1 MB, each account in it without a bound."), "\(said)")
            let (alice, bob) = (place.database(.public), place.database(.public, token: bobsToken))
            try await alice.save(note("alices", byteCount: 600_000))
            #expect(try await failure { try await bob.save(note("bobs", byteCount: 600_000)) }.code == .quotaExceeded)
            try await place.database(token: bobsToken).save(note("bobs", byteCount: 900_000))
            try await alice.deleteRecord(withID: CKRecord.ID(recordName: "alices"))
            try await bob.save(note("bobs", byteCount: 600_000))
        }
    }

    @Test func `R-277, R-279: one account cannot fill the public database, by records or by assets`() async throws {
        try await place { place in
            let bobsToken = try await place.makeAccount("bob")
            let said = try await setQuota(place, "--public-megabytes", "30")
            #expect(said.contains("the public database 30 MB, each account in it 3 MB."), "\(said)")
            let files = SampleFiles(path: place.directory.path)
            let (alice, bob) = (place.database(.public), place.database(.public, token: bobsToken))
            func file(_ name: String, _ url: URL) -> CKRecord {
                let record = CKRecord(recordType: "File", recordID: CKRecord.ID(recordName: name))
                record["file"] = CKAsset(fileURL: url)
                return record
            }
            let (small, large) = (try files.make(2 * Self.megabyte), try files.make(4 * Self.megabyte, seed: 2))
            let saved = try await alice.save(file("small", small))
            let tooLarge = try await failure { try await alice.save(file("large", large)) }
            #expect(tooLarge.code == .quotaExceeded)
            #expect(tooLarge.localizedDescription.contains("share of the public database"), "\(tooLarge)")
            try await alice.save(note("note", byteCount: 900_000))
            let full = try await failure { try await alice.save(note("more", byteCount: 900_000)) }
            #expect(full.code == .quotaExceeded)
            #expect(full.localizedDescription.contains("--public-share-megabytes"), "\(full.localizedDescription)")
            #expect(full.localizedDescription.contains("of 3145728 bytes"), "\(full.localizedDescription)")
            // Bob is not harmed, and what is small fits, also beside a file that is there.
            try await bob.save(note("bobs", byteCount: 900_000))
            saved["name"] = "small"
            try await alice.save(saved)
            try await alice.deleteRecord(withID: CKRecord.ID(recordName: "note"))
            try await alice.save(note("more", byteCount: 900_000))
            let raised = try await setQuota(place, "--public-share-megabytes", "10")
            #expect(raised.contains("the public database 30 MB, each account in it 10 MB."), "\(raised)")
            try await alice.save(file("large", large))
            let shown = try await place.admin("containers", "show", place.site.container, "-o", "json").output
            #expect(shown.contains(#""publicQuotaBytes":31457280,"publicShareBytes":10485760"#), "\(shown)")
            let verified = try await place.admin("store", "verify", "--ci")
            #expect(verified.status == 0, "\(verified.output)")
        }
    }

    @Test func `R-011, R-072: assets count until they are collected, and one that does not fit is not sent`()
        async throws
    {
        try await place { place in
            let files = SampleFiles(path: place.directory.path)
            let alice = place.database()
            try await alice.save(CKRecordZone(zoneID: zoneID))
            _ = try await setQuota(place, "--private-megabytes", "6")
            // Of the larger one the hash is not known when it is prepared.
            let (small, large) = (try files.make(2 * Self.megabyte), try files.make(5 * Self.megabyte, seed: 2))
            try await alice.save(file("small", small))
            let refusal = try await failure { try await alice.save(file("large", large)) }
            #expect(refusal.code == .quotaExceeded)
            #expect(refusal.localizedDescription.contains("of 6291456 bytes"), "\(refusal.localizedDescription)")
            let batch = [file("large", large), note("n", byteCount: 10, in: zoneID)]
            let atomic = try await failure {
                try await alice.modifyRecords(saving: batch, deleting: [], atomically: true)
            }
            #expect(code(atomic, batch[0].recordID) == .quotaExceeded)
            #expect(code(atomic, batch[1].recordID) == .batchRequestFailed)
            // The same file again takes no room.
            try await alice.save(file("again", small))

            let show = try await databases(place)
            #expect(show.contains(/alice +\d+ +2097152 +3[45]/), "\(show)")
            for name in ["small", "again"] {
                try await alice.deleteRecord(withID: CKRecord.ID(recordName: name, zoneID: zoneID))
            }
            // Grace is counted in whole milliseconds.
            try await eventually("the assets make room") {
                let collected = try await place.admin(
                    "assets", "collect", "--asset-directory", "\(place.directory.path)/assets", "--asset-grace-hours",
                    "0", "--yes")
                #expect(collected.status == 0, "\(collected.output)")
                return try await databases(place).contains(/alice +0 +0 +0\n/)
            }
            try await alice.save(file("large", large))
        }
    }

    @Test func `R-011: an engine tells of what does not fit once, and does not try again by itself`() async throws {
        try await place { place in
            let container = place.container()
            _ = try await setQuota(place, "--private-megabytes", "0")
            let device = Device(container, automatically: false)
            device.makeZone(zoneID)
            device.write("text", to: "n", in: zoneID)
            let engine = try #require(device.engine)
            try? await engine.sendChanges()
            try? await engine.sendChanges()
            let codes = device.events.flatMap { event -> [CKError.Code] in
                guard case .sentRecordZoneChanges(let sent) = event else { return [] }
                return sent.failedRecordSaves.map(\.error.code)
            }
            #expect(codes == [.quotaExceeded])
            #expect(engine.state.pendingRecordZoneChanges.isEmpty)
            _ = try await setQuota(place, "--private-megabytes", "1")
            device.write("text", to: "n", in: zoneID)
            try await engine.sendChanges()
            let record = try await place.database().record(for: CKRecord.ID(recordName: "n", zoneID: zoneID))
            #expect(record["text"] as? String == "text")
        }
    }

    @Test func `R-011: an operator sees and sets quotas`() async throws {
        try await place { place in
            let container = place.site.container
            let none = "each private database without a quota, the public database without a quota."
            let unset = try await setQuota(place, "--private-megabytes", "none")
            #expect(unset.contains("\(container), development: \(none)"))
            let both = try await setQuota(place, "--private-megabytes", "500", "--public-megabytes", "20000")
            #expect(both.contains("private database 500 MB, the public database 20000 MB, each account in it 2000 MB."))
            let one = try await setQuota(place, "--public-megabytes", "none")
            #expect(one.contains("each private database 500 MB, the public database without a quota."))
            try await place.database().save(note("n", byteCount: 300_000))
            try await place.database(.public).save(note("n", byteCount: 500_000))
            let quotas = try await place.admin("containers", "show", container, "-o", "json").output
            #expect(quotas.contains(#""privateQuotaBytes":524288000,"publicQuotaBytes":null"#), "\(quotas)")
            let shown = try await databases(place)
            let rows = shown.split(separator: "\n")
            let patterns = [
                /^DATABASE +RECORD BYTES +ASSET BYTES +OF QUOTA %$/, /^public +5001\d\d +0 +-$/,
                /^alice +3001\d\d +0 +1$/,
            ]
            #expect(rows.count == patterns.count, "\(shown)")
            for (row, pattern) in zip(rows, patterns) { #expect(row.contains(pattern), "the largest first: \(row)") }
            for options in [["--private-megabytes", "-1"], ["--public-megabytes", "many"]] {
                #expect(try await place.admin(["containers", "set-quota", container] + options).status == 2)
            }
            let unknown = try await place.admin("containers", "set-quota", "iCloud.none", "--private-megabytes", "1")
            #expect(unknown.status != 0 && unknown.output.contains("tidemark admin containers create iCloud.none"))
        }
    }

    private func code<Value>(_ result: Result<Value, any Error>?) -> CKError.Code? {
        guard case .failure(let error as CKError)? = result else { return nil }
        return error.code
    }

    @Test func `R-745: uploads whose last parts come at once fill the quota, and no more`() async throws {
        try await place { place in
            // The container's first user.
            _ = try await place.database().allRecordZones()
            #expect(try await setQuota(place, "--private-megabytes", "1").contains("each private database 1 MB"))
            let client = try await RawClient(place.site)
            try client.send(.hello(place.site))
            guard case .hello? = try await client.answer(to: 1).answer else { return }
            // Five have room. Each is prepared while there is room for it.
            func chunk(_ number: Int, _ range: Range<Int>) -> WireClientEnvelope {
                let content = [UInt8](repeating: UInt8(number), count: 200_000)
                var request = WireUploadAssetChunk()
                request.database = .private
                request.sha256 = ContentHash.of(content)
                request.byteCount = UInt64(content.count)
                request.offset = UInt64(range.lowerBound)
                request.content = content[range]
                var envelope = WireClientEnvelope()
                envelope.id = UInt64(number * 2 + (range.lowerBound == 0 ? 0 : 1))
                envelope.uploadAssetChunk = request
                return envelope
            }
            for number in 1...24 {
                try client.send(chunk(number, 0..<199_000))
                _ = try await client.answer(to: UInt64(number * 2))
            }
            client.sendTogether((1...24).map { chunk($0, 199_000..<200_000).encoded })
            var (kept, refused) = (0, 0)
            for number in 1...24 {
                switch try await client.answer(to: UInt64(number * 2 + 1)).answer {
                case .uploadAssetChunk(let progress)?: kept += progress.isComplete ? 1 : 0
                case .failure(let failure)?: refused += failure.code == .quotaExceeded ? 1 : 0
                default: break
                }
            }
            #expect(kept == 5 && refused == 19)
            let paths = try FileManager.default.subpathsOfDirectory(atPath: "\(place.directory.path)/assets")
            #expect(paths.count { $0.contains(/\/[0-9a-f]{2}\/[0-9a-f]{64}\.200000$/) } == 5)
        }
    }

    @Test func `R-962: an app reads how much of its quota is used, as of its last connection`() async throws {
        try await place { place in
            func limits() async throws -> TidemarkLimits {
                let container = place.site.makeContainer()
                #expect(try await container.accountStatus() == .available)
                return try #require(container.limits)
            }
            let none = try await limits()
            #expect(none.quotaBytes == nil && none.quotaUsedBytes == nil)
            let database = place.site.makeContainer().privateCloudDatabase
            try await database.save(note("first", byteCount: 300_000))
            _ = try await setQuota(place, "--private-megabytes", "2")
            let half = try await limits()
            #expect(half.quotaBytes == 2_097_152, "\(half)")
            let used = try #require(half.quotaUsedBytes)
            #expect((300_000...301_000).contains(used), "\(half)")
            try await database.save(note("second", byteCount: 300_000))
            let more = try #require(try await limits().quotaUsedBytes)
            #expect((600_000...602_000).contains(more))
            // A quota that leaves less room is told in place of the container's, with what counts in it.
            let set = try await place.admin("accounts", "set-quota", "alice", "--megabytes", "1")
            #expect(set.status == 0, "\(set.output)")
            let ofAccount = try await limits()
            #expect(ofAccount.quotaBytes == 1_048_576 && ofAccount.quotaUsedBytes == more, "\(ofAccount)")
            // What an operator lowers is told as it is.
            _ = try await setQuota(place, "--private-megabytes", "0")
            let full = try await limits()
            #expect(full.quotaBytes == 0 && full.quotaUsedBytes == more, "\(full)")
        }
    }

    @Test func `R-751: an account's quota holds over all containers`() async throws {
        try await place { place in
            let other = "iCloud.test.other"
            #expect(try await place.admin("containers", "create", other).status == 0)
            func database(_ identifier: String) -> CKDatabase {
                let configuration = TidemarkConfiguration(
                    url: URL(string: place.site.url), token: place.site.tokens["alice"],
                    defaultContainerIdentifier: identifier)
                return CKContainer(
                    context: CloudContext(containerIdentifier: identifier, configuration: configuration)
                ).privateCloudDatabase
            }
            let databases = [database(place.site.container), database(other)]
            for database in databases { try await database.save(note("first", byteCount: 300_000)) }
            let set = try await place.admin("accounts", "set-quota", "alice", "--megabytes", "1")
            #expect(set.status == 0 && set.output.contains("alice: 1 MB."), "\(set.output)")
            let shown = try await place.admin("accounts", "show", "alice", "-o", "json").output
            #expect(shown.contains(/"quotaBytes":1048576,"hasOwnQuota":true,"bytes":6\d{5},/), "\(shown)")
            let refusal = try await failure { try await databases[0].save(self.note("second", byteCount: 600_000)) }
            #expect(refusal.code == .quotaExceeded)
            #expect(refusal.localizedDescription.contains("The account's private databases hold"), "\(refusal)")
            try await databases[1].save(note("second", byteCount: 300_000))
            #expect(
                try await failure { try await databases[0].save(self.note("third", byteCount: 300_000)) }.code
                    == .quotaExceeded)
            #expect(try await place.admin("accounts", "set-quota", "alice", "--megabytes", "none").status == 0)
            try await databases[0].save(note("third", byteCount: 300_000))
            let all = try await place.admin("accounts", "set-quota", "--megabytes", "1")
            #expect(all.output.contains("Each account without a quota of its own: 1 MB."))
            #expect(
                try await failure { try await databases[0].save(self.note("fourth", byteCount: 300_000)) }.code
                    == .quotaExceeded)
        }
    }
}
