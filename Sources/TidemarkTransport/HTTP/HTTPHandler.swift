// SPDX-License-Identifier: Apache-2.0

package import TidemarkHTTP
package import TidemarkSockets

/// The sender of a request.
package struct HTTPPeer: Sendable {
    package let address: SocketAddress
    /// Whether TLS protects the connection.
    package let isSecured: Bool
}

/// A request with its whole body.
package struct HTTPRequest: Sendable {
    package let head: RequestHead
    package let body: [UInt8]
    package let peer: HTTPPeer
}

/// A server's decision about a request whose head has arrived.
package enum HTTPDecision: Sendable {
    /// Answers at once. If the request has a body, it is not read, and the connection ends.
    case refuse(HTTPResponse)
    /// Reads the body, which may have this many bytes. A longer one is answered 413.
    case take(bodyBytesMax: Int)
}

/// The answer to a request.
package enum HTTPAnswer: Sendable {
    case whole(HTTPResponse)
    /// An answer that is made while it is sent. Without a length it goes in chunks. If `body` throws, the connection is cut,
    /// so that the client takes no part for the whole.
    case streamed(
        HTTPStatus, HeaderFields, length: Int? = nil, body: @Sendable (HTTPBodyWriter) async throws -> Void)
}

/// Answers the requests of an ``HTTPServer``.
///
/// Fields that say how long an answer is, when it was made and whether the connection goes on are the connection's.
package protocol HTTPHandler: AnyObject, Sendable {
    /// Decides on a request before its body is read. Called on the connection's loop.
    func decide(_ head: RequestHead, from peer: HTTPPeer) -> HTTPDecision

    /// Answers a request that was taken. It runs in a task on the connection's loop, which is cancelled when the connection
    /// ends.
    func answer(_ request: HTTPRequest) async -> HTTPAnswer
}

/// Sends the body of a streamed answer.
package final class HTTPBodyWriter: Sendable {
    private let connection: HTTPConnection
    /// The answer of its connection to which it belongs.
    private let number: Int

    init(_ connection: HTTPConnection, number: Int) {
        self.connection = connection
        self.number = number
    }

    /// Sends bytes. Returns when so few of them wait that more may be made: a slow reader slows the writer down.
    ///
    /// - Throws: `connectionLost` if the connection has ended, or the answer.
    package func write(_ bytes: [UInt8]) async throws(TransportError) {
        let error = await withCheckedContinuation { (written: CheckedContinuation<TransportError?, Never>) in
            connection.loop.execute { [self] in connection.write(bytes, ofAnswer: number, written) }
        }
        if let error { throw error }
    }
}
