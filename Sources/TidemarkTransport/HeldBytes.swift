// SPDX-License-Identifier: Apache-2.0

internal import TidemarkSockets
internal import TidemarkTelemetry
internal import TidemarkWebSocket

/// The memory that connections on one loop hold for their peers, by owner. It is for messages that have arrived
/// in part, and for output that was not taken so far.
///
/// A peer that announces a long message, and never ends it, holds memory for as long as it sends a little. So does one
/// that asks for much and does not read. One connection has its own bounds; many connections of one owner have this
/// one.
struct HeldBytes {
    private let bytesMax: Int
    private(set) var total = 0
    private var owners: [UInt64: Int] = [:]

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    /// A connection of this owner holds more bytes, or fewer.
    ///
    /// - Returns: the owner who must give way if all together hold too much: the one who holds most.
    mutating func change(_ owner: UInt64, by byteCount: Int) -> UInt64? {
        total += byteCount
        let held = (owners[owner] ?? 0) + byteCount
        owners[owner] = held > 0 ? held : nil
        guard total > bytesMax else { return nil }
        return owners.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
    }
}

extension ConnectionGroup {
    /// Bytes of one connection that do not count: most messages arrive in one piece or two, and most go at once.
    private static let freeBytes = 4_096

    /// The connection holds this many bytes of a message that has not ended.
    func holds(_ connection: MessageConnection, _ byteCount: Int) {
        let counted = byteCount > Self.freeBytes ? byteCount : 0
        let change = counted - connection.unfinishedBytes
        guard change != 0 else { return }
        connection.unfinishedBytes = counted
        guard let owner = unfinished.change(connection.owner, by: change) else { return }
        let largest = connections.filter { $0.owner == owner }.max { $0.unfinishedBytes < $1.unfinishedBytes }
        largest?.giveUpMessage()
    }

    /// Output that waits until the connection's peer takes it has so much memory. A small amount counts only if the
    /// peer does not take it at once.
    func queues(_ connection: MessageConnection, _ memory: Int) {
        let counted = memory > (connection.outgoing.isBlocked ? Self.freeBytes : limits.queuedBytesLow) ? memory : 0
        let change = counted - connection.unsentBytes
        guard change != 0 else { return }
        connection.unsentBytes = counted
        guard let owner = unsent.change(connection.owner, by: change) else { return }
        let largest = connections.filter { $0.owner == owner }.max { $0.unsentBytes < $1.unsentBytes }
        largest?.giveUpSending()
    }
}

extension MessageConnection {
    /// Others need the memory of what its peer does not take.
    func giveUpSending() {
        guard phase != .ended else { return }
        TransportMetrics.shared.crowdedOut.increment()
        socket?.discardOnClose()
        fail(.queueOverflow)
    }

    /// Others need the memory of its unfinished message. The peer is told to send it again later.
    func giveUpMessage() {
        guard phase == .open || phase == .closing else { return }
        TransportMetrics.shared.crowdedOut.increment()
        if phase == .open { queueClose(.tryAgainLater, reason: "too many unfinished messages") }
        report(.failed(TransportError(.crowdedOut)))
        linger()
    }
}
