// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkSessions
internal import TidemarkSockets
internal import TidemarkTelemetry

/// Returns freed memory to the system when the server is idle. The C library keeps what many large requests
/// took, in holes between what is still in use.
final class FreedMemory: Sendable {
    /// How often it looks.
    private static let interval = Duration.seconds(5)
    private static let log = Log("memory")

    private let scheduler: any Scheduler
    private let budget: RequestBudget
    private let state = Mutex((rule: FreedMemoryRule(), isStopped: false))

    init(scheduler: any Scheduler, budget: RequestBudget) {
        self.scheduler = scheduler
        self.budget = budget
    }

    func start() {
        _ = scheduler.schedule(after: Self.interval) { [weak self] in
            guard let self, !state.withLock({ $0.isStopped }) else { return }
            look()
            start()
        }
    }

    func stop() { state.withLock { $0.isStopped = true } }

    private func look() {
        guard let before = Heap.residentBytes else { return }
        let isIdle = budget.bytesUnderWay == 0
        guard state.withLock({ $0.rule.looked(resident: before, isIdle: isIdle) }) else { return }
        Heap.returnFreedMemory()
        let after = Heap.residentBytes ?? before
        state.withLock { $0.rule.returned(resident: after) }
        Self.log.debug(
            "freed memory returned",
            ["before_mebibytes": "\(before / 1_048_576)", "after_mebibytes": "\(after / 1_048_576)"])
    }
}

/// When freed memory is returned. The process has grown by much since it was done last, and has been idle for two
/// looks. So memory does not go and come back between two requests.
struct FreedMemoryRule {
    /// Less is not worth it.
    static let growthMin = 32 * 1_048_576

    private var base: Int?
    private var wasIdle = false

    /// - Returns: whether to return memory now.
    mutating func looked(resident: Int, isIdle: Bool) -> Bool {
        defer { wasIdle = isIdle }
        let base = min(self.base ?? resident, resident)
        self.base = base
        return isIdle && wasIdle && resident - base >= Self.growthMin
    }

    /// So much is left. It is in use, and the process must grow again before there is something to return.
    mutating func returned(resident: Int) { base = resident }
}
