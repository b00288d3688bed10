// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService

/// Lets the subscriptions of a database be read once at a time, however many want them. A user may have a megabyte of
/// them, and each request that changes one has them read on all event loops.
///
/// Whoever wants them needs a read that begins afterwards. So while one is under way, all who come share the next one.
struct SubscriptionReads {
    /// A read that is under way, or the next one.
    final class Read: Sendable {
        /// Given when it may begin: how old known subscriptions may be for it to be left out. Nil: any age will do.
        let begin = Answer<Duration?>()
        /// Given when it has ended: whether they could be read.
        let isRead = Answer<Bool>()
    }

    private struct Next {
        let read: Read
        /// The least of all who share it.
        var ageMax: Duration?
    }

    /// The reads of one database. One is under way.
    private struct Line {
        var next: Next?
    }

    private var lines: [DatabaseID: Line] = [:]

    /// The subscriptions of a database are wanted.
    ///
    /// - Parameter ageMax: how old known ones may be. Nil: any age will do.
    /// - Returns: the read to wait for, and whether the caller is to do it, once it may begin.
    mutating func want(_ database: DatabaseID, ageMax: Duration?) -> (read: Read, isMine: Bool) {
        guard let line = lines[database] else {
            let read = Read()
            read.begin.give(ageMax)
            lines[database] = Line()
            return (read, true)
        }
        guard let next = line.next else {
            let next = Next(read: Read(), ageMax: ageMax)
            lines[database]?.next = next
            return (next.read, true)
        }
        lines[database]?.next?.ageMax = [next.ageMax, ageMax].compactMap(\.self).min()
        return (next.read, false)
    }

    /// The read that was under way has ended.
    ///
    /// - Returns: the next one, and what to give it as its beginning.
    mutating func ended(of database: DatabaseID) -> (read: Read, ageMax: Duration?)? {
        guard let next = lines[database]?.next else {
            lines[database] = nil
            return nil
        }
        lines[database] = Line()
        return (next.read, next.ageMax)
    }
}
