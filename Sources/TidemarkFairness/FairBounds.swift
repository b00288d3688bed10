// SPDX-License-Identifier: Apache-2.0

/// The bounds of a ``FairQueue``. Room is counted in any unit: connections, bytes, open files.
package struct FairBounds: Sendable {
    /// Room for all works under way together.
    package var room: Int
    /// Room for those of one owner. Below ``room``, others find some left at any time.
    package var roomPerOwner: Int
    /// The number of works that may wait, for all owners together; 0: none may.
    package var waitingMax: Int
    /// Works of one owner that may wait.
    package var waitingPerOwnerMax: Int
    /// About how long one work takes. From it comes the time after which to try again.
    package var workTime: Duration

    package init(
        room: Int, roomPerOwner: Int, waitingMax: Int, waitingPerOwnerMax: Int, workTime: Duration = .milliseconds(100)
    ) {
        precondition(room > 0 && roomPerOwner > 0 && roomPerOwner <= room)
        precondition(waitingMax >= 0 && waitingPerOwnerMax >= 0 && workTime > .zero)
        self.room = room
        self.roomPerOwner = roomPerOwner
        self.waitingMax = waitingMax
        self.waitingPerOwnerMax = waitingPerOwnerMax
        self.workTime = workTime
    }
}

/// The right to begin a work, now or later. It goes back to the ``FairQueue`` that gave it, exactly once.
package struct WorkTicket: Hashable, Sendable {
    /// Unique among the tickets of its queue, and growing.
    package let number: UInt64
    package let owner: WorkOwner
    /// The room that the work occupies while it is under way.
    package let room: Int
    /// The expected cost of the work for its owner.
    package let charge: Int

    package static func == (one: WorkTicket, other: WorkTicket) -> Bool { one.number == other.number }

    package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// Why a work may not begin, and when to try again.
package struct WorkRefusal: Error, Equatable, CustomStringConvertible {
    /// The causes of the refusal.
    package enum Reason: String, Sendable {
        /// The work needs more room than one owner may ever have. Trying again is of no use.
        case tooLarge
        /// The owner has as much under way and waiting as one owner may have.
        case ownerFull
        /// As much is under way and waiting as there may be, and the owner has no less of it than others.
        case full
        /// It waited, and gave way to an owner who has less.
        case gaveWay
        /// Its turn did not come in time.
        case waitedTooLong
        /// The code that asked for it is gone.
        case cancelled
    }

    package let reason: Reason
    package let retryAfter: Duration

    package init(_ reason: Reason, retryAfter: Duration) {
        self.reason = reason
        self.retryAfter = retryAfter
    }

    package var description: String { "\(reason.rawValue), try again after \(retryAfter)" }
}
