// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

/// The tests of the article "Testing your sync code", run against a server of ours.
@Suite struct NotesAppTests {
    private func withDatabase(_ body: (CKDatabase, URL) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try await body(
            try await DevServer.shared().makeContainer().privateCloudDatabase, URL(fileURLWithPath: directory.path))
    }

    @Test func `R-501: an edit reaches the other device, also after a restart`() async throws {
        try await withDatabase { database, directory in
            let laptop = try Notes(file: directory.appendingPathComponent("laptop.json"))
            let phone = try Notes(file: directory.appendingPathComponent("phone.json"))
            await laptop.start(in: database, automatically: false)
            await phone.start(in: database, automatically: false)
            try await laptop.sync()

            try await laptop.write("milk", to: "shopping")
            try await laptop.sync()
            try await phone.sync()
            #expect(await phone.library.notes["shopping"]?.text == "milk")

            let restarted = try Notes(file: directory.appendingPathComponent("phone.json"))
            await restarted.start(in: database, automatically: false)
            try await restarted.write("milk, bread", to: "shopping")
            try await restarted.sync()
            try await laptop.sync()
            #expect(await laptop.library.notes["shopping"]?.text == "milk, bread")
        }
    }

    @Test func `R-518: two edits of one note meet, and both devices end equal`() async throws {
        try await withDatabase { database, directory in
            let laptop = try Notes(file: directory.appendingPathComponent("laptop.json"))
            let phone = try Notes(file: directory.appendingPathComponent("phone.json"))
            for device in [laptop, phone] {
                await device.start(in: database, automatically: false)
                try await device.sync()
            }

            try await laptop.write("from the laptop", to: "shopping")
            try await phone.write("from the phone", to: "shopping")
            for device in [laptop, phone, phone, laptop] { try await device.sync() }
            let texts = await [laptop.library.notes["shopping"]?.text, phone.library.notes["shopping"]?.text]
            #expect(texts == ["from the phone", "from the phone"])
        }
    }
}

extension NotesAppTests {
    /// The blocks of "Conflicts" and "Moving an app from CloudKit" that are no part of the app.
    @Test func `R-094: the policies of a merge, as the article shows them`() throws {
        func note(_ text: String, tags: [String], editedAt: Date) -> CKRecord {
            let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
            record["text"] = text
            record["tags"] = tags
            record["editedAt"] = editedAt
            return record
        }
        let ancestor = note("a", tags: ["x"], editedAt: Date(timeIntervalSince1970: 0))
        let server = note("theirs", tags: ["x", "y"], editedAt: Date(timeIntervalSince1970: 1))
        let client = note("ours", tags: ["x", "z"], editedAt: Date(timeIntervalSince1970: 2))

        let rules = TidemarkMerge(
            .newest(by: "editedAt"),
            fields: [
                "tags": .listElements,
                "text": .custom { conflict in
                    let (theirs, ours) = (conflict.server as? String, conflict.client as? String)
                    return [theirs, ours].compactMap { $0 }.joined(separator: "\n")
                },
            ])
        let merged = rules.merge(ancestor: ancestor, server: server, client: client)

        #expect(merged["text"] as? String == "theirs\nours" && merged["tags"] as? [String] == ["x", "y", "z"])
        #expect(merged["editedAt"] as? Date == Date(timeIntervalSince1970: 2))
    }

    /// Compiled only: a program has one configuration.
    func configure(_ url: URL, _ token: String) {
        var configuration = TidemarkConfiguration.current
        configuration.url = url
        configuration.token = token
        CKContainer.configure(configuration, for: "iCloud.org.example.notes")
    }

    func accounts(_ container: CKContainer, _ token: String) async throws -> CKAccountStatus {
        container.signIn(token: token)
        let status = try await container.accountStatus()
        container.signOut()
        return status
    }

    func journal(
        _ database: CKDatabase, _ state: CKSyncEngine.State.Serialization?, _ notes: Notes, _ directory: URL
    ) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(database: database, stateSerialization: state, delegate: notes)
        configuration.journalFile = directory.appendingPathComponent("pending.journal")
        return CKSyncEngine(configuration)
    }
}
