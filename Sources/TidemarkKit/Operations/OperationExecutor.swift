// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// Runs an operation's work and its blocks on a separate serial queue.
///
/// It does not use the pool of Swift's tasks, which has only one thread for each core. Blocks may wait for other
/// CloudKit calls. They would occupy all threads, and the calls that they wait for would never proceed.
final class OperationExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "dev.tidemark.operation")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
