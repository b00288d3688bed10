// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

/// Somebody knows CloudKit, has the README and the articles, and makes every mistake that there is: one story, with the article's
/// own app and a real server. All of it ends well, and what they read says what to do.
@Suite struct NewcomerTests {
    private let directory: TestDirectory

    init() throws { directory = try TestDirectory() }

    private func start(_ name: String, in container: CKContainer) async throws -> Notes {
        let notes = try Notes(file: URL(fileURLWithPath: directory.path).appendingPathComponent("\(name).json"))
        await notes.start(in: container.privateCloudDatabase)
        return notes
    }

    /// - Parameter text: of an edit that is made before the engine can have told of anything.
    private func start(
        _ name: String, in container: CKContainer, writing text: String, to note: String
    ) async throws -> Notes {
        let notes = try Notes(file: URL(fileURLWithPath: directory.path).appendingPathComponent("\(name).json"))
        try await notes.start(in: container.privateCloudDatabase, writing: text, to: note)
        return notes
    }

    /// The app ends.
    private func end(_ app: inout Notes?) async {
        await app?.engine?.cancelOperations()
        app = nil
    }

    /// As a program finds its server that is told of it by these variables, and by nothing else.
    private func makeContainer(_ variables: [String: String]) -> CKContainer {
        var configuration = TidemarkConfiguration(environmentVariables: variables)
        configuration.credentialFile = URL(fileURLWithPath: "\(directory.path)/credentials.json")
        return CKContainer(
            context: CloudContext(
                containerIdentifier: configuration.defaultContainerIdentifier, configuration: configuration))
    }

    /// With the server's warnings, as the log has them.
    private func makeContainer(_ site: Site, named name: String, _ warnings: Said) -> CKContainer {
        CKContainer(
            context: CloudContext(
                containerIdentifier: name, token: site.tokens["alice"] ?? "",
                transport: SocketTransport(configuration: site.configuration()),
                scheduler: NetworkThread.scheduler,
                writeWarning: { text, _ in warnings.say(text) }))
    }

    private func texts(_ app: Notes) async -> [String: String] { await app.library.notes.mapValues(\.text) }

    private func wait(_ what: String, _ app: Notes, has expected: [String: String]) async throws {
        do {
            try await eventually(what) { await texts(app) == expected }
        } catch {
            throw NeverHappened(description: "\(error)\n\(await texts(app))\n\(await app.problems)")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `R-014, R-184, R-350, R-373, R-563, R-643: a newcomer's first day`() async throws {
        defer { directory.remove() }
        let site = try await DevServer.shared()
        let laptop = try await start("laptop", in: site.makeContainer())
        let container = site.makeContainer()
        var phone: Notes? = try await start("phone", in: container)
        func onPhone() throws -> Notes { try #require(phone) }

        // It works in three minutes.
        try await onPhone().write("milk", to: "shopping")
        try await wait("the laptop has it", laptop, has: ["shopping": "milk"])

        // They sign out, go on writing, and sign in again.
        container.signOut()
        try await wait("the phone is empty", onPhone(), has: [:])
        try await onPhone().write("milk, bread", to: "shopping")
        container.signIn(token: try #require(site.tokens["alice"]))
        try await wait("the edit is sent", laptop, has: ["shopping": "milk, bread"])
        try await laptop.write("tent", to: "trip")
        var all = ["shopping": "milk, bread", "trip": "tent"]
        try await wait("all is back", onPhone(), has: all)
        try await eventually("nothing is left to send") { try await onPhone().library.replica.unsentIDs.isEmpty }

        // They start the app without its token. That is no sign-out: nothing is deleted, and what they write waits.
        await end(&phone)
        var variables = site.environment()
        variables["TIDEMARK_TOKEN"] = nil
        let forgotten = makeContainer(variables)
        phone = try await start("phone", in: forgotten)
        try await onPhone().write("milk, bread, jam", to: "shopping")
        #expect(try await forgotten.accountStatus() == .couldNotDetermine)
        for error in [
            try await failure { try await forgotten.privateCloudDatabase.allRecordZones() },
            try await failure { try await onPhone().engine?.sendChanges() },
        ] {
            let text = error.localizedDescription
            #expect(text.contains("TIDEMARK_TOKEN is not set"), "\(text)")
            #expect(text.hasSuffix("Set TIDEMARK_TOKEN, or call CKContainer.signIn(token:)."), "\(text)")
        }
        all["shopping"] = "milk, bread, jam"
        #expect(await texts(try onPhone()) == all)
        await end(&phone)
        phone = try await start("phone", in: makeContainer(site.environment()))
        try await wait("what was written without a token is sent", laptop, has: all)

        // They mistype the container. The server makes it, and says so loudly; the list is safe.
        await end(&phone)
        let warnings = Said()
        let mistyped = site.container + "x"
        // What is written at once is from before the app knows that it is somewhere else.
        phone = try await start(
            "phone", in: makeContainer(site, named: mistyped, warnings), writing: "gloves", to: "winter")
        try await eventually("the warning is read") { !warnings.all.isEmpty }
        #expect(
            warnings.all == [
                "The container \(mistyped) is new: this server has just created it, because it was named. "
                    + "Did you mean \(site.container)?"
            ])
        try await wait("the other place is empty", onPhone(), has: [:])
        let elsewhere = makeContainer(site, named: mistyped, Said()).privateCloudDatabase
        #expect(try await !elsewhere.allRecordZones().contains { $0.zoneID.zoneName == "Notes" })
        await end(&phone)
        phone = try await start("phone", in: site.makeContainer())
        all["winter"] = "gloves"
        for app in [try onPhone(), laptop] { try await wait("nothing was lost by it", app, has: all) }

        // They start as bob, and write before the app has heard who that is: it was meant for alice's list.
        await end(&phone)
        let bobs = site.makeContainer("bob")
        phone = try await start("phone", in: bobs, writing: "map", to: "trip")
        try await wait("bob has nothing", onPhone(), has: [:])
        #expect(try await !bobs.privateCloudDatabase.allRecordZones().contains { $0.zoneID.zoneName == "Notes" })
        await end(&phone)
        phone = try await start("phone", in: site.makeContainer())
        all["trip"] = "map"
        for app in [try onPhone(), laptop] { try await wait("the edit is alice's", app, has: all) }

        try await readErrors(site)
    }

    private func error(_ site: Site, _ variables: [String: String]) async throws -> CKError {
        let container = makeContainer(site.environment().merging(variables) { $1 })
        return try await failure { try await container.privateCloudDatabase.allRecordZones() }
    }

    /// What they read when they mistype the rest.
    private func readErrors(_ site: Site) async throws {
        var error = try await self.error(site, ["TIDEMARK_URL": "wss://127.0.0.1:1"])
        #expect(
            error.localizedDescription.hasPrefix(
                "The server wss://127.0.0.1:1 cannot be reached: nothing listens on that port (ECONNREFUSED)."))
        // Whatever prints an error shows its name and its text.
        #expect(
            "\(error)".contains("networkUnavailable") && "\(error)".contains(error.localizedDescription), "\(error)")
        #expect(!"\(error)".contains("(null)"))
        error = try await self.error(site, ["TIDEMARK_URL": "wss://no-such-host.invalid:1"])
        #expect(error.localizedDescription.hasPrefix("The server wss://no-such-host.invalid:1 cannot be reached: no"))
        error = try await self.error(site, ["TIDEMARK_URL": "ws://127.0.0.1:\(site.port)"])
        #expect(error.localizedDescription.hasSuffix("If that port speaks TLS, the URL begins with wss://."))
        error = try await self.error(site, ["TIDEMARK_CA": "\(directory.path)/none.pem"])
        #expect(
            error.localizedDescription.hasPrefix(
                "The certificate authority file \(directory.path)/none.pem (TIDEMARK_CA, or ca in tidemark.json) cannot be "
                    + "used: there is no such file."))

        let database = site.makeContainer().privateCloudDatabase
        let zoneID = CKRecordZone.ID(zoneName: "Notes")
        let diary = CKRecord(recordType: "Diary", recordID: CKRecord.ID(recordName: "d", zoneID: zoneID))
        diary["title"] = "Monday"
        diary.encryptedValues["text"] = "rain"
        try await database.save(diary)
        for (format, text) in [
            ("titel == 'Monday'", "Unknown field 'titel'. Did you mean 'title'?"),
            ("text == 'rain'", "Field 'text' is encrypted: it cannot be queried, sorted or marked."),
        ] {
            let query = CKQuery(recordType: "Diary", predicate: NSPredicate(format: format))
            let error = try await failure { try await database.records(matching: query, inZoneWith: zoneID) }
            #expect(error.localizedDescription.hasPrefix(text), "\(error)")
        }
    }
}

extension Notes {
    /// In one step: no event comes between.
    fileprivate func start(in database: CKDatabase, writing text: String, to name: String) throws {
        start(in: database)
        try write(text, to: name)
    }
}
