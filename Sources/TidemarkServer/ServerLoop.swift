// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkHTTP
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkSessions
internal import TidemarkSockets
internal import TidemarkStore
internal import TidemarkTelemetry
internal import TidemarkTransport
internal import TidemarkWebSocket

/// The part of a server that runs on one event loop. The loops share the database and the queue of writes
/// (``SharedWrites``). They tell each other of changes directly (``SessionHub/unite(_:)``).
final class ServerLoop: Sendable {
    let loop: EventLoop
    private let storage: PostgresStorage
    private let service: CloudService
    private let hub: SessionHub
    /// Only that of the first loop is listened to, for all loops.
    private let bus: PostgresNoticeBus
    /// Only the first loop has one; it speaks and listens for all loops.
    private let sharedBus = Mutex<NATSNoticeBus?>(nil)
    private let health: StoreHealth
    private let janitor: StoreJanitor
    /// Nil: all.
    private let allowedOrigins: AllowedOrigins?
    /// Whether devices have separate addresses. Without TLS all have the address of a proxy.
    private let hasAddresses: Bool
    /// Only the first loop has one; it looks after the whole process.
    private let freedMemory = Mutex<FreedMemory?>(nil)
    private let tablesWatch = Mutex<TablesWatch?>(nil)
    /// Only the first loop has one; it looks for all loops.
    private let olderServersWatch = Mutex<OlderServersWatch?>(nil)

    private init(
        loop: EventLoop, storage: PostgresStorage, bus: PostgresNoticeBus, service: CloudService, hub: SessionHub,
        janitor: StoreJanitor, allowedOrigins: AllowedOrigins?, hasAddresses: Bool
    ) {
        self.bus = bus
        self.allowedOrigins = allowedOrigins
        self.hasAddresses = hasAddresses
        self.loop = loop
        self.storage = storage
        self.service = service
        self.hub = hub
        self.janitor = janitor
        health = StoreHealth(storage: storage, scheduler: loop)
    }

    static func start(
        on loop: EventLoop, _ configuration: ServerConfiguration, sharedWrites: SharedWrites, budget: RequestBudget,
        longQueries: FairGate, assets: (any AssetStore)?, escrow: (any KeyEscrow)?
    ) async throws(ServerError) -> ServerLoop {
        let made = await loop.run {
            Result { () throws(StorageError) in
                try make(on: loop, configuration, sharedWrites, budget, longQueries, assets, escrow)
            }
        }
        .value
        switch made {
        case .success(let part):
            await loop.run { await part.health.start() }.value
            return part
        case .failure(let error):
            throw ServerError(.databaseUnreachable, detail: error.debugDescription, underlying: error)
        }
    }

    private static func make(
        on loop: EventLoop, _ configuration: ServerConfiguration, _ sharedWrites: SharedWrites,
        _ budget: RequestBudget, _ longQueries: FairGate, _ assets: (any AssetStore)?, _ escrow: (any KeyEscrow)?
    ) throws(StorageError) -> ServerLoop {
        let storage = try PostgresStorage(
            url: configuration.databaseURL, loop: loop, connections: configuration.databaseConnections,
            queryTimes: QueryTimes(within: configuration.limits), longQueries: longQueries)
        let outlet = MovedOutlet()
        let service = CloudService(
            storage: storage, assets: assets, escrow: escrow, scheduler: loop,
            limits: configuration.limits, writeSettings: configuration.writeSettings, sharedWrites: sharedWrites,
            isTraced: configuration.requestTraces != nil, firesQueries: true, onMoved: outlet.moved)
        var settings = SessionSettings(
            serverName: "tidemark/\(Server.version)", limits: configuration.limits, credentialHash: Credential.hash)
        // NB: a server that notes no devices has no name. It answers no questions about them.
        let bus = PostgresNoticeBus(storage, server: configuration.devices?.server ?? "")
        settings.bus = configuration.sharedBus
        settings.storeBus = bus
        settings.createsContainers = configuration.createsContainers
        settings.requestBudget = budget
        settings.devices = configuration.devices
        settings.refusals = configuration.refusals
        settings.tries = configuration.tries
        settings.tokens = configuration.tokens.map { TokenDoor($0, storage) }
        settings.requestRates = configuration.requestRates
        settings.sessionsPerAccountMax = configuration.sessionsPerAccountMax
        settings.requiresCredential = configuration.requiresCredential
        settings.tellsAccounts = configuration.tellsAccounts
        settings.anonymousIdleTimeout = configuration.anonymousIdleTimeout
        settings.noPlaceRetrySeconds = Double(configuration.transport.retryAfterSeconds)
        settings.helloTimeout = configuration.helloTimeout
        settings.pushPatience = configuration.pushPatience
        settings.slowRequestTime = configuration.slowRequestTime
        settings.traces = configuration.requestTraces
        settings.requestSeed = loop.randomBits()
        settings.keepsAssets = assets != nil
        settings.messageBytesMax = configuration.transport.message.messageBytesMax
        let hub = SessionHub(service: service, scheduler: loop, settings: settings)
        outlet.connect { hub.committed($0) }
        let janitor = StoreJanitor(
            storage: storage, scheduler: loop, interval: configuration.clearingInterval, limits: configuration.limits,
            deviceAge: configuration.deviceAge, auditAge: configuration.auditAge)
        return ServerLoop(
            loop: loop, storage: storage, bus: bus, service: service, hub: hub, janitor: janitor,
            allowedOrigins: configuration.allowedOrigins, hasAddresses: configuration.knowsAddresses)
    }

    /// Connects the loops of one server. The first one listens to other servers, looks for older ones and removes old data from
    /// the store.
    static func unite(
        _ parts: [ServerLoop], _ configuration: ServerConfiguration, _ sharedWrites: SharedWrites
    ) async throws(ServerError) {
        SessionHub.unite(parts.map(\.hub))
        let (first, hub) = (parts[0], parts[0].hub)
        let watch = OlderServersWatch(
            storage: first.storage, scheduler: first.loop, times: configuration.olderServers,
            sharedWrites: sharedWrites)
        first.olderServersWatch.withLock { $0 = watch }
        await first.loop.run { await watch.start() }.value
        let listening = await first.loop.run {
            first.janitor.start()
            return Result { () throws(StorageError) in
                try first.bus.start(
                    onNotices: { hub.heard($0) },
                    onGap: {
                        hub.noticesMissed()
                        watch.beginAgain()
                    })
            }
        }.value
        // The database's is listened to in any case: operators' commands speak there.
        first.sharedBus.withLock { $0 = configuration.sharedBus }
        configuration.sharedBus?.start(onNotices: { hub.heard($0) }, onGap: { hub.zoneNoticesMissed() })
        if case .failure(let error) = listening {
            throw ServerError(.databaseUnreachable, detail: error.debugDescription, underlying: error)
        }
    }

    /// Devices connect at `/`; `/healthz` is for load balancers.
    func accept(_ head: RequestHead) -> AcceptDecision {
        switch head.path {
        case "/":
            let offer = ServerHandshake.Offer(subprotocols: [Server.subprotocol], requiresSubprotocol: true)
            let origins = head.fields.values("Origin")
            let origin = origins.isEmpty ? nil : origins.joined(separator: ",")
            let connection = SessionConnection(
                hub: hub, mayBeNobody: allowedOrigins?.allow(origin) ?? true, hasAddress: hasAddresses)
            return .webSocket(offer, connection)
        default:
            return .response(healthAnswer(head))
        }
    }

    /// The answer to a request for `/healthz`, or for something that does not exist.
    func healthAnswer(_ head: RequestHead) -> HTTPResponse {
        guard head.path == "/healthz" else { return .answer(head, found: nil) }
        return .answer(
            head, found: health.isGood ? .text(.ok, "ok") : .text(.serviceUnavailable, "the store does not answer"))
    }

    /// Whether the store answered a moment ago. From any thread.
    var storeAnswers: Bool { health.isGood }

    /// Tells `state` whether the database has this version's tables, as long as the loop serves.
    func watchTables(every interval: Duration, _ state: ServingState) {
        let watch = TablesWatch(storage: storage, scheduler: loop, interval: interval, state: state)
        tablesWatch.withLock { $0 = watch }
        watch.start()
    }

    /// Returns freed memory to the system when nothing is under way, as long as the loop serves.
    func returnFreedMemory(_ budget: RequestBudget) {
        let memory = FreedMemory(scheduler: loop, budget: budget)
        freedMemory.withLock { $0 = memory }
        memory.start()
    }

    /// Collects assets at intervals, as long as the loop lives.
    func collectAssets(grace: Duration, every interval: Duration) {
        _ = loop.schedule(after: interval) { [weak self] in
            guard let self else { return }
            loop.run { [self] in
                _ = await service.collectAssets(grace: grace)
                collectAssets(grace: grace, every: interval)
            }
        }
    }

    private static let failureCountsInterval = Duration.seconds(5)

    /// Writes how many failures were not written one by one, as long as the loop lives.
    func writeFailureCounts() {
        _ = loop.schedule(after: Self.failureCountsInterval) { [weak self] in
            guard let self else { return }
            FailureLog.shared.writeCounts()
            writeFailureCounts()
        }
    }

    /// Lets sessions answer requests under way, then closes them.
    func stopSessions(patience: Duration, spread: Duration) async {
        await loop.run { [self] in
            janitor.stop()
            await hub.stop(patience: patience, spread: spread)
            // Until then connections continue as before, and `/healthz` answers with the state of the store.
            health.stop()
            freedMemory.withLock { $0 }?.stop()
            tablesWatch.withLock { $0 }?.stop()
            olderServersWatch.withLock { $0 }?.stop()
        }.value
    }

    /// Ends writing, once no loop has sessions any more: any loop may write what they wait for.
    func stopWriting() async {
        await loop.run { [self] in await service.stop() }.value
    }

    /// Tells other servers what the last changes of all loops were. For the first loop, which speaks for all.
    func postRest() async {
        await loop.run { [self] in await hub.postRest() }.value
    }

    /// Disconnects from the database and ends the thread.
    func stop() async {
        await loop.run { [self] in
            bus.stop()
            sharedBus.withLock { $0 }?.stop()
            await storage.stop()
        }.value
        loop.stop()
    }
}
