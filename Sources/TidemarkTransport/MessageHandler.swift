// SPDX-License-Identifier: Apache-2.0

package import TidemarkWebSocket

/// Receives the events of a connection, on its loop only.
///
/// Order: ``opened(_:)`` once, then ``received(_:_:_:)`` and ``drained(_:)`` any number of times, then ``closed(_:_:)``
/// once. If a client's connection cannot be opened, only ``closed(_:_:)`` is called.
package protocol MessageHandler: AnyObject {
    /// The handshake is done; messages may be sent.
    func opened(_ connection: MessageConnection)

    /// A message has arrived. The payload may be borrowed: copy what you keep longer than this call
    /// (``MessagePayload/bytes``).
    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload)

    /// More than ``TransportLimits/queuedBytesLow`` was waiting, and no longer is.
    func drained(_ connection: MessageConnection)

    /// Bytes of a long message have moved, in either direction, as on a slow network. Called for clients, at most once
    /// in a check of the deadlines.
    func progressed(_ connection: MessageConnection)

    /// The connection has ended. Called exactly once, as the last call. Messages that were not delivered will not be.
    func closed(_ connection: MessageConnection, _ reason: CloseReason)
}

extension MessageHandler {
    package func opened(_ connection: MessageConnection) {}
    package func drained(_ connection: MessageConnection) {}
    package func progressed(_ connection: MessageConnection) {}
}
