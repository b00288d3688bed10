// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization
internal import TidemarkAdmin

/// One line of a console while it is carried out. It ends by itself, or because the operator abandons it.
///
/// It has a thread of its own. A command that waits in the kernel, as for a disk that is gone, holds that thread alone.
final class CommandRun: Sendable {
    private struct State {
        var outcome: ConsoleSession.Outcome?
        var isAbandoned = false
    }

    private let terminal: CommandTerminal
    private let state = Mutex(State())
    private let hasNews = DispatchSemaphore(value: 0)
    private let task = Mutex<Task<Void, Never>?>(nil)
    private let thread = CommandThread()

    /// How long an abandoned command may take to end. Then its connection is closed.
    private static let endMilliseconds = 500

    init(_ words: [String], in session: ConsoleSession, on terminal: CommandTerminal) {
        self.terminal = terminal
        let task = Task.detached(executorPreference: thread) { [self] in
            let outcome = await session.perform(words, on: terminal)
            state.withLock { $0.outcome = outcome }
            hasNews.signal()
        }
        self.task.withLock { $0 = task }
    }

    /// Takes the command back. From now on it says nothing. From any thread.
    func abandon() {
        state.withLock { $0.isAbandoned = true }
        terminal.abandon()
        task.withLock { $0?.cancel() }
        hasNews.signal()
    }

    /// Blocks the calling thread.
    ///
    /// - Returns: the outcome is nil if the command was abandoned and has not ended.
    func wait() -> (outcome: ConsoleSession.Outcome?, isAbandoned: Bool) {
        hasNews.wait()
        let now = state.withLock { $0 }
        guard now.isAbandoned, now.outcome == nil else { return (now.outcome, now.isAbandoned) }
        _ = hasNews.wait(timeout: .now() + .milliseconds(Self.endMilliseconds))
        return (state.withLock { $0.outcome }, true)
    }

    /// Blocks the calling thread until an abandoned command has ended.
    func waitForEnd() {
        while state.withLock({ $0.outcome == nil }) { hasNews.wait() }
    }
}

/// The thread of one command.
private final class CommandThread: TaskExecutor {
    private let queue = DispatchQueue(label: "tidemark.command")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
