// SPDX-License-Identifier: Apache-2.0

/// Divides an amount, such as bytes of memory, among owners, who take some and give it back. Nobody waits for it
///
///
/// It has two halves. The first half gives each owner a small part, which is enough for one large thing. The second
/// half is for owners that want more. An owner may never hold more of a half than is still free in it. So the owners
/// that want most have equal parts, and something is always left for the others.
package struct FairAmounts: Sendable {
    /// Whether an owner got what it wanted.
    package enum Answer: Sendable, Equatable {
        case ample
        /// It got it, and now has more than half of its share.
        case tight
        /// It got nothing.
        case none
    }

    /// The amount that all owners have together.
    package var total: Int { littleTotal + moreTotal }
    private var littleTotal = 0
    private var moreTotal = 0
    private var owners: [WorkOwner: Int] = [:]
    private let amountMax: Int

    /// - Parameter amountMax: what there is. An account may have a quarter of it, and nobody an eighth.
    package init(amountMax: Int) {
        self.amountMax = amountMax
    }

    /// The amount that an owner has.
    package subscript(owner: WorkOwner) -> Int { owners[owner] ?? 0 }

    /// The most that an owner may have when nobody else has anything.
    package func share(of owner: WorkOwner) -> Int { owner == .nobody ? amountMax / 8 : amountMax / 4 }

    /// The amount that counts as little.
    package var littleMax: Int { amountMax / 32 }

    private func little(_ amount: Int) -> Int { min(amount, littleMax) }
    private func more(_ amount: Int) -> Int { max(0, amount - littleMax) }

    package mutating func take(_ amount: Int, for owner: WorkOwner) -> Answer {
        let held = self[owner]
        let wanted = held + amount
        let (littleStep, moreStep) = (little(wanted) - little(held), more(wanted) - more(held))
        let half = amountMax / 2
        let moreMax = half - moreTotal - moreStep
        guard wanted <= share(of: owner), littleStep == 0 || little(wanted) <= half - littleTotal - littleStep,
            moreStep == 0 || more(wanted) <= moreMax
        else { return .none }
        littleTotal += littleStep
        moreTotal += moreStep
        owners[owner] = wanted
        return wanted <= share(of: owner) / 2 && more(wanted) <= moreMax / 2 ? .ample : .tight
    }

    package mutating func give(back amount: Int, of owner: WorkOwner) {
        let held = self[owner]
        let left = held - amount
        littleTotal -= little(held) - little(left)
        moreTotal -= more(held) - more(left)
        owners[owner] = left > 0 ? left : nil
    }
}
