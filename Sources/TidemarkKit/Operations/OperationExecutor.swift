// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Where an operation's work goes on and its blocks are called: a serial queue of its own.
///
/// Not the pool of Swift's tasks, which has a thread a core and no more: blocks that wait for other CloudKit calls, as blocks
/// may, would take all of them, and what they wait for would never get on.
final class OperationExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "dev.tidemark.operation")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
