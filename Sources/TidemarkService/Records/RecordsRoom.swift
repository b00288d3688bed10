// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
package import TidemarkFairness
internal import TidemarkFields

/// Memory that the requests of owners may take.
package protocol RecordsBudget: Sendable {
    /// Takes so many bytes for records that come with outcomes. False: the owner has no room for them.
    func takeForRecords(_ byteCount: Int, of owner: WorkOwner) -> Bool
    func giveBackForRecords(_ byteCount: Int, of owner: WorkOwner)
}

/// Memory for the server's records that come with the outcomes of one request: of conflicts and of saves.
///
/// A request keeps them until its last zone is decided. They count from the moment when their zone is decided until the
/// answer has been made. A record without room is left out, and the client fetches it.
package final class RecordsRoom: Sendable {
    private let owner: WorkOwner
    private let budget: any RecordsBudget
    private let bytesMax: Int
    private let bytesTaken = Mutex(0)

    /// - Parameters:
    ///   - owner: whose request it is.
    ///   - bytesMax: bytes of the records of this request.
    package init(of owner: WorkOwner, in budget: any RecordsBudget, bytesMax: Int) {
        self.owner = owner
        self.budget = budget
        self.bytesMax = bytesMax
    }

    /// Takes room for a record; false: there is none.
    func take(_ byteCount: Int) -> Bool {
        bytesTaken.withLock { taken in
            guard byteCount <= bytesMax - taken, budget.takeForRecords(byteCount, of: owner) else { return false }
            taken += byteCount
            return true
        }
    }

    /// All outcomes have come, and the answer has been made.
    package func leave() {
        let byteCount = bytesTaken.withLock { taken in
            defer { taken = 0 }
            return taken
        }
        if byteCount > 0 { budget.giveBackForRecords(byteCount, of: owner) }
    }
}

/// Those who wait for one outcome, and the room that they have for its records. Nearly always it is one request.
struct OutcomeWaiters: Sendable {
    let answer: Answer<WriteCoordinator.Outcome>
    private let room: RecordsRoom?
    private var others: [RecordsRoom] = []

    init(_ answer: Answer<WriteCoordinator.Outcome>, room: RecordsRoom?) {
        self.answer = answer
        self.room = room
    }

    /// A repeat waits too. It may keep the records for longer than the first request, so they count for both.
    mutating func join(_ room: RecordsRoom?) {
        if let room { others.append(room) }
    }

    /// Gives the outcome, without the records for which somebody has no room.
    func give(_ outcome: WriteCoordinator.Outcome) {
        answer.give(
            outcome.map { outcome in
                outcome.withholding { record in
                    let byteCount = record.fields.byteCount
                    return !(room?.take(byteCount) ?? true) || !others.allSatisfy { $0.take(byteCount) }
                }
            })
    }
}
