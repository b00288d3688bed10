// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkCrypto
internal import TidemarkDomain
internal import TidemarkKit
internal import TidemarkService
internal import TidemarkSessions

/// The state that a ``TestCloud`` shares with its accounts and devices.
final class TestCore: Sendable {
    let loop: TestLoop
    let database: MemoryDatabase
    let container: ContainerKey
    private let assets = MemoryAssetStore()
    private let network: CalmNetwork
    private let state: Mutex<State>

    private struct State {
        var server: MemoryServer
        var accounts: [String: TestAccount] = [:]
        var links: [MemoryLink] = []
        var contexts: [WeakContext] = []
    }

    private struct WeakContext {
        weak var object: CloudContext?
    }

    init(containerIdentifier: String, wallClockStart: Int64) {
        loop = TestLoop(seed: 1, wallClockStart: wallClockStart)
        database = MemoryDatabase(scheduler: loop)
        database.setMasterKeyCheck(MemoryKeyEscrow().check)
        container = ContainerKey(identifier: containerIdentifier, environment: .development)
        network = CalmNetwork(timers: loop)
        state = Mutex(State(server: Self.makeServer(on: database, assets, loop)))
    }

    static func hash(_ credential: [UInt8]) -> [UInt8] { SHA256.hash(credential) }

    static let limits = Limits()

    private static func makeServer(
        on database: MemoryDatabase, _ assets: MemoryAssetStore, _ loop: TestLoop
    ) -> MemoryServer {
        var settings = SessionSettings(serverName: "tidemark/in-memory", limits: limits, credentialHash: hash)
        settings.createsContainers = true
        settings.keepsAssets = true
        return MemoryServer(
            on: database, assets: assets, escrow: MemoryKeyEscrow(), scheduler: loop, settings: settings,
            firesQueries: true)
    }

    // MARK: Accounts and devices

    /// NB: accounts retain the core, and the core its accounts, until ``forgetAccounts()``.
    func account(_ name: String) -> TestAccount {
        state.withLock { state in
            if let account = state.accounts[name] { return account }
            // Under the lock: otherwise the credential of an unused account would replace the right one.
            let account = TestAccount(name, in: self)
            state.accounts[name] = account
            return account
        }
    }

    func issueCredential(_ token: String, of account: String) -> CredentialID {
        database.issueCredential(hash: Self.hash(Array(token.utf8)), account: account)
    }

    func revokeCredential(_ credential: CredentialID) {
        database.revokeCredential(credential)
        database.post(.credentialRevoked(credential))
    }

    /// The cloud is gone.
    func forgetAccounts() {
        let accounts = state.withLock { state in
            defer { state.accounts = [:] }
            return state.accounts
        }
        // Outside the lock, because accounts release what they have, with their connections.
        _ = consume accounts
    }

    func makeLine() -> DeviceLine {
        DeviceLine(over: MemoryTransport(self), timers: loop)
    }

    func makeContext(over line: DeviceLine, token: String) -> CloudContext {
        let context = CloudContext(
            containerIdentifier: container.identifier, token: token, transport: line, scheduler: loop,
            engineScheduler: loop, enginesAtWork: loop.engineIsAtWork, keyStore: MemoryKeyStore(),
            // Time stands still, so a test may cut connections as often as it likes.
            attemptsAtOnce: 1_000_000)
        state.withLock { state in
            state.contexts.removeAll { $0.object == nil }
            state.contexts.append(WeakContext(object: context))
        }
        return context
    }

    func open(observer: any CloudChannelObserver) -> any CloudChannel {
        MemoryLink.open(over: network, observer: observer) { [weak self] link in
            // Under one lock, so that a server that goes cuts all its links.
            self?.state.withLock { state in
                state.links.removeAll(where: \.isClosed)
                state.links.append(link)
                return state.server.hub
            }
        }.channel
    }

    /// - Returns: false if the account has keys.
    func keepNoKeys(ofAccount account: String) -> Bool { database.keepNoKeys(ofAccount: account) }

    // MARK: Events at the server

    func cutConnections() {
        for link in state.withLock({ $0.links }) { link.cut() }
        retryNow()
    }

    /// Lets waiting devices connect. While time stands still, their last attempt would seem too recent.
    func retryNow() {
        let contexts = state.withLock { $0.contexts.compactMap(\.object) }
        // After everything that is sent on connections that have just been cut.
        _ = loop.schedule(after: .zero) {
            for context in contexts { context.retryNow() }
        }
    }

    func restartServer() {
        let new = Self.makeServer(on: database, assets, loop)
        let old = state.withLock { state in
            defer { state.server = new }
            return state.server
        }
        old.stop()
        cutConnections()
    }

    /// - Returns: false if there is no such zone, or it is the default zone.
    func endZone(_ name: String, ofAccount account: String, _ reason: ZoneRemovalReason) -> Bool {
        guard name != ZoneName.default, let owner = database.privateDatabase(ofAccount: account, in: container),
            database.endZone(ZoneKey(database: owner, name: name), reason: reason)
        else { return false }
        // no device made the change, so all devices get a push.
        database.post(.zone(ZoneNotice(database: owner, life: .nobody, zoneName: "")))
        return true
    }
}

/// Leads to the server that exists when the connection is made.
private struct MemoryTransport: CloudTransport {
    private let core: TestCore

    init(_ core: TestCore) {
        self.core = core
    }

    func open(observer: any CloudChannelObserver) -> any CloudChannel {
        core.open(observer: observer)
    }
}
