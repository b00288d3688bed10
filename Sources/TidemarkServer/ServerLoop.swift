// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkHTTP
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkSessions
internal import TidemarkSockets
internal import TidemarkStore
internal import TidemarkTransport
internal import TidemarkWebSocket

/// All of a server that runs on one event loop. Loops share nothing but the database: they tell each other of changes as
/// servers in other processes do.
final class ServerLoop: Sendable {
    let loop: EventLoop
    private let storage: PostgresStorage
    private let service: CloudService
    private let hub: SessionHub
    private let listener: NoticeListener
    private let health: StoreHealth
    private let janitor: StoreJanitor

    private init(
        loop: EventLoop, storage: PostgresStorage, service: CloudService, hub: SessionHub, listener: NoticeListener,
        janitor: StoreJanitor
    ) {
        self.loop = loop
        self.storage = storage
        self.service = service
        self.hub = hub
        self.listener = listener
        self.janitor = janitor
        health = StoreHealth(storage: storage, scheduler: loop)
    }

    static func start(
        on loop: EventLoop, _ configuration: ServerConfiguration, assets: (any AssetStore)?,
        escrow: (any KeyEscrow)?
    ) async throws(ServerError) -> ServerLoop {
        let made = await loop.run {
            Result { () throws(StorageError) in try make(on: loop, configuration, assets, escrow) }
        }
        .value
        switch made {
        case .success(let part):
            await loop.run {
                await part.health.start()
                part.janitor.start()
            }.value
            return part
        case .failure(let error):
            throw ServerError(.databaseUnreachable, detail: error.debugDescription, underlying: error)
        }
    }

    private static func make(
        on loop: EventLoop, _ configuration: ServerConfiguration, _ assets: (any AssetStore)?,
        _ escrow: (any KeyEscrow)?
    ) throws(StorageError) -> ServerLoop {
        let storage = try PostgresStorage(
            url: configuration.databaseURL, loop: loop, connections: configuration.databaseConnections)
        let outlet = MovedOutlet()
        let service = CloudService(
            storage: storage, assets: assets, escrow: escrow, scheduler: loop,
            limits: configuration.limits, writeSettings: configuration.writeSettings, onMoved: outlet.moved)
        var settings = SessionSettings(serverName: "tidemark/\(Server.version)", credentialHash: Credential.hash)
        settings.createsContainers = configuration.createsContainers
        settings.limits = configuration.limits
        settings.helloTimeout = configuration.helloTimeout
        settings.keepsAssets = assets != nil
        settings.throttle = configuration.throttle
        settings.messageBytesMax = configuration.transport.message.messageBytesMax
        let hub = SessionHub(service: service, scheduler: loop, settings: settings)
        outlet.connect { hub.committed($0) }
        let listener = try NoticeListener(
            url: configuration.databaseURL, loop: loop, onNotices: { hub.heard($0) },
            onListening: { hub.noticesMissed() })
        let janitor = StoreJanitor(
            storage: storage, scheduler: loop, interval: configuration.clearingInterval, limits: configuration.limits)
        return ServerLoop(
            loop: loop, storage: storage, service: service, hub: hub, listener: listener, janitor: janitor)
    }

    /// The protocol is spoken at `/`; `/healthz` is for load balancers.
    func accept(_ head: RequestHead) -> AcceptDecision {
        switch head.path {
        case "/":
            let offer = ServerHandshake.Offer(subprotocols: [Server.subprotocol], requiresSubprotocol: true)
            return .webSocket(offer, SessionConnection(hub: hub))
        case "/healthz":
            let answer: HTTPResponse =
                health.isGood ? .text(.ok, "ok") : .text(.serviceUnavailable, "the store does not answer")
            return .response(.answer(head, found: answer))
        default:
            return .response(.answer(head, found: nil))
        }
    }

    /// Collects assets from time to time, for as long as the loop lives.
    func collectAssets(grace: Duration, every interval: Duration) {
        _ = loop.schedule(after: interval) { [weak self] in
            guard let self else { return }
            loop.run { [self] in
                _ = await service.collectAssets(grace: grace)
                collectAssets(grace: grace, every: interval)
            }
        }
    }

    /// Lets sessions answer what runs and closes them.
    func stopSessions(patience: Duration) async {
        await loop.run { [self] in
            health.stop()
            janitor.stop()
            await hub.stop(patience: patience)
            await service.stop()
        }.value
    }

    /// Lets go of the database and ends the thread.
    func stop() async {
        await loop.run { [self] in
            listener.stop()
            await storage.stop()
        }.value
        loop.stop()
    }
}
