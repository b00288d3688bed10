// SPDX-License-Identifier: Apache-2.0

/// Why a session ends, as a WebSocket close code and its reason (Envelope.proto lists our own codes).
package enum SessionClose: Sendable, Equatable {
    /// The server is stopping.
    case goingAway
    /// The server is stopping, and others or the same one take its devices at once.
    case restarting
    /// An operator deletes the container. A device that comes back is told what to do.
    case containerClosed
    /// A message could not be decoded as an envelope.
    case notAnEnvelope
    /// A request before `Hello` was answered, a second `Hello`, or an id that is in use.
    case misuse
    /// The credential is unknown, expired or has been revoked.
    case notAuthenticated
    /// `Hello` did not arrive in time, or the client did not read its answers in time.
    case tooSlow
    /// A session without a credential asked for nothing for long.
    case idle
    /// Too many requests despite back-pressure, or too many connections of one account or address.
    case tooMany
    /// The server has no place for another connection.
    case noPlace
    /// The store could not be reached for `Hello`.
    case tryAgainLater

    package var code: UInt16 {
        switch self {
        case .goingAway, .containerClosed: 1001
        case .notAnEnvelope: 1007
        // Service restart, of IANA's registry.
        case .restarting: 1012
        case .tryAgainLater, .noPlace: 1013
        case .misuse: 4400
        case .notAuthenticated: 4401
        case .tooSlow, .idle: 4408
        case .tooMany: 4429
        }
    }

    package var reason: String {
        switch self {
        case .goingAway: "server stops"
        case .restarting: "server restarts"
        case .containerClosed: "container closed"
        case .notAnEnvelope: "message is no envelope"
        case .tryAgainLater: "try again later"
        case .misuse: "protocol misuse"
        case .notAuthenticated: "credential not valid"
        case .tooSlow: "too slow"
        case .idle: "idle without a credential"
        case .noPlace: "too many connections"
        case .tooMany: "too many requests"
        }
    }
}
