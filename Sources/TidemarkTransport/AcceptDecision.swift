// SPDX-License-Identifier: Apache-2.0

package import TidemarkWebSocket

/// What a server does with a request.
package enum AcceptDecision {
    /// Answers it, and the connection ends.
    case response(HTTPResponse)
    /// Upgrades it if it is a proper handshake, else answers it with what is wrong. The handler hears only of a
    /// connection that was opened.
    case webSocket(ServerHandshake.Offer, any MessageHandler)
}
