// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// What can be told of each record that somebody has received: whether they had access.
extension ShareAccess {
    /// The number from which on the user has had access without a break; nil if there is none now.
    package var viewNumber: ChangeNumber? {
        intervals.last.flatMap { $0.end == nil ? $0.begin : nil }
    }

    /// Whether a version with that number can have been given to the user: nothing is that is as new as the end of the
    /// access, or newer (I-5). What is older can be, also if it was saved before the user had access.
    package func canHaveSeen(_ number: ChangeNumber) -> Bool {
        isOwner || intervals.last.map { interval in interval.end.map { number < $0 } ?? true } ?? false
    }
}
