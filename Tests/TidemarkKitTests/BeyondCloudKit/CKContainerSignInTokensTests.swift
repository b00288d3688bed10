// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkScheduling
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Signing in with tokens of an identity provider, which end sooner than a session should.
@Suite struct CKContainerSignInTokensTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let delegate = RecordingDelegate()
    private let source = Source()

    init() {
        server = ScriptedServer(scheduler)
    }

    /// What the app's closure does: a new token each time, an error, or nothing for long.
    private final class Source: Sendable {
        struct Failure: LocalizedError {
            var errorDescription: String? { "The provider is away." }
        }

        let count = Mutex(0)
        let user = Mutex("alice")
        let fails = Mutex(false)
        let held = Mutex<[CheckedContinuation<Void, Never>]?>(nil)

        func token() async throws -> String {
            if held.withLock({ $0 != nil }) {
                await withCheckedContinuation { continuation in held.withLock { $0?.append(continuation) } }
            }
            if fails.withLock({ $0 }) { throw Failure() }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return "\(user.withLock { $0 })#\(number)"
        }
    }

    private func makeContainer(
        absence: AccountAbsence = .notConfigured("TIDEMARK_TOKEN is not set."), credentials: CredentialFile? = nil
    ) -> CKContainer {
        CKContainer(
            context: CloudContext(
                containerIdentifier: "iCloud.test.\(UUID().uuidString)", token: "", absence: absence,
                transport: server, scheduler: scheduler, engineScheduler: scheduler, credentials: credentials))
    }

    private func makeEngine(_ container: CKContainer) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: container.privateCloudDatabase, stateSerialization: nil, delegate: delegate)
        configuration.automaticallySync = true
        return CKSyncEngine(configuration)
    }

    private var hellos: [String] {
        server.log.filter { $0.hasSuffix(" hello") }.map { String($0.dropLast(" hello".count)) }
    }

    private func accountEvents() -> [String] {
        scheduler.advance(by: .seconds(3))
        defer { delegate.log = [] }
        return delegate.log.filter { $0.hasPrefix("account") }
    }

    @Test func `R-928: each attempt to connect has a token of its own, and the account stays`() throws {
        let container = makeContainer()
        let engine = makeEngine(container)
        #expect(accountEvents() == [])
        container.signIn { [source] in try await source.token() }
        #expect(accountEvents() == ["accountChange signIn _alice"])
        #expect(hellos == ["alice#1"])
        for number in 2...4 {
            server.cut()
            #expect(accountEvents() == [])
            #expect(hellos.last == "alice#\(number)" && server.openCount == 1)
        }
        withExtendedLifetime(engine) {}
    }

    @Test func `R-928: a session whose token has expired goes on at once with the next one`() throws {
        let container = makeContainer()
        let engine = makeEngine(container)
        container.signIn { [source] in try await source.token() }
        #expect(accountEvents() == ["accountChange signIn _alice"])
        server.refuse("alice#1")
        #expect(accountEvents() == [], "within three seconds")
        #expect(hellos == ["alice#1", "alice#2"] && server.openCount == 1)
        let status = try scheduler.complete { try await container.accountStatus() }
        #expect(status == .available)
        withExtendedLifetime(engine) {}
    }

    @Test func `R-928: a token that is refused too is a refusal, and is told why`() throws {
        let container = makeContainer()
        server.answer { envelope in
            guard case .hello? = envelope.request else { return nil }
            var failure = WireFailure()
            failure.code = .notAuthenticated
            failure.message = "The account is disabled."
            failure.signInProblem = .accountDisabled
            return .failure(failure)
        }
        container.signIn { [source] in try await source.token() }
        let error = #expect(throws: CKError.self) {
            try scheduler.complete { try await container.userRecordID() }
        }
        #expect(error?.code == .accountTemporarilyUnavailable && error?.signInProblem == .accountDisabled)
        #expect(error?.userInfo[TidemarkErrorSignInProblemKey] as? Int == 4)
        let status = try scheduler.complete { try await container.accountStatus() }
        #expect(status == .temporarilyUnavailable)
        #expect(hellos == ["alice#1"], "the server is not asked again at once")
    }

    @Test func `R-928: without a token requests fail with the app's reason, and it is asked again later`() throws {
        let container = makeContainer()
        let engine = makeEngine(container)
        source.fails.withLock { $0 = true }
        container.signIn { [source] in try await source.token() }
        let error = #expect(throws: CKError.self) {
            try scheduler.complete { try await container.userRecordID() }
        }
        #expect(error?.code == .networkUnavailable)
        #expect(error?.localizedDescription.contains("The provider is away.") == true)
        #expect(hellos.isEmpty)
        source.fails.withLock { $0 = false }
        scheduler.advance(by: .seconds(120))
        #expect(server.openCount == 1 && hellos == ["alice#1"])
        withExtendedLifetime(engine) {}
    }

    @Test func `R-928: an app that gives no token holds nobody up for more than 30 seconds`() throws {
        let container = makeContainer()
        source.held.withLock { $0 = [] }
        container.signIn { [source] in try await source.token() }
        let error = #expect(throws: CKError.self) {
            try scheduler.complete { try await container.userRecordID() }
        }
        #expect(error?.code == .networkUnavailable)
        #expect(error?.localizedDescription.contains("gave none in time") == true)
        #expect(hellos.isEmpty)
        // What comes too late is not used.
        let late = source.held.withLock { held in
            defer { held = nil }
            return held ?? []
        }
        for one in late { one.resume() }
        scheduler.advance(by: .seconds(5))
        #expect(hellos.isEmpty)
    }

    @Test func `R-159, R-928: a token that comes after signing out, or for somebody else, is not used`() throws {
        let container = makeContainer()
        source.held.withLock { $0 = [] }
        let engine = makeEngine(container)
        container.signIn { [source] in try await source.token() }
        scheduler.advance(by: .seconds(1))
        container.signOut()
        let late = source.held.withLock { held in
            defer { held = nil }
            return held ?? []
        }
        for one in late { one.resume() }
        scheduler.advance(by: .seconds(5))
        #expect(hellos.allSatisfy { $0.isEmpty } && server.openCount == 0)

        source.user.withLock { $0 = "bob" }
        container.signIn { [source] in try await source.token() }
        #expect(accountEvents() == ["accountChange signIn _bob"])
        container.signIn(token: "carol")
        #expect(accountEvents() == ["accountChange switch _bob _carol"])
        server.cut()
        _ = accountEvents()
        #expect(hellos.last == "carol", "the source is not asked any more")
        withExtendedLifetime(engine) {}
    }

    @Test func `R-928: an earlier sign-in is not taken for this one at the next start`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        var configuration = TidemarkConfiguration(url: URL(string: "wss://sync.example.org"))
        configuration.credentialFile = URL(fileURLWithPath: "\(directory.path)/credentials.json")
        let file = try #require(CredentialFile(configuration, containerIdentifier: "iCloud.a"))
        let container = makeContainer(credentials: file)
        container.signIn(token: "alice")
        #expect(try file.token() == "alice")
        container.signIn { [source] in try await source.token() }
        #expect(try file.token() == nil, "and it is no sign-out")
    }
}
