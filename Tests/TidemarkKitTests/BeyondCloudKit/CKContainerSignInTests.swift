// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkScheduling
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Signing in, out and over at run time, with real connections to a server in memory.
@Suite struct CKContainerSignInTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let delegate = RecordingDelegate()

    init() {
        server = ScriptedServer(scheduler)
    }

    private func makeContainer(
        _ token: String = "", absence: AccountAbsence = .notConfigured("TIDEMARK_TOKEN is not set.")
    ) -> CKContainer {
        CKContainer(
            context: CloudContext(
                containerIdentifier: "iCloud.test.\(UUID().uuidString)", token: token, absence: absence,
                transport: server,
                scheduler: scheduler, engineScheduler: scheduler))
    }

    private func makeEngine(
        _ container: CKContainer, automatic: Bool = false, state: CKSyncEngine.State.Serialization? = nil
    ) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: container.privateCloudDatabase, stateSerialization: state, delegate: delegate)
        configuration.automaticallySync = automatic
        return CKSyncEngine(configuration)
    }

    private func events() -> [String] {
        scheduler.advance(by: .seconds(3))
        defer { delegate.log = [] }
        return delegate.log
    }

    @Test(arguments: [false, true])
    func `R-354, R-560, R-561: engines tell of signing in, of a switch, and of signing out`(automatic: Bool) {
        let container = makeContainer()
        let engine = makeEngine(container, automatic: automatic)
        func accountEvents() -> [String] { events().filter { $0.hasPrefix("account") || $0 == "stateUpdate" } }
        #expect(accountEvents() == [])
        container.signIn(token: "alice")
        #expect(accountEvents().prefix(2) == ["accountChange signIn _alice", "stateUpdate"])
        container.signIn(token: "bob")
        #expect(accountEvents().prefix(2) == ["accountChange switch _alice _bob", "stateUpdate"])
        container.signIn(token: "bob")
        #expect(accountEvents() == [])
        container.signOut()
        #expect(accountEvents().prefix(2) == ["accountChange signOut _bob", "stateUpdate"])
        #expect(server.openCount == 0, "signing out stops the socket")
        container.signIn(token: "alice")
        #expect(accountEvents().prefix(2) == ["accountChange signIn _alice", "stateUpdate"])
        withExtendedLifetime(engine) {}
    }

    @Test func `R-561: two switches before the engine could ask are one`() {
        let container = makeContainer("alice")
        let engine = makeEngine(container)
        #expect(events().first == "accountChange signIn _alice")
        container.signOut()
        container.signIn(token: "bob")
        #expect(events() == ["accountChange switch _alice _bob", "stateUpdate"])
        container.signOut()
        container.signIn(token: "bob")
        #expect(events() == [])
        withExtendedLifetime(engine) {}
    }

    @Test func `R-563, R-566: what was pending for one account is never sent to another`() throws {
        let container = makeContainer("alice")
        let engine = makeEngine(container)
        _ = events()
        delegate.save("A/1", in: engine)
        // The answer never comes; then somebody else signs in.
        server.hold { $0.request.isModifyRecords }
        let outcome = Mutex<(any Error)?>(nil)
        scheduler.run {
            do { try await engine.sendChanges() } catch { outcome.withLock { $0 = error } }
        }
        scheduler.advance(by: .seconds(1))
        delegate.log = []
        container.signIn(token: "bob")
        #expect(
            events() == [
                "sent !+A/1:operationCancelled", "stateUpdate", "didSend", "accountChange switch _alice _bob",
                "stateUpdate",
            ])
        #expect((outcome.withLock { $0 } as? CKError)?.code == .operationCancelled)
        #expect(engine.state.pendingRecordZoneChanges == [])
        #expect(server.log.filter { $0.hasSuffix("modifyRecords") } == ["alice modifyRecords"])
    }

    @Test func `R-563: a batch that the delegate makes while the account changes is not sent either`() throws {
        let container = makeContainer("alice")
        let engine = makeEngine(container)
        _ = events()
        delegate.save("A/1", in: engine)
        delegate.onAsk = { _ in container.signIn(token: "bob") }
        #expect(throws: CKError.self) { try scheduler.complete { try await engine.sendChanges() } }
        _ = events()
        #expect(!server.log.contains { $0.hasSuffix("modifyRecords") })
        #expect(engine.state.pendingRecordZoneChanges == [])
    }

    @Test func `R-354: a call that goes on after a switch fails`() throws {
        let container = makeContainer("alice")
        let database = try container.privateCloudDatabase.cloud
        #expect(try scheduler.complete { try await database.identify() } == "_alice")
        container.signIn(token: "bob")
        let error = #expect(throws: CKError.self) { try scheduler.complete { try await database.identify() } }
        #expect(error?.code == .notAuthenticated)
        let fresh = try container.privateCloudDatabase.cloud
        #expect(try scheduler.complete { try await fresh.identify() } == "_bob")
        #expect(fresh.keys !== database.keys, "no keys of another account")
    }

    @Test func `R-350, R-353: status and user follow`() throws {
        let container = makeContainer()
        func status() throws -> CKAccountStatus { try scheduler.complete { try await container.accountStatus() } }
        #expect(try status() == .couldNotDetermine, "nobody has signed out")
        container.signOut()
        #expect(try status() == .noAccount)
        container.signIn(token: "alice")
        #expect(try status() == .available)
        #expect(try scheduler.complete { try await container.userRecordID() }.recordName == "_alice")
        server.refuse("alice")
        scheduler.advance(by: .seconds(1))
        #expect(try status() == .temporarilyUnavailable)
        container.signOut()
        #expect(try status() == .noAccount)
        let error = #expect(throws: CKError.self) {
            try scheduler.complete { try await container.userRecordID() }
        }
        #expect(error?.code == .notAuthenticated)
    }

    @Test func `R-354, R-567: an expired credential is no account change; a fresh one goes on with what is pending`()
        throws
    {
        let container = makeContainer("alice")
        let engine = makeEngine(container, automatic: true)
        _ = events()
        server.refuse("alice")
        scheduler.advance(by: .seconds(5))
        delegate.save("A/1", in: engine)
        #expect(!events().contains { $0.hasPrefix("account") })
        let error = #expect(throws: CKError.self) { try scheduler.complete { try await engine.sendChanges() } }
        #expect(error?.code == .accountTemporarilyUnavailable)
        #expect(engine.state.pendingRecordZoneChanges == [change("A/1")])
        // The same user by another credential: the server of this test names users by credentials, so alice's own.
        server.accept("alice")
        container.signIn(token: "alice")
        let log = events()
        #expect(!log.contains { $0.hasPrefix("account") })
        #expect(log.contains("sent !+A/1:zoneNotFound"))
    }

    @Test(arguments: [false, true])
    func `R-350, R-561, R-567: a start without a token is no sign-out; the engine waits, and says for what`(
        automatic: Bool
    ) throws {
        var engine: CKSyncEngine? = makeEngine(makeContainer("alice"))
        #expect(events().first == "accountChange signIn _alice")
        try delegate.save("A/1", in: #require(engine))
        _ = events()
        let state = try #require(delegate.lastState)
        engine = nil

        let forgetful = makeContainer()
        engine = makeEngine(forgetful, automatic: automatic, state: state)
        #expect(!events().contains { $0.hasPrefix("account") })
        #expect(engine?.state.pendingRecordZoneChanges == [change("A/1")])
        let error = #expect(throws: CKError.self) {
            try scheduler.complete { [engine] in try await engine?.sendChanges() }
        }
        #expect(error?.code == .notAuthenticated)
        #expect(error?.localizedDescription == "It is not known who is signed in: TIDEMARK_TOKEN is not set.")
        // The token is there again: nothing has happened.
        forgetful.signIn(token: "alice")
        let log = events()
        #expect(!log.contains { $0.hasPrefix("account") })
        #expect(log.contains("sent !+A/1:zoneNotFound") == automatic)
        #expect((engine?.state.pendingRecordZoneChanges == [change("A/1")]) != automatic)
        engine = nil

        let signedOut = makeContainer(absence: .signedOut)
        engine = makeEngine(signedOut, automatic: automatic, state: state)
        #expect(events().first == "accountChange signOut _alice")
        engine = nil

        // An engine that never had a user has nothing to tell.
        for absence in [AccountAbsence.signedOut, .notConfigured("")] {
            engine = makeEngine(makeContainer(absence: absence), automatic: automatic)
            #expect(events() == [])
            engine = nil
        }
    }

    @Test func `R-351: CKAccountChanged is posted for every change, before the call returns, and once for a refusal`() {
        let container = makeContainer()
        let identifier = container.containerIdentifier
        let count = Mutex(0)
        let observer = NotificationCenter.default.addObserver(
            forName: .CKAccountChanged, object: nil, queue: nil
        ) { note in
            guard note.userInfo?["containerIdentifier"] as? String == identifier else { return }
            count.withLock { $0 += 1 }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        let engine = makeEngine(container)
        func posted(_ work: () -> Void) -> Int {
            count.withLock { $0 = 0 }
            work()
            return count.withLock { $0 }
        }
        #expect(posted { container.signIn(token: "alice") } == 1)
        #expect(posted { container.signIn(token: "alice") } == 0)
        #expect(posted { container.signIn(token: "bob") } == 1)
        #expect(posted { scheduler.advance(by: .seconds(1)) } == 0)
        #expect(
            posted {
                server.refuse("bob")
                scheduler.advance(by: .seconds(600))
            } == 1)
        #expect(
            posted {
                server.accept("bob")
                scheduler.advance(by: .seconds(120))
            } == 1)
        #expect(posted { container.signOut() } == 1)
        #expect(posted { container.signOut() } == 0)
        withExtendedLifetime(engine) {}
    }

    // MARK: What an engine sends

    @Test func `R-574: records are always saved if the server's is unchanged`() throws {
        let container = makeContainer("alice")
        let engine = makeEngine(container)
        _ = events()
        delegate.save("A/1", in: engine)
        engine.state.add(pendingRecordZoneChanges: [change("-A/2")])
        #expect(throws: CKError.self) { try scheduler.complete { try await engine.sendChanges() } }
        delegate.onAsk = { _ in }
        let requests = server.envelopes.compactMap { envelope -> WireModifyRecords? in
            if case .modifyRecords(let request) = envelope.request { request } else { nil }
        }
        #expect(requests.map(\.policy) == [.ifServerRecordUnchanged])
        #expect(requests.first?.zones.first?.saves.count == 1 && requests.first?.zones.first?.deletes == ["2"])
    }
}

extension WireClientEnvelope.OneOfRequest? {
    fileprivate var isModifyRecords: Bool {
        if case .modifyRecords = self { true } else { false }
    }
}
