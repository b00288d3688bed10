// SPDX-License-Identifier: Apache-2.0

/// How many connections a server can have with the descriptors of its process.
struct ConnectionRoom: Equatable {
    /// Fewer connections than this are probably a mistake in the limits of the system.
    static let smallMax = 1_000

    /// Files of uploads that may be open: those of two threads.
    private static let uploadFilesMax = 512

    /// Descriptors that are kept for other things than connections.
    let reserve: Int
    let connectionsMax: Int
    /// Whether the descriptors leave fewer connections than an operator expects.
    let isSmall: Bool

    /// - Parameter wanted: connections that the configuration allows.
    init(
        descriptors: Int, wanted: Int, loopCount: Int, databaseConnections: Int, keepsAssets: Bool,
        takesCommands: Bool
    ) {
        // For each loop: its connections for writing, and twelve for reads, for queries and for reads of others' zones.
        // Uploads and operators are of the process.
        reserve =
            128 + loopCount * (databaseConnections + 12) + (keepsAssets ? Self.uploadFilesMax : 0)
            + (takesCommands ? OperatorListener.descriptorsMax : 0)
        let possible = max(8, descriptors - reserve)
        connectionsMax = min(wanted, possible)
        isSmall = possible < min(wanted, Self.smallMax)
    }
}
