// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain

/// The memory of all requests under way in one process, and who has how much of it.
///
/// A request counts from the moment when it has been read until it is answered, with what its values take in memory.
package final class RequestBudget: Sendable {
    /// Bytes of all requests under way.
    package let bytesMax: Int
    private let shares: Mutex<RequestShares>

    /// - Parameter bytesMax: bytes of all requests under way. An account may have a quarter of it, and all sessions
    ///   without a credential together an eighth.
    package init(bytesMax: Int = 134_217_728) {
        self.bytesMax = bytesMax
        shares = Mutex(RequestShares(bytesMax: bytesMax))
    }

    /// Bytes of the requests that are under way now.
    package var bytesUnderWay: Int { shares.withLock { $0.total } }

    func take(_ byteCount: Int, for owner: RequestOwner) -> RequestRoom {
        shares.withLock { $0.take(byteCount, for: owner) }
    }

    func give(back byteCount: Int, of owner: RequestOwner) {
        shares.withLock { $0.give(back: byteCount, of: owner) }
    }
}

/// Who sends requests: an account, or all who have no credential.
enum RequestOwner: Hashable, Sendable {
    case account(AccountID)
    case nobody
}

/// Whether there is memory for a request.
enum RequestRoom: Sendable, Equatable {
    case ample
    /// It fits. Its connection sends nothing more until its requests are answered.
    case tight
    /// It does not fit, and nothing was taken.
    case none
}

/// Decides who may have how much. Nobody gets more than is then left for everybody else. So those who want most share it
/// evenly, and something is always left for others, however many they are.
struct RequestShares {
    private(set) var total = 0
    private var owners: [RequestOwner: Int] = [:]
    private let bytesMax: Int

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    subscript(owner: RequestOwner) -> Int { owners[owner] ?? 0 }

    /// What an owner may have at most, when nobody else has anything.
    func share(of owner: RequestOwner) -> Int { owner == .nobody ? bytesMax / 8 : bytesMax / 4 }

    mutating func take(_ byteCount: Int, for owner: RequestOwner) -> RequestRoom {
        let wanted = self[owner] + byteCount
        let most = min(share(of: owner), bytesMax - total - byteCount)
        guard wanted <= most else { return .none }
        total += byteCount
        owners[owner] = wanted
        return wanted <= most / 2 ? .ample : .tight
    }

    mutating func give(back byteCount: Int, of owner: RequestOwner) {
        total -= byteCount
        let left = self[owner] - byteCount
        owners[owner] = left > 0 ? left : nil
    }
}

/// What one session has of the budget. It takes a block at a time, and the first bytes are free: a session with small
/// requests never asks.
struct RequestLease {
    private static let freeBytes = 16_384
    private static let blockBytes = 65_536

    private(set) var byteCount = 0

    /// Makes room for requests of so many bytes together.
    mutating func cover(_ needed: Int, for owner: RequestOwner, in budget: RequestBudget) -> RequestRoom {
        guard needed > byteCount + Self.freeBytes else { return .ample }
        let missing = needed - byteCount - Self.freeBytes
        let blocks = (missing + Self.blockBytes - 1) / Self.blockBytes * Self.blockBytes
        let room = budget.take(blocks, for: owner)
        if room != .none { byteCount += blocks }
        return room
    }

    /// Gives back what requests of so many bytes together do not need.
    mutating func shrink(to needed: Int, of owner: RequestOwner, in budget: RequestBudget) {
        let kept = needed <= Self.freeBytes ? 0 : min(byteCount, needed)
        guard kept < byteCount else { return }
        budget.give(back: byteCount - kept, of: owner)
        byteCount = kept
    }
}
