// SPDX-License-Identifier: Apache-2.0

package import TidemarkWebSocket

/// A server's decision about a request.
package enum AcceptDecision {
    /// Sends this response; then the connection ends.
    case response(HTTPResponse)
    /// Upgrades the connection if the handshake is valid, otherwise responds with the fault. The handler is called only
    /// for a connection that was opened.
    case webSocket(ServerHandshake.Offer, any MessageHandler)
}
