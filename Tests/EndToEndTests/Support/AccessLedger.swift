// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Synchronization
import TidemarkDomain
import TidemarkWire

/// When a guest had access to one zone, and the answers to what the guest asked meanwhile about its records. It holds each
/// to what *revoked* means (`docs/sharing.md`):
///
/// - An answer to a request that was sent after a removal was acknowledged has nothing of the zone.
/// - No other answer has a change that is past the access that it was given under.
///
/// Pushes to shared databases have no content, so there is nothing in them to look at here.
final class AccessLedger: Sendable {
    /// What is known when a request is sent.
    struct Moment: Sendable {
        /// How often access was given by then, or was about to be.
        let begunCount: Int
        /// How often it was taken away by then, and that was acknowledged.
        let endedCount: Int
    }

    private struct Receipt {
        let sent: Moment
        let begunCount: Int
        /// Of the changes that came along.
        let numbers: [ChangeNumber]
        let what: String
    }

    private struct State {
        var begunCount = 0
        /// The numbers of the changes that took access away.
        var ends: [ChangeNumber] = []
        var receipts: [Receipt] = []
        var unreadableCount = 0
    }

    private let state = Mutex(State())

    /// Access is about to be given. From here on it may be there.
    func begins() {
        state.withLock { $0.begunCount += 1 }
    }

    /// Its end was acknowledged.
    func ended(at number: ChangeNumber) {
        state.withLock { $0.ends.append(number) }
    }

    var now: Moment {
        state.withLock { Moment(begunCount: $0.begunCount, endedCount: $0.ends.count) }
    }

    /// - Parameter sent: the moment before the request was sent.
    func receives(_ answer: WireServerEnvelope, sentAt sent: Moment, _ what: String) {
        let points = answer.records.map { RecordPoint(tag: $0.tag) }
        state.withLock { state in
            state.unreadableCount += points.count { $0 == nil }
            let numbers = points.compactMap { $0?.number }
            state.receipts.append(
                Receipt(sent: sent, begunCount: state.begunCount, numbers: numbers, what: what))
        }
    }

    /// How many answers there are.
    var count: Int { state.withLock { $0.receipts.count } }

    /// What was asked, of the answers after the first `count` that had a record.
    func kindsFull(after count: Int) -> Set<String> {
        state.withLock { Set($0.receipts.dropFirst(count).lazy.filter { !$0.numbers.isEmpty }.map(\.what)) }
    }

    /// What was asked, of the answers after the first `count`, while there was no access, and answered before there was
    /// some.
    func kindsShut(after count: Int) -> Set<String> {
        state.withLock { Set($0.receipts.dropFirst(count).lazy.filter(Self.isShut).map(\.what)) }
    }

    private static func isShut(_ receipt: Receipt) -> Bool {
        receipt.sent.begunCount == receipt.sent.endedCount && receipt.begunCount == receipt.sent.begunCount
    }

    /// What must not be. To be asked when all has come.
    var violations: [String] {
        state.withLock { state in
            var violations = state.unreadableCount == 0 ? [] : ["\(state.unreadableCount) tags that no server made"]
            for receipt in state.receipts {
                guard let newest = receipt.numbers.max() else { continue }
                if Self.isShut(receipt) { violations.append("\(receipt.what) has change \(newest) after the end") }
                let last = receipt.begunCount - 1
                if state.ends.indices.contains(last), newest >= state.ends[last] {
                    violations.append("\(receipt.what) has change \(newest), past the end at \(state.ends[last])")
                }
            }
            return violations
        }
    }
}
