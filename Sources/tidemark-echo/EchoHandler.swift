// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTransport
internal import TidemarkWebSocket

/// Sends every message back. It stops reading while its peer does not read.
final class EchoHandler: MessageHandler {
    private let onClose: () -> Void

    init(onClose: @escaping () -> Void = {}) {
        self.onClose = onClose
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        payload.withUnsafeBytes { connection.send(kind, $0) }
        if connection.queuedByteCount > EchoService.limits.queuedBytesLow { connection.pauseReading() }
    }

    func drained(_ connection: MessageConnection) {
        connection.resumeReading()
    }

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        onClose()
    }
}
