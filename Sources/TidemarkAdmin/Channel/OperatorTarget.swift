// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTransport

/// The URL at which a server takes commands of operators.
struct OperatorURL: Sendable, Equatable {
    /// Where the channel is, if the URL names no path.
    private static let path = "/admin"

    let text: String
    let host: String
    let port: UInt16
    let path: String
    let isSecure: Bool

    /// Nil unless it is `wss://host:port`, or `ws://` for this machine.
    init?(_ text: String) {
        guard let parts = URLComponents(string: text), let host = parts.encodedHost, !host.isEmpty,
            parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil
        else { return nil }
        isSecure = parts.scheme == "wss"
        guard isSecure || parts.scheme == "ws" else { return nil }
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        // Whether `localhost` leads to this machine is seen when its addresses are known (R-740).
        let isHere = SocketAddress(numericHost: self.host, port: 0)?.isLoopback ?? (self.host == "localhost")
        guard isSecure || isHere else { return nil }
        guard let port = UInt16(exactly: parts.port ?? (isSecure ? 443 : 80)), port > 0 else { return nil }
        self.port = port
        path =
            parts.percentEncodedPath.isEmpty || parts.percentEncodedPath == "/" ? Self.path : parts.percentEncodedPath
        self.text = text
    }
}

/// A server that takes commands, and the credential of whoever gives them.
struct OperatorTarget: Sendable {
    let url: OperatorURL
    let credential: ChannelCredential
    let transport: TransportClient.Target

    /// - Parameters:
    ///   - variables: of the environment.
    ///   - credential: in the place of the context's.
    /// - Returns: nil if the target is a database.
    /// - Throws: ``AdminFailure`` if the URL or the authority's file cannot be used.
    init?(
        _ target: AdminTarget, variables: [String: String], credential given: ChannelCredential? = nil
    ) throws(AdminFailure) {
        guard case .server(let text, let own) = target.place else { return nil }
        let credential = given ?? ChannelCredential(own)
        guard let url = OperatorURL(text) else {
            throw AdminFailure(
                .usage, "The context \(target.context?.name ?? "") names no server: \(text). Add it again.")
        }
        let authority = target.context?.authorityFile ?? variables["TIDEMARK_CA"].flatMap { $0.isEmpty ? nil : $0 }
        var tls: TLSContext?
        if url.isSecure {
            do {
                tls = try TLSContext(client: .init(additionalRootsFile: authority))
            } catch {
                throw AdminFailure(
                    .refused, "The authority's file \(authority ?? "") cannot be used: \(error.debugDescription)")
            }
        }
        self.url = url
        self.credential = credential
        transport = TransportClient.Target(
            host: url.host, port: url.port, path: url.path, tls: tls, subprotocols: [credential.subprotocol])
    }
}
