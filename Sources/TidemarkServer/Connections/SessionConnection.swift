// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkSessions
internal import TidemarkSockets
internal import TidemarkTransport
internal import TidemarkWebSocket

/// Connects a transport connection with its session. Loop-confined, as both are; Sendable only because a session may
/// hold it.
final class SessionConnection: MessageHandler, SessionPeer, @unchecked Sendable {
    private let hub: SessionHub
    private var connection: MessageConnection?
    private var session: Session?
    let mayBeNobody: Bool
    private let hasAddress: Bool

    /// - Parameters:
    ///   - mayBeNobody: as ``SessionPeer/mayBeNobody``.
    ///   - hasAddress: whether the other end has a separate address. False behind a proxy, whose address all
    ///     connections have.
    init(hub: SessionHub, mayBeNobody: Bool = true, hasAddress: Bool = false) {
        self.hub = hub
        self.mayBeNobody = mayBeNobody
        self.hasAddress = hasAddress
    }

    // MARK: MessageHandler

    func opened(_ connection: MessageConnection) {
        self.connection = connection
        session = hub.makeSession(peer: self)
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        guard kind == .binary else {
            return connection.close(.unsupportedData, reason: "binary messages only")
        }
        session?.received(payload.bytes)
    }

    func drained(_ connection: MessageConnection) {
        session?.drained()
    }

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        let session = session
        self.connection = nil
        self.session = nil
        session?.closed()
    }

    // MARK: SessionPeer

    func send(_ message: [UInt8]) {
        connection?.send(.binary, message)
    }

    func send(_ message: SharedMessage) {
        connection?.sendFrame(message.frame { FrameEncoder.frame(.binary, payload: $0) })
    }

    var address: String? { connection?.peerAddress?.description }

    var queuedByteCount: Int { connection?.queuedByteCount ?? 0 }

    var host: String { connection?.peerAddress?.host ?? "" }

    var network: String { hasAddress ? connection?.peerAddress.map { "\($0.block)" } ?? "" : "" }

    func limitMessages(to byteCount: Int) {
        connection?.limitMessages(to: byteCount)
    }

    func takePlace(of account: AccountID?) -> SessionPlace {
        switch connection?.settle(owner: account.map { UInt64(bitPattern: $0.rawValue) }) {
        case nil: .taken
        case .ofAddress?: .tooManyOfAddress
        case .ofServer?: .tooManyInAll
        }
    }

    func pauseReading() {
        connection?.pauseReading()
    }

    func resumeReading() {
        connection?.resumeReading()
    }

    func close(code: UInt16, reason: String) {
        connection?.close(CloseCode(rawValue: code), reason: reason)
    }
}
