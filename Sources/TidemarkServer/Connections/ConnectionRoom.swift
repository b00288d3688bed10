// SPDX-License-Identifier: Apache-2.0

/// How many connections a server can have with the descriptors of its process.
struct ConnectionRoom: Equatable {
    /// Fewer connections than this are probably a mistake in the limits of the system.
    static let smallMax = 1_000

    /// Descriptors that are kept for other things than connections.
    let reserve: Int
    let connectionsMax: Int
    /// Whether the descriptors leave fewer connections than an operator expects.
    let isSmall: Bool

    /// - Parameter wanted: connections that the configuration allows.
    init(descriptors: Int, wanted: Int, loopCount: Int, databaseConnections: Int, keepsAssets: Bool) {
        // Of each loop: its connections for reading and for queries, that which makes an index, and its own files.
        let perLoop = databaseConnections + 12 + (keepsAssets ? 256 : 0)
        reserve = 128 + loopCount * perLoop
        let possible = max(8, descriptors - reserve)
        connectionsMax = min(wanted, possible)
        isSmall = possible < min(wanted, Self.smallMax)
    }
}
