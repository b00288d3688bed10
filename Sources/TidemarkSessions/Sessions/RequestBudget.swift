// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkFairness
internal import TidemarkService

/// The memory of all requests under way in one process, and who has how much of it.
///
/// A request counts from the moment when it has been read until it is answered, with what its values take in memory, and
/// 8 KiB for what answering it takes.
package final class RequestBudget: Sendable {
    /// Bytes of all requests under way.
    package let bytesMax: Int
    private let amounts: Mutex<FairAmounts>

    /// - Parameter bytesMax: bytes of all requests under way. An account may have a quarter of it, and all sessions
    ///   without a credential together an eighth.
    package init(bytesMax: Int = 134_217_728) {
        self.bytesMax = bytesMax
        amounts = Mutex(FairAmounts(amountMax: bytesMax))
    }

    /// Bytes of the requests that are under way now.
    package var bytesUnderWay: Int { amounts.withLock { $0.total } }

    func take(_ byteCount: Int, for owner: WorkOwner) -> FairAmounts.Answer {
        amounts.withLock { $0.take(byteCount, for: owner) }
    }

    func give(back byteCount: Int, of owner: WorkOwner) {
        amounts.withLock { $0.give(back: byteCount, of: owner) }
    }
}

/// Records that are told beside outcomes take at most half of what their owner may have. The other half is for requests.
extension RequestBudget: RecordsBudget {
    package func takeForRecords(_ byteCount: Int, of owner: WorkOwner) -> Bool {
        amounts.withLock { amounts in
            let room = amounts.take(byteCount, for: owner)
            if room == .tight { amounts.give(back: byteCount, of: owner) }
            return room == .ample
        }
    }

    package func giveBackForRecords(_ byteCount: Int, of owner: WorkOwner) { give(back: byteCount, of: owner) }
}

/// What one session has of the budget. It takes a block at a time, and the first bytes are free: a session with one or two small
/// requests never asks.
struct RequestLease {
    private static let freeBytes = 20_480
    private static let blockBytes = 65_536

    private(set) var byteCount = 0

    /// Whether there is room already for requests of so many bytes together.
    func covers(_ needed: Int) -> Bool { needed <= byteCount + Self.freeBytes }

    /// Makes room for requests of so many bytes together.
    mutating func cover(_ needed: Int, for owner: WorkOwner, in budget: RequestBudget) -> FairAmounts.Answer {
        guard !covers(needed) else { return .ample }
        let missing = needed - byteCount - Self.freeBytes
        let blocks = (missing + Self.blockBytes - 1) / Self.blockBytes * Self.blockBytes
        let room = budget.take(blocks, for: owner)
        if room != .none { byteCount += blocks }
        return room
    }

    /// Gives back what requests of so many bytes together do not need, but for a block. So a session with a stream of small
    /// requests asks now and then.
    mutating func shrink(to needed: Int, of owner: WorkOwner, in budget: RequestBudget) {
        let kept = needed <= Self.freeBytes ? 0 : min(byteCount, needed + Self.blockBytes)
        guard kept < byteCount else { return }
        budget.give(back: byteCount - kept, of: owner)
        byteCount = kept
    }
}
