// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

/// Accounts that change while apps run, on a real server.
@Suite struct AccountTests {
    private let notes = CKRecordZone.ID(zoneName: "Notes")

    private func accountEvents(_ device: Device) -> [String] {
        device.events.compactMap { event in
            guard case .accountChange(let change) = event else { return nil }
            return change.changeType.description
        }
    }

    /// A container that starts with nobody signed in.
    private func makeContainer(_ site: Site) -> CKContainer { site.makeContainer(token: "") }

    @Test(arguments: [true, false])
    func `R-560, R-561, R-563: sign in, switch and sign out at run time; each account has its own data`(
        automatically: Bool
    ) async throws {
        let site = try await DevServer.shared()
        let (alice, bob) = (try #require(site.tokens["alice"]), try #require(site.tokens["bob"]))
        let other = Device(site.makeContainer("alice"))
        other.makeZone(notes)
        other.write("of alice", to: "n1", in: notes)
        try await eventually("alice has it") { other.engine?.state.pendingRecordZoneChanges.isEmpty == true }

        let container = makeContainer(site)
        let device = Device(container, automatically: automatically)
        container.signIn(token: alice)
        if !automatically { try await device.engine?.fetchChanges() }
        try await eventually("alice's data is here") { device.texts == ["n1": "of alice"] }
        #expect(accountEvents(device) == ["signIn"])
        let aliceID = try await container.userRecordID()

        container.signIn(token: bob)
        try await eventually("the switch is told") { accountEvents(device) == ["signIn", "switchAccounts"] }
        let bobID = try await container.userRecordID()
        #expect(aliceID != bobID)
        let change = device.events.compactMap { event -> CKSyncEngine.Event.AccountChange.ChangeType? in
            if case .accountChange(let change) = event { change.changeType } else { nil }
        }.last
        #expect(change == .switchAccounts(previousUser: aliceID, currentUser: bobID))
        device.makeZone(notes)
        device.write("of bob", to: "n1", in: notes)
        if !automatically { try await device.engine?.sendChanges() }
        let second = Device(site.makeContainer("bob"))
        try await eventually("bob's other device has it") { second.texts == ["n1": "of bob"] }
        #expect(other.texts == ["n1": "of alice"], "alice never sees it")

        container.signOut()
        try await eventually("signing out is told") {
            accountEvents(device) == ["signIn", "switchAccounts", "signOut"]
        }
        #expect(try await container.accountStatus() == .noAccount)
        let error = try await failure { try await device.engine?.fetchChanges() }
        #expect(error.code == .notAuthenticated)
        // queued while nobody is signed in, for whoever signs in.
        device.write("for whoever comes", to: "n2", in: notes)
        container.signIn(token: bob)
        if !automatically { try await device.engine?.sendChanges() }
        try await eventually("bob has it") { second.texts["n2"] == "for whoever comes" }
        #expect(accountEvents(device) == ["signIn", "switchAccounts", "signOut", "signIn"])
    }

    @Test func `R-350, R-351: the status follows, and CKAccountChanged says when to ask`() async throws {
        let site = try await DevServer.shared()
        let container = makeContainer(site)
        let posted = Mutex(0)
        let observer = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged, object: nil, queue: nil
        ) { note in
            guard note.userInfo?["containerIdentifier"] as? String == container.containerIdentifier else { return }
            posted.withLock { $0 += 1 }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        #expect(try await container.accountStatus() == .couldNotDetermine)
        container.signIn(token: try #require(site.tokens["alice"]))
        #expect(posted.withLock { $0 } == 1)
        #expect(try await container.accountStatus() == .available)
        container.signIn(token: "tm_this_is_no_credential")
        #expect(posted.withLock { $0 } == 2)
        #expect(try await container.accountStatus() == .temporarilyUnavailable)
        try await eventually("the refusal is told") { posted.withLock { $0 } == 3 }
        container.signOut()
        #expect(try await container.accountStatus() == .noAccount)
        #expect(posted.withLock { $0 } == 4)
    }

    @Test func `R-561: an app that starts with another account than last time hears of the switch`() async throws {
        let site = try await DevServer.shared()
        let container = makeContainer(site)
        container.signIn(token: try #require(site.tokens["alice"]))
        let device = Device(container, automatically: false)
        try await device.engine?.fetchChanges()
        device.quit()
        container.signIn(token: try #require(site.tokens["bob"]))
        device.start()
        try await device.engine?.fetchChanges()
        #expect(accountEvents(device) == ["signIn", "switchAccounts"])
    }

    @Test func `R-354: who signed in is signed in at the next start, until somebody signs out`() async throws {
        let site = try await DevServer.shared()
        let container = makeContainer(site)
        container.signIn(token: try #require(site.tokens["alice"]))
        let alice = try await container.userRecordID()
        #expect(try await makeContainer(site).userRecordID() == alice, "nobody was configured")
        #expect(try await site.makeContainer("bob").userRecordID() != alice, "what is configured comes first")

        container.signIn(token: try #require(site.tokens["bob"]))
        #expect(try await makeContainer(site).userRecordID() == site.makeContainer("bob").userRecordID())
        container.signOut()
        #expect(try await makeContainer(site).accountStatus() == .noAccount)
    }

    @Test func `R-159: accounts that change in an app's callbacks leave nothing of one in the other's database`()
        async throws
    {
        let site = try await DevServer.shared()
        let (alice, bob) = (try #require(site.tokens["alice"]), try #require(site.tokens["bob"]))
        let aliceDatabase = site.makeContainer("alice").privateCloudDatabase
        let bobDatabase = site.makeContainer("bob").privateCloudDatabase
        // Both have the zone: what is sent to the wrong one would be saved.
        for database in [aliceDatabase, bobDatabase] { try await database.save(CKRecordZone(zoneID: notes)) }
        let container = makeContainer(site)
        let app = SwitchingApp(container, switchingTo: bob)
        var written: Set<String> = []
        for (round, place) in (SwitchingApp.Place.allCases + SwitchingApp.Place.allCases).enumerated() {
            container.signIn(token: alice)
            try await eventually("alice is signed in") { app.accountEventCount == 2 * round + 1 }
            let names = (0..<12).map { "alice \(round) \($0)" }
            written.formUnion(names)
            app.write(names, in: notes, andSwitchAt: place)
            if place == .willFetch {
                // A fetch that is under way already is not announced again. Then another one follows.
                let id = CKRecord.ID(recordName: "other \(round)", zoneID: notes)
                try await aliceDatabase.save(CKRecord(recordType: "Note", recordID: id))
            }
            try await eventually("bob is signed in, at \(place)") { app.accountEventCount == 2 * round + 2 }
        }
        #expect(try await names(in: bobDatabase) == [])
        let kept = try await names(in: aliceDatabase).union(app.unsent)
        #expect(written.subtracting(kept) == [], "what alice wrote is hers, or the app was told that it was not sent")
        app.quit()
    }

    private func names(in database: CKDatabase) async throws -> Set<String> {
        var names: Set<String> = []
        var token: CKServerChangeToken?
        while true {
            let page = try await database.recordZoneChanges(inZoneWith: notes, since: token)
            names.formUnion(page.modificationResultsByID.keys.map(\.recordName))
            token = page.changeToken
            guard page.moreComing else { return names }
        }
    }
}

/// An app on whose device somebody else signs in while it is told or asked something.
private final class SwitchingApp: CKSyncEngineDelegate, Sendable {
    /// Where that happens.
    enum Place: CaseIterable {
        case willFetch, willSend, asked, hasBatch, sent
    }

    private struct State {
        var engine: CKSyncEngine?
        /// Nil: the next one to sign in has done so.
        var place: Place?
        var accountEventCount = 0
        var unsent: Set<String> = []
    }

    private let container: CKContainer
    private let otherToken: String
    private let state = Mutex(State())

    init(_ container: CKContainer, switchingTo otherToken: String) {
        self.container = container
        self.otherToken = otherToken
        let engine = CKSyncEngine(
            CKSyncEngine.Configuration(
                database: container.privateCloudDatabase, stateSerialization: nil, delegate: self))
        state.withLock { $0.engine = engine }
    }

    var accountEventCount: Int { state.withLock { $0.accountEventCount } }
    /// What the app was told to be unsent when an account went.
    var unsent: Set<String> { state.withLock { $0.unsent } }

    func write(_ names: [String], in zoneID: CKRecordZone.ID, andSwitchAt place: Place) {
        let engine = state.withLock { state in
            state.place = place
            return state.engine
        }
        let ids = names.map { CKRecord.ID(recordName: $0, zoneID: zoneID) }
        engine?.state.add(pendingRecordZoneChanges: ids.map { .saveRecord($0) })
        guard place == .willFetch else { return }
        Task { try? await engine?.fetchChanges() }
    }

    func quit() {
        let engine = state.withLock { state in
            defer { state.engine = nil }
            return state.engine
        }
        withExtendedLifetime(engine) {}
    }

    private func reached(_ place: Place) async {
        let isTime = state.withLock { state in
            guard state.place == place else { return false }
            state.place = nil
            return true
        }
        guard isTime else { return }
        container.signIn(token: otherToken)
        // Meanwhile the engine's connection is opened for the other one, too.
        _ = try? await container.userRecordID()
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        await reached(.asked)
        // A few at a time, so that something is left after each batch.
        let changes = Array(syncEngine.state.pendingRecordZoneChanges.prefix(5))
        let batch = await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
            CKRecord(recordType: "Note", recordID: id)
        }
        await reached(.hasBatch)
        return batch
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .willFetchChanges: await reached(.willFetch)
        case .willSendChanges: await reached(.willSend)
        case .sentRecordZoneChanges: await reached(.sent)
        case .accountChange(let change):
            let unsent = change.unsentRecordZoneChanges.map(\.recordID.recordName)
            state.withLock { state in
                state.accountEventCount += 1
                state.unsent.formUnion(unsent)
            }
        default: break
        }
    }
}
