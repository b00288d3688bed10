// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkCrypto
package import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkWire

/// What the databases and engines of one container share: how to reach the server, and who is signed in.
///
/// One a container identifier and process. Each engine has a connection of its own, because each is a device;
/// plain `CKDatabase` calls share one.
package final class CloudContext: Sendable {
    package let containerIdentifier: String
    /// Where connections live.
    package let scheduler: any Scheduler
    /// Where engines live and delegates are called: never a thread that moves bytes.
    package let engineScheduler: any Scheduler
    /// Whether anybody is signed in at all.
    package let hasCredential: Bool
    private let transport: any CloudTransport
    private let token: String
    private let environment: TidemarkConfiguration.Environment
    private let staging: AssetStaging
    /// Of encrypted values.
    let keys: KeyRing
    private let shared = Mutex<CloudConnection?>(nil)

    /// With a transport of the caller's own: tests, simulations.
    package init(
        containerIdentifier: String, token: String, transport: any CloudTransport, scheduler: any Scheduler,
        engineScheduler: any Scheduler = GlobalScheduler(),
        environment: TidemarkConfiguration.Environment = .development, staging: AssetStaging = .standard,
        keyStore: any KeyStore = KeyFile.standard, requiresEndToEnd: Bool = false
    ) {
        self.containerIdentifier = containerIdentifier
        self.transport = transport
        self.scheduler = scheduler
        self.engineScheduler = engineScheduler
        self.token = token
        self.environment = environment
        self.staging = staging
        keys = KeyRing(
            container: containerIdentifier, environment: environment, store: keyStore,
            requiresEndToEnd: requiresEndToEnd)
        hasCredential = !token.isEmpty
    }

    /// As a configuration says, over a real socket.
    package convenience init(containerIdentifier: String, configuration: TidemarkConfiguration) {
        let loop = NetworkThread.shared
        self.init(
            containerIdentifier: containerIdentifier, token: configuration.token ?? "",
            transport: SocketTransport(configuration: configuration, loop: loop), scheduler: loop,
            environment: configuration.environment,
            staging: configuration.assetDirectory.map { AssetStaging(directory: $0) } ?? .standard,
            keyStore: configuration.keyFile.map { KeyFile($0) } ?? .standard,
            requiresEndToEnd: configuration.requiresEndToEndEncryption)
    }

    private static let contexts = Mutex<[String: CloudContext]>([:])

    /// The context of a container by the configuration that is current when it is first used.
    static func shared(for containerIdentifier: String) -> CloudContext {
        contexts.withLock { contexts in
            if let context = contexts[containerIdentifier] { return context }
            let context = CloudContext(
                containerIdentifier: containerIdentifier, configuration: TidemarkConfiguration.current)
            contexts[containerIdentifier] = context
            return context
        }
    }

    /// The connection of plain `CKDatabase` calls; opened by the first of them.
    package var connection: CloudConnection {
        shared.withLock { shared in
            if let shared { return shared }
            let connection = makeConnection(device: SecureRandom.bytes(16))
            shared = connection
            return connection
        }
    }

    /// A connection for a device of its own.
    ///
    /// - Parameter device: 16 bytes.
    package func makeConnection(device: [UInt8]) -> CloudConnection {
        var hello = WireHello()
        hello.container = containerIdentifier
        hello.environment = environment == .production ? .production : .development
        hello.credential = token
        hello.device = Data(device)
        hello.clientName = "TidemarkKit/0.1.0"
        hello.deviceName = ProcessInfo.processInfo.hostName
        return CloudConnection(hello: hello, transport: transport, scheduler: scheduler, staging: staging)
    }
}

/// The thread on which all connections of the process live. Started by the first, never stopped: it sleeps when there is
/// nothing to do.
enum NetworkThread {
    static let shared: EventLoop = {
        do {
            return try EventLoop(name: "tidemark")
        } catch {
            // Without epoll, an eventfd and a thread there is nothing that a networked program could go on with.
            preconditionFailure("No event loop: \(error)")
        }
    }()
}
