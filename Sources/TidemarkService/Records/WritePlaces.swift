// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness

/// The transactions that are under way on an event loop, and the owners that may have one more.
///
/// There are as many places as `WriteSettings.transactionsMax`, and an account may have all of them. One more is spare.
/// It is for an owner that has none while another has half of them, so nobody waits for transactions that take long.
struct WritePlaces {
    /// The owner whose turn it was, for each transaction. There are few, so they are searched one by one.
    private var owners: [WorkOwner] = []

    var count: Int { owners.count }

    /// - Parameters:
    ///   - workerCount: workers with or without a transaction.
    ///   - countMax: places without the spare one.
    func isOneFree(for owner: WorkOwner, besides workerCount: Int, of countMax: Int) -> Bool {
        workerCount < countMax || isSpareOpen(besides: workerCount, of: countMax) && held(by: owner) == 0
    }

    /// Whether there is an owner who may have one more.
    func isOneFree(in ready: FairTurns<WorkOwner, ZoneKey>, besides workerCount: Int, of countMax: Int) -> Bool {
        if workerCount < countMax { return !ready.isEmpty }
        return isSpareOpen(besides: workerCount, of: countMax) && ready.hasOwner { held(by: $0) == 0 }
    }

    /// A worker that has no transaction does other work for the owner that it had last.
    private func isSpareOpen(besides workerCount: Int, of countMax: Int) -> Bool {
        workerCount == countMax && (count < countMax || owners.contains { held(by: $0) * 2 >= countMax })
    }

    mutating func take(for owner: WorkOwner) { owners.append(owner) }

    mutating func giveBack(of owner: WorkOwner) {
        guard let index = owners.firstIndex(of: owner) else { preconditionFailure("A place is given back once.") }
        owners.swapAt(index, owners.count - 1)
        owners.removeLast()
    }

    private func held(by owner: WorkOwner) -> Int { owners.count { $0 == owner } }
}
