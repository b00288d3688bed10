// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkSessions
internal import TidemarkSockets
internal import TidemarkTelemetry

/// Returns freed memory to the system when the server is idle. The C library keeps the memory of many large
/// requests, in holes between memory that is still in use.
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

    /// Takes a first sample. The memory of an idle process is the level to which it can return.
    func start() {
        guard !state.withLock({ $0.isStopped }) else { return }
        look()
        _ = scheduler.schedule(after: Self.interval) { [weak self] in self?.start() }
    }

    func stop() { state.withLock { $0.isStopped = true } }

    private func look() {
        guard let before = Heap.residentBytes else { return }
        let isIdle = budget.bytesUnderWay <= FreedMemoryRule.idleBytesMax
        let isDue = state.withLock { $0.rule.looked(resident: before, isIdle: isIdle, used: Heap.usedBytes) }
        guard isDue else { return }
        Heap.returnFreedMemory()
        let (after, used) = (Heap.residentBytes ?? before, Heap.usedBytes)
        state.withLock { $0.rule.returned(resident: after, used: used) }
        Self.log.debug(
            "freed memory returned",
            [
                "before_mebibytes": "\(before / 1_048_576)", "after_mebibytes": "\(after / 1_048_576)",
                "used_mebibytes": "\(used / 1_048_576)",
            ])
    }
}

/// When freed memory is returned. Much is free and still resident, and the process has been idle for two looks. So
/// memory does not go and come back between two requests.
///
/// NB: that the process has grown does not tell. While clients do not read, what they were answered is in use. It is
/// freed when they go, and the process does not grow then.
struct FreedMemoryRule {
    /// Less is not worth it.
    static let growthMin = 32 * 1_048_576
    /// Requests under way that take no more leave the process idle.
    static let idleBytesMax = 4 * 1_048_576

    /// The least that the process had.
    private var residentMin: Int?
    /// Memory that stays resident and is not in use: the program itself, and pages that are partly in use.
    private var rest: Int?
    private var wasIdle = false

    /// - Parameter used: bytes in use. They are asked for only if it matters, because counting them takes a while.
    /// - Returns: whether to return memory now.
    mutating func looked(resident: Int, isIdle: Bool, used: @autoclosure () -> Int) -> Bool {
        defer { wasIdle = isIdle }
        let rest = self.rest ?? resident - used()
        self.rest = rest
        let residentMin = min(self.residentMin ?? resident, resident)
        self.residentMin = residentMin
        guard isIdle, wasIdle, resident - residentMin >= Self.growthMin else { return false }
        let free = resident - used()
        self.rest = min(rest, free)
        return free - rest >= Self.growthMin
    }

    /// So much is left, and cannot be returned.
    mutating func returned(resident: Int, used: Int) { rest = resident - used }
}
