// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The thread that starts PostgreSQL, waits for its end, and restarts it until it is told to stop.
///
/// It lives as long as PostgreSQL, because the kernel ends PostgreSQL when the *thread* that forked it ends.
final class PostgresKeeper: Sendable {
    struct State {
        /// The running process, or one that has ended and is not reaped yet, so that its ID is still reserved.
        var process: ChildProcess?
        /// How often it ended since it was last ready or ran for long.
        var failureCount = 0
        var isStopping = false
    }

    /// Starts the program; called on the keeper's thread.
    private let launch: @Sendable () throws(LocalPostgresError) -> ChildProcess
    /// Whether the program with that process ID was ready until it was killed; called on the keeper's thread.
    private let wasReady: @Sendable (Int32) -> Bool
    private let onEvent: @Sendable (LocalPostgres.Event) -> Void
    private let state = Mutex(State())
    /// `stop` writes to it, so that a wait between two starts ends at once.
    private let wakeUp: Pipe
    /// The thread closes its writing end when it ends.
    private let finished: Pipe

    /// The back-off between two starts, in milliseconds: it doubles from the first to the last value.
    private static let backOffMilliseconds: (first: Int32, last: Int32) = (50, 5000)
    /// A process that ran for this long did not fail at its start.
    private static let stableSeconds = 10.0

    init(
        launch: @escaping @Sendable () throws(LocalPostgresError) -> ChildProcess,
        wasReady: @escaping @Sendable (Int32) -> Bool,
        onEvent: @escaping @Sendable (LocalPostgres.Event) -> Void
    ) throws(LocalPostgresError) {
        self.launch = launch
        self.wasReady = wasReady
        self.onEvent = onEvent
        guard let wakeUp = Pipe(), let finished = Pipe() else {
            throw LocalPostgresError(.startFailed, "A pipe cannot be made.", detail: systemErrorText())
        }
        self.wakeUp = wakeUp
        self.finished = finished
        try startThread()
    }

    /// 0 while none runs.
    var processID: Int32 { state.withLock { $0.process?.id ?? 0 } }

    var failureCount: Int { state.withLock { $0.failureCount } }

    /// The server accepts connections. From now on it is restarted without an error when it ends.
    func markReady() {
        state.withLock { $0.failureCount = 0 }
    }

    /// Ends PostgreSQL with a fast shutdown, by force after `seconds`, and then the thread.
    func stop(seconds: Double) {
        state.withLock { $0.isStopping = true }
        wakeUp.writeByte()
        for (signal, patience) in [(SIGINT, seconds), (SIGQUIT, 5), (SIGKILL, 5)] {
            state.withLock { state in
                if let process = state.process { _ = kill(process.id, signal) }
            }
            if finished.waitForEnd(milliseconds: Int32(patience * 1000)) { return }
        }
    }

    private func startThread() throws(LocalPostgresError) {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self)
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let keeper = Unmanaged<PostgresKeeper>.fromOpaque(context).takeRetainedValue()
                keeper.run()
                return nil
            }, context.toOpaque())
        guard result == 0 else {
            context.release()
            throw LocalPostgresError(.startFailed, "A thread cannot be started.")
        }
        pthread_detach(thread)
    }

    private func run() {
        defer { finished.closeWritingEnd() }
        while !state.withLock({ $0.isStopping }) {
            runOnce()
            let pause: Int32 = state.withLock { state in
                state.isStopping ? 0 : Self.backOff(failureCount: state.failureCount)
            }
            if pause > 0 { wakeUp.waitForByte(milliseconds: pause) }
        }
    }

    private func runOnce() {
        let startTime = MonotonicTime.seconds
        do throws(LocalPostgresError) {
            let process = try launch()
            let isStopping = state.withLock { state in
                state.process = process
                return state.isStopping
            }
            if isStopping { kill(process.id, SIGINT) }
            onEvent(.started(processID: process.id))
            process.waitForEnd()
            let didStart = wasReady(process.id) || MonotonicTime.seconds - startTime > Self.stableSeconds
            let exit = state.withLock { state in
                state.process = nil
                if didStart { state.failureCount = 0 }
                state.failureCount += 1
                return process.reap()
            }
            onEvent(.ended(status: exit.status, signal: exit.signal))
        } catch {
            state.withLock { $0.failureCount += 1 }
            onEvent(.startFailed(error))
        }
    }

    private static func backOff(failureCount: Int) -> Int32 {
        min(backOffMilliseconds.first << Int32(min(max(failureCount - 1, 0), 10)), backOffMilliseconds.last)
    }
}
