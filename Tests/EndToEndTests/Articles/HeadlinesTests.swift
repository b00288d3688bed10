// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestKit
import TidemarkTestSupport

@Suite struct HeadlinesTests {
    private static func headline(_ name: String, _ topic: String, _ title: String) -> CKRecord {
        let record = CKRecord(recordType: "Headline", recordID: CKRecord.ID(recordName: name))
        record["topic"] = topic
        record["title"] = title
        return record
    }

    private static func save(_ record: CKRecord, in database: CKDatabase) async throws {
        let results = try await database.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
        _ = try results.saveResults[record.recordID]?.get()
    }

    @Test func `R-245, R-249, R-253: an app that is told of a topic has its headlines, also those that it missed`()
        async throws
    {
        let cloud = TestCloud()
        let phone = cloud.account("alice").device("phone")
        let desk = cloud.account("bob").device("desk").container.publicCloudDatabase
        try await Self.save(Self.headline("old", "sea", "Old"), in: desk)
        let headlines = Headlines(topic: "sea", container: phone.container)
        try await headlines.start()
        #expect(await headlines.titles == ["old": "Old"])
        try await Self.save(Self.headline("a", "sea", "Storm"), in: desk)
        try await Self.save(Self.headline("b", "land", "Rain"), in: desk)
        try await cloud.run { await headlines.titles == ["old": "Old", "a": "Storm"] }
        #expect(await headlines.alerts == ["News: Storm"])
        // It starts to belong to the topic, and stops.
        try await Self.save(Self.headline("b", "sea", "Flood"), in: desk)
        try await cloud.run { await headlines.titles["b"] == "Flood" }
        try await Self.save(Self.headline("b", "land", "Flood"), in: desk)
        try await desk.deleteRecord(withID: CKRecord.ID(recordName: "old"))
        try await cloud.run { await headlines.titles == ["a": "Storm"] }
        let alerts = await headlines.alerts
        phone.goOffline()
        try await Self.save(Self.headline("c", "sea", "Calm"), in: desk)
        try await desk.deleteRecord(withID: CKRecord.ID(recordName: "a"))
        phone.goOnline()
        try await cloud.run { await headlines.titles == ["c": "Calm"] }
        #expect(await headlines.alerts == alerts, "what was missed is told silently")
    }

    @Test func `R-249, R-253, R-261: whatever goes wrong, it has in the end what is there`() async throws {
        await ArticleHistories.run(count: 6) { seed in
            var random = SeededRandom(seed: seed)
            let cloud = TestCloud()
            let phone = cloud.account("alice").device("phone")
            let desk = cloud.account("bob").device("desk").container.publicCloudDatabase
            let headlines = Headlines(topic: "sea", container: phone.container)
            try await headlines.start()
            var expected: [String: String] = [:]
            for step in 0..<40 {
                let name = "n\(random.below(5))"
                switch random.below(8) {
                case 0: if phone.isOnline { phone.goOffline() } else { phone.goOnline() }
                case 1: phone.cutConnections()
                case 2:
                    _ = try? await desk.deleteRecord(withID: CKRecord.ID(recordName: name))
                    expected[name] = nil
                default:
                    let topic = random.oneIn(3) ? "land" : "sea"
                    try await Self.save(Self.headline(name, topic, "\(step)"), in: desk)
                    expected[name] = topic == "sea" ? "\(step)" : nil
                }
                if random.oneIn(2) { try await cloud.settle() }
            }
            phone.goOnline()
            let wanted = expected
            try await cloud.run { await headlines.titles == wanted }
        }
    }
}
