// SPDX-License-Identifier: Apache-2.0

/// The other end of a session: a connection's sending side, or a queue in memory.
///
/// All calls come on the session's scheduler. After ``close(code:reason:)`` nothing more is sent.
package protocol SessionPeer: AnyObject, Sendable {
    /// Queues one binary message.
    func send(_ message: [UInt8])

    /// Queues a message that goes to many peers.
    func send(_ message: SharedMessage)

    /// Bytes that have been queued and not yet been taken by the other end.
    var queuedByteCount: Int { get }

    /// From now on longer messages end the connection with 1009.
    func limitMessages(to byteCount: Int)

    /// Stops handing over messages; those already on their way to ``Session/received(_:)`` may still come.
    func pauseReading()

    func resumeReading()

    /// Ends the connection with a WebSocket close code; queued messages are sent before, if the other end takes them.
    func close(code: UInt16, reason: String)
}

extension SessionPeer {
    package func send(_ message: SharedMessage) {
        send(message.bytes)
    }

    /// In memory nobody waits for the rest of a message.
    package func limitMessages(to byteCount: Int) {}
}
