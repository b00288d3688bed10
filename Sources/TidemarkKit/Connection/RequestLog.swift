// SPDX-License-Identifier: Apache-2.0

internal import TidemarkScheduling
internal import TidemarkTelemetry
internal import TidemarkWire

/// The lines about requests in an app's log, at debug.
enum RequestLog {
    private static let log = Log("requests")

    static func ended(
        _ mark: RequestMark, _ result: Result<WireServerEnvelope, ConnectionMachine.RequestFailure>,
        since start: Duration, on clock: any Scheduler
    ) {
        // Without a kind it was never sent: another line, or the error, says why.
        guard let kind = mark.kind, log.writes(.debug) else { return }
        let time = clock.now - start
        log.debug(
            "request",
            [
                "request": mark.uuid.map { "\($0)" } ?? "none", "kind": kind.name, "result": word(for: result),
                "milliseconds": "\(Int(time / .milliseconds(1)))",
            ])
    }

    private static func word(for result: Result<WireServerEnvelope, ConnectionMachine.RequestFailure>) -> String {
        switch result {
        case .success(let envelope):
            if case .failure(let failure) = envelope.answer { "\(CKError.Code(failure.code))" } else { "ok" }
        case .failure(let failure): "\(failure.code)"
        }
    }
}
