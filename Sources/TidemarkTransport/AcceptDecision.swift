// SPDX-License-Identifier: Apache-2.0

package import TidemarkWebSocket

/// What a server does with a request.
package enum AcceptDecision {
    /// Sends this response; then the connection ends.
    case response(HTTPResponse)
    /// Upgrades the connection if the handshake is valid, otherwise responds with what is wrong. The handler is only
    /// told of a connection that was opened.
    case webSocket(ServerHandshake.Offer, any MessageHandler)
}
