// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTelemetry

/// Tells a supervisor such as systemd when the server serves, reads its configuration again and stops, and that its event
/// loops work. From any thread.
///
/// It has a separate thread: a loop that is held must not stop these messages.
package final class Supervisor: Sendable {
    private struct State {
        var loops: [EventLoop] = []
        var pulses = LoopPulses(count: 0)
        var status: @Sendable () -> String = { "" }
        var isStopping = false
        /// Whether the supervisor waits for a sign of life.
        var isOverdue = false
    }

    private enum Stage {
        case starting
        case serving
        case stopping
    }

    private static let stopTime = Duration.seconds(60)

    private let sender: DatagramSender
    private let watchdogTime: Duration?
    private let thread: EventLoop
    private let state = Mutex(State())
    /// The stage that was reported last. The lock is held during the report, so that reports keep their order.
    private let stage = Mutex(Stage.starting)
    private static let log = Log("operations")

    /// Nil if no supervisor asks for messages.
    ///
    /// - Throws: ``ServerError`` with `resourcesExhausted`.
    package convenience init?(variables: [String: String], processID: Int32) throws(ServerError) {
        guard let settings = SupervisorSettings(variables: variables, processID: processID) else { return nil }
        try self.init(settings)
    }

    /// Nil if its socket has no form that is known here.
    init?(_ settings: SupervisorSettings) throws(ServerError) {
        do {
            sender = try DatagramSender(to: settings.socket)
            thread = try EventLoop(name: "tidemark-watch")
        } catch {
            guard error.code == .addressInvalid else {
                throw ServerError(.resourcesExhausted, detail: "\(error)", underlying: error)
            }
            Self.log.warning("the supervisor's socket cannot be used", ["socket": settings.socket])
            return nil
        }
        watchdogTime = settings.watchdogTime
    }

    /// The server serves: all its addresses take connections. From now on its loops are asked whether they work, if the
    /// supervisor wants to know. Only the first call counts, and none after ``stop(drainTime:)``.
    ///
    /// - Parameter status: what operators see of the server.
    func serve(on loops: [EventLoop], status: @escaping @Sendable () -> String) {
        state.withLock { state in
            guard state.loops.isEmpty else { return }
            (state.loops, state.pulses, state.status) = (loops, LoopPulses(count: loops.count), status)
        }
        let isFirst = stage.withLock { stage in
            guard stage == .starting else { return false }
            stage = .serving
            tell(.ready, status: status())
            return true
        }
        if isFirst, let watchdogTime { watch(every: watchdogTime / 2) }
    }

    /// Reports that the configuration is being read again, and the end of that, whether it worked or not. Nothing is reported before the
    /// server serves: `READY=1` would say that it does. Nor is it reported when the server stops.
    package func reload(_ body: () -> Void) {
        let isTold = tellWhileServing(.reloading(at: thread.now))
        body()
        if isTold { _ = tellWhileServing(.ready) }
    }

    /// - Returns: whether the server serves.
    private func tellWhileServing(_ message: SupervisorMessage) -> Bool {
        stage.withLock { stage in
            if stage == .serving { tell(message) }
            return stage == .serving
        }
    }

    /// The server will end. From now on the supervisor's time for that is the only bound.
    ///
    /// - Parameter drainTime: how long it serves on. The supervisor waits for that, and a minute for the stop itself.
    package func stop(drainTime: Duration = .zero) {
        state.withLock { $0.isStopping = true }
        stage.withLock { stage in
            stage = .stopping
            tell(.stopping(within: drainTime + Self.stopTime), status: "Stopping.")
        }
    }

    private func watch(every interval: Duration) {
        _ = thread.schedule(after: interval) { [weak self] in
            guard let self else { return }
            look()
            watch(every: interval)
        }
    }

    /// Tells the supervisor that all is well, if it is, and asks the loops for the next time.
    func look() {
        let (isAlive, isStopping, loops, round, silent, status) = state.withLock { state in
            let silent = state.pulses.silent
            let isAlive = state.isStopping || state.pulses.look()
            state.isOverdue = !isAlive
            return (isAlive, state.isStopping, state.loops, state.pulses.round, silent, state.status)
        }
        guard isAlive else {
            let names = silent.map { loops[$0].name }.joined(separator: ",")
            return Self.log.error(
                "an event loop does not work: the supervisor is not told that all is well", ["loops": names])
        }
        tell(.alive, status: isStopping ? nil : status())
        guard !isStopping else { return }
        for (number, loop) in loops.enumerated() {
            loop.execute { [weak self] in self?.hear(loop: number, round: round) }
        }
    }

    /// An answer of a loop. If it is late, the supervisor hears at once: its patience may end before the next look.
    private func hear(loop: Int, round: UInt64) {
        let isAwaited = state.withLock { state in
            state.pulses.answer(of: loop, round: round)
            guard state.isOverdue, state.pulses.silent.isEmpty else { return false }
            state.isOverdue = false
            return true
        }
        if isAwaited { thread.execute { [weak self] in self?.look() } }
    }

    private func tell(_ message: SupervisorMessage, status: String? = nil) {
        do {
            try sender.send(message.text(status: status))
        } catch {
            FailureLog.shared.note(
                .warning, "the supervisor was not told", cause: error.description, [:], request: nil)
        }
    }

    deinit { thread.stop() }
}
