// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TidemarkCrypto
package import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTelemetry
internal import TidemarkWire

/// The state that the databases and engines of one container share: how to reach the server, and who is signed in.
///
/// A process has one for each container identifier. Each engine has a separate connection, because each is a device
/// . Plain `CKDatabase` calls share one connection.
package final class CloudContext: Sendable {
    package let containerIdentifier: String
    /// Runs the connections.
    package let scheduler: any Scheduler
    /// Runs the engines, and calls their delegates. Never a thread that moves bytes.
    package let engineScheduler: any Scheduler
    /// As ``SyncEngineHost/atWork``, for all engines.
    let enginesAtWork: (@Sendable (_ begins: Bool) -> Void)?
    private let transport: any CloudTransport
    /// Shared by all connections.
    private let pacing: AttemptPacing
    private let environment: TidemarkConfiguration.Environment
    private let staging: AssetStaging
    private let keyStore: any KeyStore
    private let requiresEndToEnd: Bool
    private let allowsEscrowedParticipants: Bool
    /// How URLs of shares are made.
    private let shareURLs: ShareURLs
    /// The mistake in the configuration that must be corrected before there can be a connection; nil if there is none.
    private let fault: String?
    /// The file that keeps the credential for the next start; nil: it is not kept.
    private let credentials: CredentialFile?
    /// The file that keeps the identity of the device of plain calls for the next start; nil: it is not kept.
    private let devices: DeviceFile?
    /// Where the server's warnings are written.
    private let writeWarning: @Sendable (_ text: String, _ container: String) -> Void
    /// Those that the app uses.
    let presences = PresenceRegistry()
    private let state: Mutex<State>
    /// Held while a credential replaces another in memory and on disk, so that both end with the same one.
    private let signingIn = Mutex(())
    private static let log = Log("accounts")
    private static let serverLog = Log("server")
    /// I-7: the most warnings that are logged. Later ones are ignored.
    private static let warningsMax = 100

    private struct State {
        /// Empty: nobody is signed in, for the reason that `absence` says.
        var token: String
        /// Gives a token for each attempt to connect, in place of `token`.
        var tokens: TokenSource?
        var absence: AccountAbsence
        /// The keys of encrypted values. Each account has its own ring.
        var keys: KeyRing
        /// The connection of plain `CKDatabase` calls.
        var shared: CloudConnection?
        /// Whether it has the kept identity.
        var hasKeptDevice = false
        var connections: [WeakConnection] = []
        var observers: [WeakObserver] = []
        /// Whether the server has refused the credential.
        var isRefused = false
        /// The server's warnings that were logged. Each is logged once, whichever connection gets it.
        var warnings: Set<String> = []
        /// Brings pushes to the app, if it has ever wanted them.
        var courier: NotificationCourier?
    }

    private struct WeakConnection {
        weak var object: CloudConnection?
    }

    private struct WeakObserver {
        weak var object: (any CredentialObserver)?
    }

    /// With a transport of the caller's own.
    ///
    /// - Parameters:
    ///   - absence: why `token` is empty, if it is.
    ///   - server: for URLs of shares; nil: one without an address.
    package init(
        containerIdentifier: String, token: String,
        absence: AccountAbsence = .notConfigured("no credential was given."), transport: any CloudTransport,
        scheduler: any Scheduler,
        engineScheduler: any Scheduler = GlobalScheduler(), enginesAtWork: (@Sendable (_ begins: Bool) -> Void)? = nil,
        environment: TidemarkConfiguration.Environment = .development, staging: AssetStaging = .standard,
        keyStore: any KeyStore = KeyFile.standard, requiresEndToEnd: Bool = false,
        allowsEscrowedParticipants: Bool = false, server: URL? = nil, fault: String? = nil,
        credentials: CredentialFile? = nil, devices: DeviceFile? = nil, attemptsAtOnce: Int? = nil,
        writeWarning: (@Sendable (_ text: String, _ container: String) -> Void)? = nil
    ) {
        pacing = AttemptPacing(burst: attemptsAtOnce ?? AttemptPacing.burst)
        self.containerIdentifier = containerIdentifier
        self.transport = transport
        self.scheduler = scheduler
        self.engineScheduler = engineScheduler
        self.enginesAtWork = enginesAtWork
        self.environment = environment
        self.staging = staging
        self.keyStore = keyStore
        self.requiresEndToEnd = requiresEndToEnd
        self.allowsEscrowedParticipants = allowsEscrowedParticipants
        shareURLs = ShareURLs(of: server)
        self.fault = fault
        self.credentials = credentials
        self.devices = devices
        self.writeWarning =
            writeWarning ?? { Self.serverLog.warning("the server warns", ["container": $1, "why": $0]) }
        let keys = KeyRing(
            container: containerIdentifier, environment: environment, store: keyStore,
            requiresEndToEnd: requiresEndToEnd, allowsEscrowedParticipants: allowsEscrowedParticipants)
        state = Mutex(State(token: token, absence: absence, keys: keys))
    }

    deinit {
        if state.withLock({ $0.hasKeptDevice }) { devices?.giveBack() }
    }

    /// Whether anybody is signed in at all. A faulty configuration counts as signed in. Requests then fail with
    /// what must be corrected in it, and not with `notAuthenticated`.
    package var hasCredential: Bool { absence == nil }

    /// The reason why there is no credential; nil if there is one.
    package var absence: AccountAbsence? {
        fault == nil ? state.withLock { $0.token.isEmpty && $0.tokens == nil ? $0.absence : nil } : nil
    }

    /// Follows a configuration, over a real socket. If it has no credential, the last user who signed in is signed in
    ///
    package convenience init(containerIdentifier: String, configuration: TidemarkConfiguration) {
        let credentials = CredentialFile(configuration, containerIdentifier: containerIdentifier)
        let (token, absence) = Self.credential(configuration, credentials)
        self.init(
            containerIdentifier: containerIdentifier, token: token, absence: absence,
            transport: SocketTransport(configuration: configuration), scheduler: NetworkThread.scheduler,
            environment: configuration.environment,
            staging: configuration.assetDirectory.map { AssetStaging(directory: $0) } ?? .standard,
            keyStore: configuration.keyFile.map { KeyFile($0) } ?? .standard,
            requiresEndToEnd: configuration.requiresEndToEndEncryption,
            allowsEscrowedParticipants: configuration.allowsEscrowedParticipants, server: configuration.url,
            fault: configuration.fault, credentials: credentials,
            devices: DeviceFile(configuration, containerIdentifier: containerIdentifier))
    }

    /// The credential at the start; an empty token: nobody is signed in.
    private static func credential(
        _ configuration: TidemarkConfiguration, _ credentials: CredentialFile?
    ) -> (token: String, absence: AccountAbsence) {
        if let token = configuration.token, !token.isEmpty {
            credentials?.forgetSignOut()
            return (token, .signedOut)
        }
        var places = [configuration.tokenSources ?? "TidemarkConfiguration.token is not set"]
        do throws(CKError) {
            let kept = try credentials?.token()
            if kept == "" { return ("", .signedOut) }
            // NB: if the app's code sets an empty token, the last user who signed in does not count.
            if let kept, configuration.token == nil { return (kept, .signedOut) }
            if let credentials { places.append("nobody has signed in on this device (\(credentials.path))") }
        } catch {
            // A later sign-in holds until the process ends.
            log.error("who signed in is not known", ["why": error.localizedDescription])
            places.append(error.localizedDescription)
        }
        if configuration.url == nil { places.append("no server is named either (TIDEMARK_URL)") }
        let text = places.joined(separator: "; ")
        return ("", .notConfigured("\(text). Set TIDEMARK_TOKEN, or call CKContainer.signIn(token:)."))
    }

    private static let contexts = Mutex<[String: CloudContext]>([:])

    /// The context of a container by the configuration that is current when it is first used.
    static func shared(for containerIdentifier: String) -> CloudContext {
        contexts.withLock { contexts in
            if let context = contexts[containerIdentifier] { return context }
            let context = CloudContext(
                containerIdentifier: containerIdentifier,
                configuration: TidemarkConfiguration.current(for: containerIdentifier))
            contexts[containerIdentifier] = context
            return context
        }
    }

    /// The connection of plain `CKDatabase` calls; opened by the first of them.
    package var connection: CloudConnection {
        state.withLock { connection(&$0) }
    }

    private func connection(_ state: inout State) -> CloudConnection {
        if let shared = state.shared { return shared }
        let kept = devices?.take()
        state.hasKeptDevice = kept != nil
        let connection = makeConnection(device: kept ?? SecureRandom.bytes(16), &state)
        state.shared = connection
        return connection
    }

    /// A connection for a new device.
    ///
    /// - Parameter device: 16 bytes.
    package func makeConnection(device: [UInt8]) -> CloudConnection {
        state.withLock { makeConnection(device: device, &$0) }
    }

    private func makeConnection(device: [UInt8], _ state: inout State) -> CloudConnection {
        var hello = WireHello()
        hello.container = containerIdentifier
        hello.environment = environment == .production ? .production : .development
        hello.credential = state.token
        hello.device = device
        hello.clientName = "TidemarkKit/0.1.0"
        hello.deviceName = ProcessInfo.processInfo.hostName
        let connection = CloudConnection(
            hello: hello, tokens: state.tokens, transport: transport, scheduler: scheduler, staging: staging,
            pacing: pacing,
            onStanding: { [weak self] in self?.credentialHeard(isRefused: $0) },
            onWarning: { [weak self] in self?.warned($0) })
        state.connections.removeAll { $0.object == nil }
        state.connections.append(WeakConnection(object: connection))
        return connection
    }

    /// A database for the user who is signed in now. Its requests fail once another user is.
    ///
    /// - Parameters:
    ///   - connection: nil: the one of plain calls.
    ///   - generation: for whom the requests are meant; nil: for who is signed in now. If it is not of now, they all fail.
    func database(
        _ scope: CKDatabase.Scope, on connection: CloudConnection? = nil, generation: Int? = nil
    ) -> CloudDatabase {
        state.withLock { state in
            let connection = connection ?? self.connection(&state)
            return CloudDatabase(
                connection: connection, scope: scope, keys: state.keys,
                credentialGeneration: generation ?? connection.credentialGeneration, shareURLs: shareURLs)
        }
    }
}

extension CloudContext {
    /// See ``CKContainer/handleRemoteNotifications(with:)``.
    func handleRemoteNotifications(with handler: NotificationCourier.Handler?) {
        courier(making: handler != nil)?.use(handler)
    }

    /// The courier of the container's notifications. Nil: there is none, and none is to be made.
    func courier(making isMade: Bool) -> NotificationCourier? {
        state.withLock { state in
            if let courier = state.courier { return courier }
            guard isMade else { return nil }
            let courier = NotificationCourier(self)
            state.courier = courier
            state.observers.append(WeakObserver(object: courier))
            return courier
        }
    }

    private func warned(_ text: String) {
        let isNew = state.withLock { state in
            state.warnings.count < Self.warningsMax && state.warnings.insert(text).inserted
        }
        if isNew { writeWarning(text, containerIdentifier) }
    }

    /// The network is back: no connection waits any longer before it tries again.
    package func retryNow() {
        let connections = state.withLock { $0.connections.compactMap(\.object) }
        for connection in connections { connection.retryNow() }
    }
}

// MARK: Accounts at run time

/// Hears that somebody has signed in, out, or with another credential.
protocol CredentialObserver: AnyObject, Sendable {
    func credentialChanged()
}

extension CloudContext {
    /// The observer is held weakly.
    func observeCredential(_ observer: any CredentialObserver) {
        state.withLock { state in
            state.observers.removeAll { $0.object == nil }
            state.observers.append(WeakObserver(object: observer))
        }
    }

    /// - Parameter token: empty: somebody signs out.
    func changeCredential(_ token: String) {
        let observers = signingIn.withLock { _ in
            keep(token)
            return takeOver(token, nil)
        }
        tell(observers)
    }

    /// - Parameter make: gives a token for each attempt to connect. It is not kept for the next start.
    func changeCredential(tokens make: @escaping @Sendable () async throws -> String) {
        let tokens = TokenSource(on: engineScheduler, make)
        let observers = signingIn.withLock { _ in
            forgetKept()
            return takeOver("", tokens)
        }
        tell(observers)
    }

    /// Nil: nothing has changed.
    private func tell(_ observers: [any CredentialObserver]?) {
        guard let observers else { return }
        for observer in observers { observer.credentialChanged() }
        postAccountChanged()
    }

    /// An earlier sign-in must not be taken for this one at the next start.
    private func forgetKept() {
        do throws(CKError) {
            try credentials?.forget()
        } catch {
            Self.log.error("an earlier sign-in is not forgotten", ["why": error.localizedDescription])
        }
    }

    /// For the next start.
    private func keep(_ token: String) {
        do throws(CKError) {
            try credentials?.store(token)
        } catch {
            Self.log.error("who signed in is not kept", ["why": error.localizedDescription])
        }
    }

    /// - Returns: the observers to call; nil if nothing has changed.
    private func takeOver(_ token: String, _ tokens: TokenSource?) -> [any CredentialObserver]? {
        state.withLock { state in
            let wasSignedOut = state.token.isEmpty && state.tokens == nil && state.absence == .signedOut
            let isNew = state.token != token || tokens != nil || state.tokens != nil
            guard isNew || state.isRefused || (token.isEmpty && !wasSignedOut) else { return nil }
            state.token = token
            state.tokens = tokens
            state.absence = .signedOut
            state.isRefused = false
            // The zones' keys belong to another account from now on.
            state.keys = KeyRing(
                container: containerIdentifier, environment: environment, store: keyStore,
                requiresEndToEnd: requiresEndToEnd, allowsEscrowedParticipants: allowsEscrowedParticipants)
            // Under the lock, so that no database is made of one account's keys and another's connection.
            for connection in state.connections { connection.object?.changeCredential(token, tokens: tokens) }
            return state.observers.compactMap(\.object)
        }
    }

    /// an account that becomes usable or unusable by itself is also announced, once.
    private func credentialHeard(isRefused: Bool) {
        let isNew = state.withLock { state in
            defer { state.isRefused = isRefused }
            return state.isRefused != isRefused
        }
        guard isNew else { return }
        // NB: the app's code, which must not hold up a thread that moves bytes.
        engineScheduler.run { self.postAccountChanged() }
    }

    /// With the container's identifier, for apps with several.
    private func postAccountChanged() {
        NotificationCenter.default.post(
            name: .CKAccountChanged, object: nil, userInfo: ["containerIdentifier": containerIdentifier])
    }
}
