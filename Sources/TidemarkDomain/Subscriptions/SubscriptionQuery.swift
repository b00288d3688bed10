// SPDX-License-Identifier: Apache-2.0

/// The changes that fire a query subscription. The record type and the zone are the subscription's own.
package struct SubscriptionQuery: Sendable, Equatable {
    /// As in `CKQuerySubscription.Options`. The raw value is stored.
    package struct Options: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32

        package init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        package static let creation = Options(rawValue: 1)
        package static let update = Options(rawValue: 2)
        package static let deletion = Options(rawValue: 4)
        /// the subscription ends before its first push.
        package static let once = Options(rawValue: 8)

        package static let changes: Options = [.creation, .update, .deletion]
        package static let all: Options = [.changes, .once]
    }

    /// The database whose records are watched: the user's private one, or the public one of the container.
    package let database: DatabaseID
    package let predicate: QueryPredicate
    package let options: Options
    /// The predicate as the client sent it. The server returns it as it came, because the other form names users by
    /// numbers.
    package let predicateBytes: [UInt8]

    package init(database: DatabaseID, predicate: QueryPredicate, options: Options, predicateBytes: [UInt8]) {
        self.database = database
        self.predicate = predicate
        self.options = options
        self.predicateBytes = predicateBytes
    }

    /// The kind of push for a change of a record. Nil: none, whatever the predicate says.
    ///
    /// - Parameters:
    ///   - old: whether there was a living record before, and whether it matched.
    ///   - new: the same of the record afterwards.
    package func reason(old: Match, new: Match) -> QueryReason? {
        switch (old, new) {
        case (.absent, .absent): nil
        case (.absent, _): options.contains(.creation) && new == .matches ? .created : nil
        case (_, .absent): options.contains(.deletion) && old == .matches ? .deleted : nil
        default: options.contains(.update) && (old == .matches || new == .matches) ? .updated : nil
        }
    }

    /// The result of a predicate for a version of a record.
    package enum Match: CaseIterable, Sendable {
        /// There is no living record.
        case absent
        case differs
        case matches
    }
}

/// The change of a record of a query subscription. The raw value is CloudKit's.
package enum QueryReason: Int16, Sendable, CaseIterable {
    case created = 1
    case updated = 2
    case deleted = 3
}
