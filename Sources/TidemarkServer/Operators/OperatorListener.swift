// SPDX-License-Identifier: Apache-2.0

internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore
internal import TidemarkTLS
internal import TidemarkTelemetry
internal import TidemarkTransport
internal import TidemarkWebSocket

/// Where operators give commands to a server. It has its own addresses, thread and connections. A crowd of
/// devices cannot keep an operator out, and operators take nothing from devices.
final class OperatorListener: Sendable {
    private static let log = Log("operators")

    /// The addresses on which it listens, with the ports that the kernel chose.
    let addresses: [SocketAddress]
    private let loop: EventLoop
    private let transport: TransportServer
    private let hall: OperatorHall

    private init(_ loop: EventLoop, _ transport: TransportServer, _ hall: OperatorHall) {
        self.loop = loop
        self.transport = transport
        self.hall = hall
        addresses = transport.localAddresses
    }

    /// Begins to listen.
    ///
    /// - Parameter tls: that of the devices; nil: the server has none, and listens on loopback only.
    /// - Returns: nil if it is to listen nowhere.
    /// - Throws: ``ServerError``: `plainBeyondLoopback`, `cannotListen`, `databaseUnreachable`, `resourcesExhausted`.
    static func start(_ configuration: ServerConfiguration, _ tls: TLSContext?) async throws(ServerError)
        -> OperatorListener?
    {
        let settings = configuration.operators
        guard !settings.addresses.isEmpty, let commands = settings.commands else { return nil }
        if tls == nil, let open = settings.addresses.first(where: { !$0.isLoopback }) {
            throw ServerError(.plainBeyondLoopback, detail: "\(open)")
        }
        let loop: EventLoop
        do {
            loop = try EventLoop(name: "tidemark-oper")
        } catch {
            throw ServerError(.resourcesExhausted, detail: "\(error)", underlying: error)
        }
        let hall: OperatorHall
        do {
            let storage = try PostgresStorage(
                url: configuration.databaseURL, loop: loop, connections: 1, queryTimes: .patient)
            hall = OperatorHall(loop: loop, storage: storage, commands: commands, configuration)
        } catch {
            loop.stop()
            throw ServerError(.databaseUnreachable, detail: "\(error)", underlying: error)
        }
        do {
            var listening = TransportServer.Configuration(addresses: settings.addresses, tls: tls, limits: limits)
            listening.listener = .admin
            let transport = try await TransportServer.start(on: [loop], listening) { head, address in
                hall.accept(head, from: address)
            }
            for address in transport.localAddresses {
                log.info("taking commands of operators", ["address": "\(address)", "tls": "\(tls != nil)"])
            }
            return OperatorListener(loop, transport, hall)
        } catch {
            await loop.run { await hall.stop() }.value
            loop.stop()
            let addresses = settings.addresses.map(\.description).joined(separator: ", ")
            throw ServerError(.cannotListen, detail: "\(addresses): \(error)", underlying: error)
        }
    }

    private static let connectionsMax = 256
    /// Descriptors that it may need: for its connections, for its store, and for commands. Each of these has a thread with
    /// three, and up to twelve connections to PostgreSQL.
    static let descriptorsMax = connectionsMax + 16 + commandsMax * (3 + 12)
    private static let commandsMax = CommandPlaces.ofOperators.placesMax + CommandPlaces.ofUsers.placesMax

    /// A few operators. Those who have not signed in give way to others. Several may have one address: behind a proxy, or as
    /// the jobs of one machine.
    private static var limits: TransportLimits {
        var limits = TransportLimits()
        limits.connectionsMax = connectionsMax
        limits.places = PlaceLimits(connectionsMax: connectionsMax, anonymousMax: 1, anonymousPerAddressMax: nil)
        limits.message.messageBytesMax = 131_072
        limits.message.frameBytesMax = 131_072
        limits.unfinishedBytesMax = 4_194_304
        limits.unsentBytesMax = 67_108_864
        limits.queuedBytesMax = 4_194_304
        limits.closeDeadline = .seconds(2)
        return limits
    }

    /// Ends the commands, closes the channels, and returns when nothing runs any more.
    func stop() async {
        await transport.stopListening()
        await loop.run { [hall] in await hall.stop() }.value
        await transport.stop(.goingAway, reason: "the server stops")
        loop.stop()
    }
}
