// SPDX-License-Identifier: Apache-2.0

package import TidemarkSockets

/// Looks up a host's addresses: ``Resolver/resolve(host:port:completion:)``, unless a test has its own.
package typealias HostLookUp =
    @Sendable (
        _ host: String, _ port: UInt16, _ completion: @escaping @Sendable (Result<[SocketAddress], SocketError>) -> Void
    ) -> Void

/// The addresses of a host, tried one after the other. Each has its part of the time, so that an address without an answer leaves time for
/// the others (RFC 8305 §5 has the same purpose). Nothing is shared here between owners: one connection tries each address once, so no
/// queue of TidemarkFairness has a part in it.
struct AddressTurns {
    /// In reverse order.
    private var left: [SocketAddress] = []
    private var deadline = Duration.zero
    /// How long an address is tried while there are others.
    private var patience = Duration.zero
    /// Counts turns, so that a timer of an earlier turn is recognized.
    private(set) var number = 0

    /// - Parameters:
    ///   - deadline: by the loop's clock: when all must have ended.
    ///   - patience: the most that an address gets while there are others.
    init(_ addresses: [SocketAddress] = [], deadline: Duration = .zero, patience: Duration = .zero) {
        left = addresses.reversed()
        self.deadline = deadline
        self.patience = patience
    }

    /// - Returns: the next address, and for how long it is tried. Nil for the last one: it has all the time that is left.
    mutating func next(at now: Duration) -> (address: SocketAddress, time: Duration?)? {
        let count = left.count
        guard let address = left.popLast() else { return nil }
        number += 1
        return (address, count == 1 ? nil : min(patience, max(.zero, deadline - now) / count))
    }
}
