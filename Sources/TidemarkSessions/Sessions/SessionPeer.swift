// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// The other end of a session: the sending side of a connection, or a queue in memory.
///
/// All calls are made on the session's scheduler. Nothing is sent after ``close(code:reason:)``.
package protocol SessionPeer: AnyObject, Sendable {
    /// Queues one binary message.
    func send(_ message: [UInt8])

    /// Queues a message for many peers.
    func send(_ message: SharedMessage)

    /// The host from which it connects, without a port, for the audit. Empty if that is not known.
    var host: String { get }

    /// The part of the network in which it is, as failed sign-ins are counted: an IPv4 address, or an IPv6 network
    /// (/64). Empty: not known, as behind a proxy.
    var network: String { get }

    /// Whether the other end may go on without a credential. False for a web page that the operator does not know.
    var mayBeNobody: Bool { get }

    /// Where the other end is, for the log. Nil: in this process.
    var address: String? { get }

    /// Bytes that are queued and that the other end has not taken yet.
    var queuedByteCount: Int { get }

    /// From now on a longer message closes the connection with 1009.
    func limitMessages(to byteCount: Int)

    /// Counts the connection among those of an account, or among those without a credential (nil; R-721).
    func takePlace(of account: AccountID?) -> SessionPlace

    /// Stops delivering messages. Those already on their way to ``Session/received(_:)`` may still arrive.
    func pauseReading()

    func resumeReading()

    /// Closes the connection with a WebSocket close code. Queued messages are sent before, if the other end takes them.
    func close(code: UInt16, reason: String)
}

extension SessionPeer {
    package var mayBeNobody: Bool { true }
    package var address: String? { nil }

    package var host: String { "" }

    package var network: String { "" }

    package func send(_ message: SharedMessage) {
        send(message.bytes)
    }

    /// Messages in memory are complete, so there is nothing to limit.
    package func limitMessages(to byteCount: Int) {}

    /// Queues in memory take no descriptors.
    package func takePlace(of account: AccountID?) -> SessionPlace { .taken }
}

/// Whether a connection may stay once it is known who it is.
package enum SessionPlace: Sendable, Equatable {
    case taken
    /// Its address has too many connections without a credential.
    case tooManyOfAddress
    /// The server has too many connections of its kind.
    case tooManyInAll
}
