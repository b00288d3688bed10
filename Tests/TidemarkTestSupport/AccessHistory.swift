// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// When somebody had access to a zone of another, in the numbering of the zone: by it can be told of each record that they
/// have received whether it was theirs to see.
package struct AccessHistory {
    /// From the change that gave access to the one that took it away; to the end of all numbers, if it lasts. Oldest
    /// first. Those that overlap are one.
    package let intervals: [Range<ChangeNumber>]
    private let isOwner: Bool

    package init(of user: UserID, in sharing: ZoneSharing) {
        isOwner = user == sharing.owner
        var all: [Range<ChangeNumber>] = []
        for (number, share) in sharing.shares {
            let row = sharing.participants[number]?.values.first { $0.user == user }
            guard let row, let begin = row.acceptedNumber else { continue }
            let ends = [share.endedNumber, row.endedNumber].compactMap { $0 }
            if ends.isEmpty, row.permission(in: share) == .noAccess { continue }
            let end = ends.min() ?? .max
            if begin < end { all.append(begin..<end) }
        }
        var joined: [Range<ChangeNumber>] = []
        for next in all.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            guard let last = joined.last, next.lowerBound <= last.upperBound else {
                joined.append(next)
                continue
            }
            joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, next.upperBound)
        }
        intervals = joined
    }

    /// The number from which on the user has had access without a break; nil if there is none now.
    package var viewNumber: ChangeNumber? {
        intervals.last.flatMap { $0.upperBound == .max ? $0.lowerBound : nil }
    }

    /// Whether a version with that number can have been given to the user: nothing is that is as new as the end of the
    /// access, or newer (I-5). What is older can be, also if it was saved before the user had access.
    package func canHaveSeen(_ number: ChangeNumber) -> Bool {
        isOwner || intervals.last.map { $0.upperBound == .max || number < $0.upperBound } ?? false
    }
}
