// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkAdmin
import TidemarkBytes
import TidemarkDomain
import TidemarkKit
import TidemarkPostgres
import TidemarkServer
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport

/// The store on which the golden test runs each command: some of all that there is, made by commands, by apps over a
/// server, and by what servers note of devices.
///
/// alice shares a zone with bob, and has three devices. carol is disabled, and was never in the container. olga and vera
/// are operators.
struct GoldenStore {
    static let container = "iCloud.org.example.notes"
    /// The number of alice's zone Notes.
    static let notesZone = 1_000
    /// One of alice's devices.
    static let phone = "0000000000000001000000000000000a"
    /// olga's, who is an owner.
    static let operatorCredential = Credential.make()
    static let masterKey = String(repeating: "5d", count: 32)

    static let template = TestTemplate(name: "golden") { url in
        let directory = try TestDirectory()
        defer { directory.remove() }
        try await GoldenStore(url: url, directory: directory).fill()
    }

    private static let credentials = (alice: Credential.make(), bob: Credential.make(), carol: Credential.make())
    private static let notes = CKRecordZone.ID(zoneName: "Notes")
    private static let hour: Int64 = 3_600_000

    private let url: String
    private let directory: TestDirectory
    private let now = Int64(Date().timeIntervalSince1970 * 1_000)

    private func fill() async throws {
        let loop = try EventLoop(name: "migrate")
        defer { loop.stop() }
        _ = try await Migrator(url: url, loop: loop).migrate()
        try await makeAccounts()
        try await makeSchema()
        try await useApps()
        try makeOld()
        let storage = try PostgresStorage(url: url, loop: loop, connections: 1, queryTimes: .patient)
        do {
            try await noteDevices(storage)
        } catch {
            await storage.stop()
            throw error
        }
        await storage.stop()
        try await run("indexes build")
        // The audit has what follows, and nothing of who made the store.
        try PostgresAdministration.execute(Self.auditedActions, url: url)
    }

    /// Runs a line that must succeed.
    private func run(_ line: String) async throws {
        let run = GoldenRun(
            directory: directory, variables: ["TIDEMARK_DATABASE_URL": url, "TIDEMARK_CONTAINER": Self.container])
        let block = try await run.block(of: line, title: line)
        guard block.status == 0 else { throw NeverHappened(description: block.text) }
    }

    // MARK: By commands

    private func makeAccounts() async throws {
        for line in [
            "accounts create alice", "accounts set-name alice --given Alice --family Liddell", "accounts create bob",
            "accounts create carol", "accounts set-quota carol --megabytes 5", "accounts disable carol",
            "addresses create bob bob@example.org", "addresses create bob +3545550100",
            "containers create \(Self.container)", "containers create \(Self.container) --environment production",
            "containers set-quota \(Self.container) --private-megabytes 50", "operators create olga --role owner",
            "operators create vera",
        ] { try await run(line) }
        let of = Self.credentials
        try PostgresAdministration.execute(
            [
                Self.insert(of.alice, of: "alice", "credential", label: "phone"),
                Self.insert(of.bob, of: "bob", "credential", label: "", "NULL"),
                Self.insert(of.carol, of: "carol", "credential", label: "old"),
                Self.insert(Self.operatorCredential, of: "olga", "operator_credential", label: "desk"),
                Self.insert(Credential.make(), of: "vera", "operator_credential", label: "", "NULL"),
            ], url: url)
    }

    /// - Parameter end: in SQL.
    private static func insert(
        _ credential: Credential, of name: String, _ table: String, label: String,
        _ end: String = "'2100-01-01 00:00:00+00'"
    ) -> String {
        let owner = table == "credential" ? "account" : "operator"
        return """
            INSERT INTO \(table) (\(owner)_id, hash, label, expires_at)
            SELECT id, '\\x\(Hex.encode(credential.hash))', '\(label)', \(end) FROM \(owner) WHERE name = '\(name)'
            """
    }

    private func makeSchema() async throws {
        for (name, text) in [
            ("schema.ckdb", GoldenFiles.schema), ("airports.csv", GoldenFiles.airports),
            ("airports.map", GoldenFiles.mapping),
        ] { try text.write(toFile: "\(directory.path)/\(name)", atomically: true, encoding: .utf8) }
        try await run("schema import @schema.ckdb")
        try await run("import public @airports.csv --mapping @airports.map --account alice")
        try await run("roles assign alice Editor")
    }

    // MARK: By apps

    private func useApps() async throws {
        let key = "\(directory.path)/master.key"
        try GoldenFiles.write(masterKey: Self.masterKey, to: key)
        let (server, port) = try await OperatorPlace.serve(
            ["--plain", "--master-key-file", key, "--connections", "1000"], on: url, in: directory)
        let (alice, bob) = (app(Self.credentials.alice, port), app(Self.credentials.bob, port))
        // They become users of the container before zones get their numbers.
        for app in [alice, bob] { _ = try await app.userRecordID() }
        try await makeZones(alice.privateCloudDatabase)
        try await share(alice, with: bob)
        try await alice.privateCloudDatabase.save(CKDatabaseSubscription(subscriptionID: "all"))
        try await alice.privateCloudDatabase.save(
            CKRecordZoneSubscription(zoneID: Self.notes, subscriptionID: "notes"))
        try await bob.sharedCloudDatabase.save(CKDatabaseSubscription(subscriptionID: "shared"))
        guard try await server.stop() == 0 else { throw NeverHappened(description: server.output) }
    }

    private func app(_ credential: Credential, _ port: Int) -> CKContainer {
        let configuration = TidemarkConfiguration(
            url: URL(string: "ws://127.0.0.1:\(port)"), token: credential.text, certificateAuthorityFile: nil,
            defaultContainerIdentifier: Self.container)
        return CKContainer(context: CloudContext(containerIdentifier: Self.container, configuration: configuration))
    }

    private func makeZones(_ database: CKDatabase) async throws {
        // Known to lines of commands.
        try PostgresAdministration.execute(
            ["ALTER TABLE zone ALTER COLUMN id RESTART WITH \(Self.notesZone)"], url: url)
        for name in ["Notes", "Drafts", "Recipes", "Journal"] {
            try await database.save(CKRecordZone(zoneID: CKRecordZone.ID(zoneName: name)))
        }
        for (name, text, pinned) in [("shopping", "milk", 1), ("trip", "Iceland", 0), ("old", "gone", 0)] {
            let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: Self.notes))
            note["text"] = text
            note["pinned"] = pinned
            try await database.save(note)
        }
        try await database.deleteRecord(withID: CKRecord.ID(recordName: "old", zoneID: Self.notes))
        let draft = CKRecord(
            recordType: "Note",
            recordID: CKRecord.ID(recordName: "draft", zoneID: CKRecordZone.ID(zoneName: "Drafts")))
        draft["text"] = "Dear \u{1F427},"
        try await database.save(draft)
    }

    private func share(_ alice: CKContainer, with bob: CKContainer) async throws {
        let share = CKShare(recordZoneID: Self.notes)
        share.addParticipant(try await alice.shareParticipant(forEmailAddress: "bob@example.org"))
        let saved = try await alice.privateCloudDatabase.save(share) as? CKShare
        guard let url = saved?.url else { throw NeverHappened(description: "the share has no link") }
        _ = try await bob.accept(try await bob.shareMetadata(for: url))
    }

    // MARK: What servers note

    /// A day passes, so that ages are the same words for hours. No time is a whole second, because that has another form.
    /// Devices of these apps were other ones in each run.
    private func makeOld() throws {
        let old = ["created_at", "modified_at"].map { column in
            "\(column) = date_trunc('second', \(column)) - interval '25 hours' + interval '42 milliseconds'"
        }
        try PostgresAdministration.execute(
            [
                "UPDATE record SET \(old.joined(separator: ", "))",
                "DELETE FROM device", "DELETE FROM request_memory", "DELETE FROM client_token",
                "TRUNCATE audit RESTART IDENTITY",
            ], url: url)
    }

    private func ago(days: Int64) -> Timestamp { Timestamp(milliseconds: now - (days * 24 + 1) * Self.hour) }

    private func noteDevices(_ storage: PostgresStorage) async throws {
        let store = AdminStore(storage)
        let key = ContainerKey(identifier: Self.container, environment: .development)
        guard let alice = try await store.account(named: "alice"),
            let user = try await store.user(ofAccount: "alice", in: key, now: Timestamp(milliseconds: now)),
            let zone = try await store.livingZone(ZoneKey(database: user.privateDatabase, name: "Notes")),
            zone.id.rawValue == Self.notesZone
        else { throw NeverHappened(description: "alice has no zone \(Self.notesZone)") }
        let names = ["phone", "laptop", "tablet"]
        let devices = names.indices.map { index in
            AccountDevice(account: alice, device: DeviceID(high: 1, low: UInt64(10 + index)))
        }
        for (index, device) in devices.enumerated() {
            try await storage.noteDevice(
                device.device, of: alice, name: names[index], from: "192.0.2.\(7 + index)", atMost: 9,
                now: ago(days: 5 - Int64(index)))
        }
        let feed = FeedName.zone(zone.id, zone.key)
        var phone = DeviceProgress()
        phone.link = DeviceLink(
            server: "server-1/17", since: ago(days: 5), endedAt: ago(days: 4), credential: CredentialID(1))
        phone.told(feed, asked: nil, to: 2, at: ago(days: 4))
        phone.answered(summary(1, "fetch_zone_changes", at: ago(days: 4), code: 0))
        phone.pending = PendingReport(
            saves: 2, deletes: 1, databaseChanges: 0, wait: .app, lastError: 0, at: ago(days: 4))
        var laptop = DeviceProgress()
        laptop.link = DeviceLink(server: "server-2/18", since: ago(days: 4), credential: CredentialID(1))
        laptop.told(feed, asked: 2, to: zone.changeNumber, at: ago(days: 1))
        laptop.answered(summary(2, "modify_records", at: ago(days: 1), code: 0))
        laptop.pushed(at: ago(days: 1))
        laptop.heardPushes(at: ago(days: 1))
        // Nothing is known of the tablet.
        _ = try await storage.keepProgress([devices[0]: phone], over: [:], now: ago(days: 4))
        _ = try await storage.keepProgress([devices[1]: laptop], over: [:], now: ago(days: 1))
    }

    private func summary(_ number: UInt64, _ kind: String, at time: Timestamp, code: Int16) -> RequestSummary {
        RequestSummary(
            mark: RequestBits(high: 0x8000, low: number), kind: kind, at: time, microseconds: 1_500, code: code)
    }

    /// Actions after the sign-ins of the devices.
    private static let auditedActions = [
        "DELETE FROM audit WHERE device_id IS NULL",
        """
        INSERT INTO audit (at, result, who, address, action, target, detail)
        VALUES (now(), 1, 'olga', '192.0.2.1', 'accounts create', 'alice', ''),
               (now(), 2, 'vera', '192.0.2.2', 'zones purge', 'alice Notes', 'vera is viewer, and this needs owner'),
               (now(), 0, 'root', '', 'compact', '', '')
        """,
    ]
}
