// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTelemetry

/// Samples at intervals the kernel's data of the process, and slowly changing values. A scrape gets the last sample.
///
/// It runs on a separate thread: counting very many descriptors takes milliseconds, and a disk may be slow to answer.
final class ProcessSampler: Sendable {
    /// Prometheus scrapes every 15 seconds by default.
    private static let interval = Duration.seconds(10)
    /// Nearly the time when the process began: the first server looks at once.
    private static let startTime = time(nil)

    private let scheduler: any Scheduler
    private let tls: TLSContext?
    private let assetDirectory: String?
    private let isStopped = Mutex(false)

    init(scheduler: any Scheduler, tls: TLSContext?, assetDirectory: String?) {
        self.scheduler = scheduler
        self.tls = tls
        self.assetDirectory = assetDirectory
    }

    /// Looks once before this returns, then at intervals until ``stop()``.
    func start() {
        look()
        lookLater()
    }

    func stop() { isStopped.withLock { $0 = true } }

    private func lookLater() {
        guard !isStopped.withLock({ $0 }) else { return }
        _ = scheduler.schedule(after: Self.interval) { [weak self] in
            guard let self else { return }
            Task(executorPreference: globalConcurrentExecutor) {
                // The next look is not before this one has ended.
                self.look()
                self.lookLater()
            }
        }
    }

    private func look() {
        let metrics = ServerMetrics.shared
        metrics.startTime.set(Self.startTime)
        metrics.certificateEnd.set(Int(tls?.certificateEnd ?? 0))
        metrics.descriptorsMax.set(DescriptorLimit.current)
        if let count = DescriptorLimit.openCount { metrics.openDescriptors.set(count) }
        if let bytes = Heap.residentBytes { metrics.residentMemory.set(bytes) }
        var worked = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &worked)
        metrics.processorTime.advance(to: .seconds(worked.tv_sec) + .nanoseconds(worked.tv_nsec))
        if let assetDirectory { look(atDiskOf: assetDirectory) }
    }

    private func look(atDiskOf path: String) {
        var disk = statvfs()
        guard statvfs(path, &disk) == 0 else { return }
        let block = Int(clamping: disk.f_frsize)
        ServerMetrics.shared.assetDiskFree.set(Int(clamping: disk.f_bavail) * block)
        ServerMetrics.shared.assetDiskSize.set(Int(clamping: disk.f_blocks) * block)
    }
}
