// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTransport
internal import TidemarkWebSocket

/// Channels over a real WebSocket: TCP, TLS, and the subprotocol `tidemark.v1`.
struct SocketTransport: CloudTransport {
    static let subprotocol = "tidemark.v1"

    private let target: Result<TransportClient.Target, ConfigurationFault>
    private let place: ServerPlace?
    private let loop: @Sendable () throws(SocketError) -> EventLoop

    var serverName: String? { place?.text }

    /// - Parameter loop: asked for at each attempt, since the process may have no room for one.
    init(
        configuration: TidemarkConfiguration,
        loop: @escaping @Sendable () throws(SocketError) -> EventLoop = NetworkThread.loop
    ) {
        self.loop = loop
        place = configuration.url.map(ServerPlace.init)
        target = Self.target(configuration)
    }

    private static func target(
        _ configuration: TidemarkConfiguration
    ) -> Result<TransportClient.Target, ConfigurationFault> {
        if let fault = configuration.fault { return .failure(ConfigurationFault(fault)) }
        guard let url = configuration.url else {
            return .failure(
                ConfigurationFault(
                    "There is no server: set TIDEMARK_URL, url in tidemark.json, or TidemarkConfiguration.current.url.")
            )
        }
        guard let host = url.host, ["wss", "ws"].contains(url.scheme) else {
            return .failure(ConfigurationFault("\(ServerPlace(url).text) is not wss://host:port."))
        }
        let isSecure = url.scheme == "wss"
        guard isSecure || isLoopback(host) else {
            return .failure(
                ConfigurationFault("\(ServerPlace(url).text): ws:// is for loopback addresses only. Use wss://."))
        }
        do throws(ConfigurationFault) {
            return .success(
                TransportClient.Target(
                    host: host, port: UInt16(clamping: url.port ?? (isSecure ? 443 : 80)),
                    path: path(of: url),
                    tls: try (isSecure ? makeTLS(configuration.certificateAuthorityFile) : nil),
                    subprotocols: [subprotocol]))
        } catch {
            return .failure(error)
        }
    }

    private static func makeTLS(_ authorityFile: String?) throws(ConfigurationFault) -> TLSContext {
        do throws(TLSError) {
            return try TLSContext(client: .init(additionalRootsFile: authorityFile))
        } catch {
            guard let authorityFile else { throw ConfigurationFault("TLS cannot be used: \(error.debugDescription)") }
            throw ConfigurationFault(ConnectionFault(authorityFile: authorityFile, error).text)
        }
    }

    /// Whether the host is this machine. Addresses are compared as numbers: `127.evil.example` is a name like others
    /// (R-740). The address to which `localhost` leads is checked once it is known (``TransportClient``).
    static func isLoopback(_ host: String) -> Bool {
        SocketAddress(numericHost: host, port: 0)?.isLoopback ?? (host.lowercased() == "localhost")
    }

    /// As the URL has it. Percent-encoded parts stay encoded: if they were decoded, they could end the line of the
    /// request.
    private static func path(of url: URL) -> String {
        let path = URLComponents(url: url, resolvingAgainstBaseURL: false)?.percentEncodedPath ?? ""
        return path.isEmpty ? "/" : path
    }

    func open(observer: any CloudChannelObserver) -> any CloudChannel {
        let loop: EventLoop
        do throws(SocketError) {
            loop = try self.loop()
        } catch {
            return UnopenedChannel(observer, .network(fault(TransportError(.connectFailed, underlying: error))))
        }
        let channel = SocketChannel(loop: loop, place: place, observer: observer)
        loop.execute { [target] in
            switch target {
            case .success(let target):
                channel.connect(on: loop, to: target)
            case .failure(let fault):
                channel.end(.untrusted(fault.text))
            }
        }
        return channel
    }

    private func fault(_ error: TransportError) -> ConnectionFault {
        place?.fault(error) ?? ConnectionFault("\(error)")
    }
}

/// An attempt for which there was no event loop.
private final class UnopenedChannel: CloudChannel, Sendable {
    init(_ observer: any CloudChannelObserver, _ reason: ChannelClosing) {
        // Later: the observer does not know the channel yet.
        Task.detached { [weak observer] in observer?.channelClosed(self, reason) }
    }

    func send(_ message: [UInt8]) {}
    func close() {}
}

/// One WebSocket. Only the loop touches the connection below it.
private final class SocketChannel: CloudChannel, MessageHandler, @unchecked Sendable {
    private let loop: EventLoop
    private let place: ServerPlace?
    private weak var observer: (any CloudChannelObserver)?
    private var connection: MessageConnection?
    private var hasEnded = false

    init(loop: EventLoop, place: ServerPlace?, observer: any CloudChannelObserver) {
        self.loop = loop
        self.place = place
        self.observer = observer
    }

    func connect(on loop: EventLoop, to target: TransportClient.Target) {
        guard !hasEnded else { return }
        connection = TransportClient.connect(on: loop, to: target, handler: self)
    }

    func send(_ message: [UInt8]) {
        onLoop { self.connection?.send(.binary, message) }
    }

    func close() {
        // Always later, because `close` must return before its caller is called back.
        loop.execute {
            self.connection?.close(.normal)
            self.end(.local)
        }
    }

    func end(_ reason: ChannelClosing) {
        guard !hasEnded else { return }
        hasEnded = true
        connection = nil
        observer?.channelClosed(self, reason)
    }

    private func onLoop(_ work: @escaping @Sendable () -> Void) {
        if loop.isCurrent { work() } else { loop.execute(work) }
    }

    // MARK: MessageHandler

    func opened(_ connection: MessageConnection) {
        guard !hasEnded else { return }
        observer?.channelOpened(self)
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        guard !hasEnded else { return }
        observer?.channelReceived(self, payload.bytes)
    }

    func progressed(_ connection: MessageConnection) {
        guard !hasEnded else { return }
        observer?.channelProgressed(self)
    }

    /// Errors that another attempt does not fix.
    private static let distrust: [TLSError.Code] = [
        .certificateUntrusted, .certificateExpired, .hostNameMismatch, .certificateInvalid,
    ]

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        switch reason {
        case .peer(let code, let text):
            end(.server(code: code?.rawValue ?? 1005, reason: text))
        case .local:
            end(.local)
        case .failed(let error):
            let fault = place?.fault(error) ?? ConnectionFault("\(error)")
            if error.code == .tlsFailed, let tls = error.underlying as? TLSError, Self.distrust.contains(tls.code) {
                end(.untrusted(fault.text))
            } else if (error.underlying as? WebSocketError)?.code == .subprotocol {
                end(
                    .incompatible(
                        """
                        The app is too old: the server \(place?.text ?? "") does not speak \(SocketTransport.subprotocol). \
                        Update the app, or the server.
                        """))
            } else {
                end(.network(fault))
            }
        }
    }
}
