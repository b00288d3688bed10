// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkBytes
internal import TidemarkHTTP
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTransport

/// Fetches an issuer's keys, by HTTPS or from a file. One at a time, on the loop.
final class KeySetFetch: Sendable {
    /// The reason why there are no keys. The text is for the log. It says what to check, and has no part of the answer.
    struct Failure: Error {
        let text: String
    }

    struct Keys: Sendable {
        let set: JSONWebKeySet
        /// How long they may be kept. Nil: the issuer does not say.
        let freshFor: Duration?
    }

    private let issuer: Issuer
    private let tls: TLSContext?
    private let loop: EventLoop
    /// The client of the request under way.
    private let client = Mutex<HTTPClient?>(nil)

    /// - Parameter tls: nil: for addresses of this machine alone.
    init(issuer: Issuer, tls: TLSContext?, loop: EventLoop) {
        self.issuer = issuer
        self.tls = tls
        self.loop = loop
    }

    /// Ends the request under way, if there is one. On the loop.
    func cancel() { client.withLock { $0 }?.close() }

    /// The time for one request. A fetch has at most two.
    private static let deadline = Duration.seconds(5)

    func run() async throws(Failure) -> Keys {
        switch issuer.keys {
        case .file(let path):
            guard let bytes = SmallFile.read(path, bytesMax: JSONWebKeySet.bytesMax) else {
                throw Failure(text: "the file of keys cannot be read: \(path)")
            }
            return Keys(set: try set(bytes), freshFor: KeySetMachine.freshMin)
        case .url(let address): return try await keys(at: address)
        case .discovered(let address): return try await keys(at: try await discover(address))
        }
    }

    /// OpenID Connect Discovery §4.3: the description must name the issuer that was asked. Otherwise one provider could
    /// speak for another.
    private func discover(_ address: HTTPAddress) async throws(Failure) -> HTTPAddress {
        let response = try await get(address)
        guard let object = (try? JSONReader.read(response.body))?.object else {
            throw Failure(text: "the description is no JSON object: \(address)")
        }
        guard let name = object["issuer"]?.text, TokenRules.isSame(name, issuer.name) else {
            throw Failure(text: "the description is of another issuer: \(address)")
        }
        guard let text = object["jwks_uri"]?.text, let keys = Self.addressOfKeys(text, namedAt: address) else {
            throw Failure(text: "the description names no https jwks_uri: \(address)")
        }
        return keys
    }

    /// A description that came by `https` must not lead to `http`, not even on this machine: anybody here may listen there.
    static func addressOfKeys(_ text: String, namedAt description: HTTPAddress) -> HTTPAddress? {
        guard let keys = try? HTTPAddress(text), keys.isSecured || !description.isSecured else { return nil }
        return keys
    }

    private func keys(at address: HTTPAddress) async throws(Failure) -> Keys {
        let response = try await get(address)
        return Keys(set: try set(response.body), freshFor: Self.maxAge(response.head.fields))
    }

    private func set(_ bytes: [UInt8]) throws(Failure) -> JSONWebKeySet {
        do {
            return try JSONWebKeySet(bytes)
        } catch {
            throw Failure(text: error.rawValue)
        }
    }

    private func get(_ address: HTTPAddress) async throws(Failure) -> WholeResponse {
        if address.isSecured, tls == nil { throw Failure(text: "TLS cannot be used") }
        var limits = HTTPClientLimits()
        limits.deadline = Self.deadline
        limits.bodyBytesMax = JSONWebKeySet.bytesMax
        let target = HTTPClient.Target(
            host: address.host, port: address.port, tls: address.isSecured ? tls : nil)
        let client = HTTPClient(on: loop, target: target, limits: limits)
        self.client.withLock { $0 = client }
        defer {
            self.client.withLock { $0 = nil }
            client.close()
        }
        let response: WholeResponse
        do throws(TransportError) {
            response = try await client.get(
                address.path, fields: HeaderFields([("Accept", "application/json"), ("Connection", "close")]))
        } catch {
            throw Failure(text: "\(address) cannot be reached: \(error.code.rawValue)")
        }
        guard response.head.status.code == 200 else {
            throw Failure(text: "\(address) answers \(response.head.status.code)")
        }
        return response
    }

    /// RFC 9111 §5.2.2: `no-store` and `no-cache` count as 0. Nil: not said.
    static func maxAge(_ fields: HeaderFields) -> Duration? {
        let directives = fields.values("Cache-Control").flatMap { $0.split(separator: ",") }
        for directive in directives {
            let name = HeaderFields.trimmed(directive).lowercased()
            if name == "no-store" || name == "no-cache" { return .zero }
            if name.hasPrefix("max-age="), let seconds = Int64(name.dropFirst("max-age=".count)), seconds >= 0 {
                return .seconds(min(seconds, 31_536_000))
            }
        }
        return nil
    }
}
