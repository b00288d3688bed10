// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkAssets
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkSessions
package import TidemarkSockets
internal import TidemarkStore
internal import TidemarkTLS
internal import TidemarkTelemetry
internal import TidemarkTracing
internal import TidemarkTransport
internal import TidemarkWebSocket

/// A Tidemark server: sessions over WebSocket and TLS, with their data in PostgreSQL.
///
/// Any number of servers, in any number of processes, may share one database.
package final class Server: Sendable {
    package static let version = "0.1.0"
    /// The WebSocket subprotocol: the version of the protocol.
    package static let subprotocol = "tidemark.v1"

    /// The addresses on which it listens, with the ports that the kernel chose.
    package let addresses: [SocketAddress]
    /// The addresses on which it answers `/healthz` alone.
    package let healthAddresses: [SocketAddress]
    /// The addresses on which it answers operators.
    package let adminAddresses: [SocketAddress]
    /// The addresses on which it takes commands of operators.
    package let operatorAddresses: [SocketAddress]
    private let parts: [ServerLoop]
    private let transport: TransportServer
    private let healthTransport: TransportServer?
    private let admin: AdminListener?
    private let operators: OperatorListener?
    private let state: ServingState
    private let tls: TLSContext?
    private let assets: FileAssetStore?
    private let sampler: ProcessSampler
    private let traces: RequestTraces?
    private let tokens: TokenVerifier?
    /// They end with the server.
    private let observations: [MetricObservation]
    private let isStopped = Mutex(false)
    private static let log = Log("server")

    private init(
        parts: [ServerLoop], _ listeners: Listeners, state: ServingState, tls: TLSContext?, assets: FileAssetStore?,
        sampler: ProcessSampler, traces: RequestTraces?, tokens: TokenVerifier?, observations: [MetricObservation]
    ) {
        self.tokens = tokens
        self.sampler = sampler
        self.traces = traces
        self.observations = observations
        self.parts = parts
        self.state = state
        transport = listeners.transport
        healthTransport = listeners.health
        admin = listeners.admin
        adminAddresses = admin?.addresses ?? []
        operators = listeners.operators
        operatorAddresses = operators?.addresses ?? []
        healthAddresses = healthTransport?.localAddresses ?? []
        self.tls = tls
        self.assets = assets
        addresses = transport.localAddresses
    }

    /// Starts the event loops. Returns when the server accepts connections.
    package static func start(_ configuration: ServerConfiguration) async throws(ServerError) -> Server {
        let tls = try makeTLS(configuration)
        let protection = try AdminListener.Protection(configuration)
        var configuration = configuration
        configuration.transport = limits(configuration, isPlain: tls == nil)
        configuration.devices = configuration.deviceInterval.map {
            DeviceBook(server: ServerName.current, interval: $0)
        }
        let masterKey: MasterKey? =
            if let file = configuration.masterKeyFile {
                try await MasterKeyFile(path: file).prepare(databaseURL: configuration.databaseURL)
            } else { nil }
        let assets = try makeAssets(configuration)
        configuration.requestTraces = try makeTraces(configuration, assets)
        do throws(ServerError) {
            configuration.tokens = configuration.issuers.isEmpty ? nil : try TokenVerifier(configuration.issuers)
        } catch {
            assets?.stop()
            await configuration.requestTraces?.stop()
            throw error
        }
        let sharedWrites = SharedWrites(
            settings: configuration.writeSettings, largeGroups: globalConcurrentExecutor)
        let budget = RequestBudget(bytesMax: configuration.requestBytesUnderWayMax)
        let parts: [ServerLoop]
        do {
            parts = try await makeParts(configuration, sharedWrites, budget, assets, masterKey)
        } catch {
            assets?.stop()
            configuration.tokens?.stop()
            await configuration.requestTraces?.stop()
            throw error
        }
        do throws(ServerError) {
            let state = ServingState()
            let listeners = try await listen(parts, configuration, tls, protection, state)
            let sampler = ProcessSampler(
                scheduler: parts[0].loop, tls: tls, assetDirectory: configuration.assetDirectory)
            sampler.start()
            let server = Server(
                parts: parts, listeners, state: state, tls: tls, assets: assets, sampler: sampler,
                traces: configuration.requestTraces, tokens: configuration.tokens,
                observations: ServerMetrics.observe(sharedWrites, budget))
            if assets != nil {
                parts[0].collectAssets(grace: configuration.assetGrace, every: configuration.assetSweepInterval)
            }
            parts[0].writeFailureCounts()
            logSettings(configuration)
            if server.admin != nil { parts[0].watchTables(every: configuration.admin.tablesInterval, state) }
            return server
        } catch {
            for part in parts { await part.stop() }
            assets?.stop()
            configuration.tokens?.stop()
            await configuration.requestTraces?.stop()
            throw error
        }
    }

    /// Logs that it serves. A reader of that line may signal the process at once, so its signals are handled before.
    package func announce() {
        for address in addresses {
            Self.log.info("serving", ["address": "\(address)", "tls": "\(tls != nil)", "version": Self.version])
        }
    }

    /// From now on what libraries trace by swift-distributed-tracing goes where this server's traces go. For programs. Only
    /// the first call of a process counts.
    package func collectTracesOfLibraries() { traces?.collectFromLibraries() }

    /// Reads certificate and private key again, for new connections, and what the admin listener asks for.
    ///
    /// - Throws: ``ServerError`` with `certificateUnusable`; the old ones then stay in use.
    package func reloadCertificates() throws(ServerError) {
        do {
            try tls?.reload()
        } catch {
            throw ServerError(.certificateUnusable, detail: error.debugDescription, underlying: error)
        }
        try admin?.reload()
        Self.log.info("certificates read again")
    }

    /// Over which time a server that others replace closes its connections. With the patience it is well below the minute
    /// that a supervisor waits.
    package static let closingSpread = Duration.seconds(10)

    /// Tells load balancers that no more devices should come (`/readyz`). Otherwise it goes on as before.
    package func beginDraining() {
        if state.stop() { Self.log.info("not ready any more: the server stops") }
    }

    /// Tells a supervisor that the server serves, and from now on that its event loops work.
    package func report(to supervisor: Supervisor) {
        let places = addresses.map(\.description).joined(separator: ", ")
        supervisor.serve(on: parts.map(\.loop)) { [transport] in
            "Serving \(places). Connections: \(transport.connectionCount)."
        }
    }

    /// The number of connections, including those that are being opened.
    package var connectionCount: Int { transport.connectionCount }

    /// Stops listening, lets requests under way be answered, closes every connection and disconnects from the
    /// database. It takes little longer than `patience`. A second call does nothing.
    ///
    /// - Parameter spread: over which time connections are closed, with 1012, so that their devices do not come to other servers in
    ///   the same instant. The patience begins afterwards. Zero: all at once, with 1001.
    package func stop(patience: Duration = .seconds(10), spread: Duration = .zero) async {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        Self.log.info("stopping", ["connections": "\(connectionCount)"])
        sampler.stop()
        beginDraining()
        await transport.stopListening()
        await withTaskGroup { group in
            for part in parts { group.addTask { await part.stopSessions(patience: patience, spread: spread) } }
            group.addTask { [operators] in await operators?.stop() }
        }
        for part in parts { await part.stopWriting() }
        await parts.first?.postRest()
        await transport.stop(.goingAway, reason: "server stops")
        await healthTransport?.stop()
        await admin?.stop()
        for part in parts { await part.stop() }
        assets?.stop()
        tokens?.stop()
        await traces?.stop()
        FailureLog.shared.end()
        Self.log.info(
            "stopped",
            [
                "held_turns": "\(ServerMetrics.shared.heldTurns.value)",
                "longest_piece_microseconds": "\(HeldLoop.longestMicroseconds)",
            ])
    }

    // MARK: Starting

    /// An operator's choices, without secrets: the URL of a database may have a password in it.
    private static func logSettings(_ configuration: ServerConfiguration) {
        let slow = configuration.slowRequestTime.map { "\(Int($0 / .milliseconds(1)))" } ?? "none"
        log.info(
            "settings",
            [
                "loops": "\(configuration.loopCount)",
                "database_connections": "\(configuration.databaseConnections)",
                "known_zones_bytes": "\(configuration.knownZonesBytesMax)",
                "creates_containers": "\(configuration.createsContainers)",
                "requires_credential": "\(configuration.requiresCredential)",
                "tells_accounts": "\(configuration.tellsAccounts)",
                "limits_origins": "\(configuration.allowedOrigins != nil)",
                "proxies": configuration.proxies.isEmpty
                    ? "none" : configuration.proxies.map(\.description).joined(separator: ","),
                "keeps_assets": "\(configuration.assetDirectory != nil)",
                "keeps_keys": "\(configuration.masterKeyFile != nil)", "slow_request_milliseconds": slow,
                "traced_part": "\(configuration.traces?.sample ?? 0)", "issuers": "\(configuration.issuers.count)",
            ])
    }

    private static func makeTLS(_ configuration: ServerConfiguration) throws(ServerError) -> TLSContext? {
        guard let certificate = configuration.certificate else {
            if let address = configuration.addresses.first(where: { !$0.isLoopback }) {
                throw ServerError(.plainBeyondLoopback, detail: "\(address)")
            }
            return nil
        }
        do {
            return try TLSContext(
                server: .init(
                    certificateFile: certificate.certificateFile, privateKeyFile: certificate.privateKeyFile,
                    ticketSecretFile: configuration.ticketSecretFile))
        } catch {
            throw ServerError(.certificateUnusable, detail: error.debugDescription, underlying: error)
        }
    }

    private static func makeAssets(_ configuration: ServerConfiguration) throws(ServerError) -> FileAssetStore? {
        guard let directory = configuration.assetDirectory else { return nil }
        do {
            return try FileAssetStore(
                directory: directory, uploadBytesMax: configuration.limits.uploadBytesMax)
        } catch {
            throw ServerError(.assetDirectoryUnusable, detail: error.description, underlying: error)
        }
    }

    private static func makeTraces(
        _ configuration: ServerConfiguration, _ assets: FileAssetStore?
    ) throws(ServerError) -> RequestTraces? {
        guard let settings = configuration.traces else { return nil }
        do {
            return try RequestTraces(settings, server: ServerName.current, version: version)
        } catch {
            assets?.stop()
            throw ServerError(.resourcesExhausted, detail: "\(error)", underlying: error)
        }
    }

    private static func makeParts(
        _ configuration: ServerConfiguration, _ sharedWrites: SharedWrites, _ budget: RequestBudget,
        _ assets: FileAssetStore?, _ masterKey: MasterKey?
    ) async throws(ServerError) -> [ServerLoop] {
        var configuration = configuration
        var longQueries: FairGate?
        var parts: [ServerLoop] = []
        do {
            for number in 0..<max(1, configuration.loopCount) {
                let loop: EventLoop
                let name = "tidemark-\(number)"
                do {
                    loop = try EventLoop(name: name) { HeldLoop.note($0, of: name) }
                } catch {
                    throw ServerError(.resourcesExhausted, detail: "\(error)", underlying: error)
                }
                let turns =
                    longQueries
                    ?? PostgresStorage.longQueryTurns(
                        configuration.longQueriesMax, within: configuration.limits, on: loop)
                longQueries = turns
                do throws(ServerError) {
                    // First: a store of another version is asked nothing else.
                    if number == 0 {
                        try await checkSchema(configuration, on: loop)
                        configuration.sharedBus = try makeBus(configuration, on: loop)
                    }
                    parts.append(
                        try await ServerLoop.start(
                            on: loop, configuration, sharedWrites: sharedWrites, budget: budget, longQueries: turns,
                            assets: assets, escrow: masterKey))
                } catch {
                    loop.stop()
                    throw error
                }
            }
            try await ServerLoop.unite(parts, configuration, sharedWrites)
            parts[0].returnFreedMemory(budget)
            return parts
        } catch let error as ServerError {
            for part in parts { await part.stop() }
            throw error
        } catch {
            throw ServerError(.resourcesExhausted, detail: "\(error)", underlying: error)
        }
    }

    private static func makeBus(
        _ configuration: ServerConfiguration, on loop: EventLoop
    ) throws(ServerError) -> NATSNoticeBus? {
        guard let settings = configuration.noticeBus else { return nil }
        return try NATSNoticeBus(on: loop, settings, name: ServerName.current)
    }

    private static func checkSchema(_ configuration: ServerConfiguration, on loop: EventLoop) async throws(ServerError)
    {
        let isCurrent: Bool
        do {
            let migrator = Migrator(url: configuration.databaseURL, loop: loop)
            try await migrator.checkVersion()
            try await migrator.checkRestore()
            isCurrent = try await migrator.isCurrent()
        } catch {
            throw ServerError(error)
        }
        guard isCurrent else { throw ServerError(.databaseNotMigrated, detail: "") }
        ServerMetrics.shared.migration.set(Migrations.all.count)
    }

    private struct Listeners {
        let transport: TransportServer
        let health: TransportServer?
        let admin: AdminListener?
        let operators: OperatorListener?
    }

    /// Devices come last, so that `/readyz` answers while the server starts.
    private static func listen(
        _ parts: [ServerLoop], _ configuration: ServerConfiguration, _ tls: TLSContext?,
        _ protection: AdminListener.Protection, _ state: ServingState
    ) async throws(ServerError) -> Listeners {
        let handler = AdminHandler(token: protection.token, state: state) { parts[0].storeAnswers }
        let admin = try await AdminListener.start(configuration.admin, protection, handler)
        var health: TransportServer?
        var operators: OperatorListener?
        do throws(ServerError) {
            health = try await listenForHealth(parts, configuration)
            operators = try await OperatorListener.start(configuration, tls)
            let transport = try await listenForDevices(parts, configuration, tls)
            state.serve()
            return Listeners(transport: transport, health: health, admin: admin, operators: operators)
        } catch {
            await health?.stop()
            await operators?.stop()
            await admin?.stop()
            throw error
        }
    }

    private static func listenForDevices(
        _ parts: [ServerLoop], _ configuration: ServerConfiguration, _ tls: TLSContext?
    ) async throws(ServerError) -> TransportServer {
        var transport = TransportServer.Configuration(
            addresses: configuration.addresses, tls: tls, limits: configuration.transport)
        transport.proxies = TrustedProxies(configuration.proxies, by: tls == nil ? .field : .header)
        do {
            return try await TransportServer.start(on: parts.map(\.loop), transport) { head, _ in
                // Called on the connection's loop, which is one of the server's.
                (parts.first { $0.loop.isCurrent } ?? parts[0]).accept(head)
            }
        } catch {
            let addresses = configuration.addresses.map(\.description).joined(separator: ", ")
            throw ServerError(.cannotListen, detail: "\(addresses): \(error)", underlying: error)
        }
    }

    /// The limits of connections, as far as the process has descriptors for them.
    private static func limits(_ configuration: ServerConfiguration, isPlain: Bool) -> TransportLimits {
        var limits = configuration.transport
        let descriptors = DescriptorLimit.raise()
        let room = ConnectionRoom(
            descriptors: descriptors, wanted: limits.connectionsMax, loopCount: max(1, configuration.loopCount),
            databaseConnections: configuration.databaseConnections,
            keepsAssets: configuration.assetDirectory != nil,
            takesCommands: !configuration.operators.addresses.isEmpty)
        let numbers: KeyValuePairs = ["connections": "\(room.connectionsMax)", "descriptors": "\(descriptors)"]
        if room.isSmall {
            log.warning("the limit of open files leaves few connections: raise it (ulimit -n, LimitNOFILE)", numbers)
        } else {
            log.info("room for connections", numbers)
        }
        limits.connectionsMax = room.connectionsMax
        limits.places = configuration.placeLimits(of: room.connectionsMax, isPlain: isPlain)
        return limits
    }

    private static func listenForHealth(
        _ parts: [ServerLoop], _ configuration: ServerConfiguration
    ) async throws(ServerError) -> TransportServer? {
        guard !configuration.healthAddresses.isEmpty else { return nil }
        var limits = TransportLimits()
        limits.connectionsMax = 64
        limits.handshakeDeadline = .seconds(2)
        limits.closeDeadline = .seconds(1)
        var health = TransportServer.Configuration(
            addresses: configuration.healthAddresses, tls: nil, limits: limits)
        health.listener = .health
        do {
            let transport = try await TransportServer.start(on: [parts[0].loop], health) { head, _ in
                .response(parts[0].healthAnswer(head))
            }
            for address in transport.localAddresses { log.info("answering /healthz", ["address": "\(address)"]) }
            return transport
        } catch {
            let addresses = configuration.healthAddresses.map(\.description).joined(separator: ", ")
            throw ServerError(.cannotListen, detail: "\(addresses): \(error)", underlying: error)
        }
    }
}
