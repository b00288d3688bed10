// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkEpoll
internal import Glibc

/// Resolves host names to addresses.
///
/// `getaddrinfo` blocks, for many seconds if no name server answers. So it never runs on an event loop: each lookup of
/// a name has its own thread. Only names that an operator or an app configured are looked up, never what a peer sent.
package enum Resolver {
    /// All addresses of a host, in the order in which they should be tried (RFC 6724).
    ///
    /// - Parameter completion: For a numeric address, runs at once on the caller's thread. Otherwise runs on a helper
    ///   thread, and should continue on its loop with ``EventLoop/execute(_:)``. The list is never empty.
    package static func resolve(
        host: String, port: UInt16,
        completion: @escaping @Sendable (Result<[SocketAddress], SocketError>) -> Void
    ) {
        if let address = SocketAddress(numericHost: host, port: port) { return completion(.success([address])) }
        guard !host.isEmpty, !host.utf8.contains(0) else {
            return completion(.failure(SocketError(.addressInvalid, operation: "getaddrinfo")))
        }
        do throws(SocketError) {
            let thread = try LoopThread.start(name: "resolver") { completion(lookUp(host, port)) }
            pthread_detach(thread)
        } catch {
            completion(.failure(error))
        }
    }

    private static func lookUp(_ host: String, _ port: UInt16) -> Result<[SocketAddress], SocketError> {
        var found: UnsafeMutablePointer<addrinfo>?
        let status = tidemark_lookup_numeric_service(host, String(port), &found)
        guard status == 0 else { return .failure(error(of: status)) }
        defer { freeaddrinfo(found) }
        var addresses: [SocketAddress] = []
        var next = found
        while let entry = next?.pointee {
            if let raw = entry.ai_addr, let address = SocketAddress(raw, length: entry.ai_addrlen),
                !addresses.contains(address)
            {
                addresses.append(address)
            }
            next = entry.ai_next
        }
        return addresses.isEmpty ? .failure(error(of: EAI_NONAME)) : .success(addresses)
    }

    private static func error(of status: Int32) -> SocketError {
        switch status {
        case EAI_AGAIN, EAI_FAIL, EAI_SYSTEM: SocketError(.nameLookupFailed, operation: "getaddrinfo")
        case EAI_MEMORY: SocketError(.resourcesExhausted, operation: "getaddrinfo")
        default: SocketError(.nameNotFound, operation: "getaddrinfo")
        }
    }
}
