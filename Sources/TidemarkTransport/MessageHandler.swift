// SPDX-License-Identifier: Apache-2.0

package import TidemarkWebSocket

/// Whoever a connection's messages are for. Called on the connection's loop only.
///
/// Order: ``opened(_:)`` once, then ``received(_:_:_:)`` and ``drained(_:)`` any number of times, then
/// ``closed(_:_:)`` once. A client's connection that cannot be opened is told by ``closed(_:_:)`` alone.
package protocol MessageHandler: AnyObject {
    /// The handshake is done; messages may be sent.
    func opened(_ connection: MessageConnection)

    /// A message. The payload may be lent: what is kept longer than this call is copied (``MessagePayload/bytes``).
    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload)

    /// After more than ``TransportLimits/queuedBytesLow`` had to wait, no more than that waits now.
    func drained(_ connection: MessageConnection)

    /// Exactly once, and the last call. Nothing that was sent but not delivered is delivered any more.
    func closed(_ connection: MessageConnection, _ reason: CloseReason)
}

extension MessageHandler {
    package func opened(_ connection: MessageConnection) {}
    package func drained(_ connection: MessageConnection) {}
}
