// SPDX-License-Identifier: Apache-2.0

/// The condition of a query, with exactly the operators of R-177.
///
/// Every node is either true or false of a record, never unknown. A comparison is false if the record lacks the key or
/// holds a value of another kind, so its negation is true.
package indirect enum QueryPredicate: Sendable, Hashable {
    /// TRUEPREDICATE and FALSEPREDICATE.
    case always(Bool)
    case compare(QueryKey, QueryComparison, QueryValue)
    /// Both ends belong to it.
    case between(QueryKey, QueryValue, QueryValue)
    /// Case-sensitive.
    case beginsWith(QueryKey, String)
    /// Equal to one of these.
    case isIn(QueryKey, [QueryValue])
    /// A list has this element: `key CONTAINS value`, `value IN key`, `ANY key = value`.
    case contains(QueryKey, QueryValue)
    /// A list has one of these elements: `ANY key IN values`.
    case containsAny(QueryKey, [QueryValue])
    /// `key != nil`; with false `key == nil`. An empty list is present.
    case isPresent(QueryKey, Bool)
    /// Within this many metres of a place; `isInclusive` says whether exactly that distance counts.
    case isNear(QueryKey, QueryLocation, metres: Double, isInclusive: Bool)
    /// `self CONTAINS text`: the record's searchable fields contain every word of the text, see ``IndexWords``.
    /// A text without words matches nothing.
    case search(String)
    case and([QueryPredicate])
    case not(QueryPredicate)
}

/// How a key is compared with a constant.
package enum QueryComparison: UInt8, Sendable, CaseIterable {
    /// Strings are compared without regard to case.
    case equal = 1
    /// Exactly the negation of `equal`, so also true of a record that lacks the key.
    case notEqual = 2
    /// By order. Strings are ordered by their code points, so case matters.
    case less = 3
    case lessOrEqual = 4
    case greater = 5
    case greaterOrEqual = 6
}

/// A constant in a predicate.
package enum QueryValue: Sendable, Hashable {
    case string(String)
    case int64(Int64)
    case double(Double)
    case date(milliseconds: Int64)
    case reference(QueryReference)
    /// Nil: a user whom the container does not know, who equals no user.
    case user(UserID?)

    package var kind: QueryKind {
        switch self {
        case .string: .text
        case .int64, .double: .number
        case .date: .date
        case .reference: .reference
        case .user: .user
        }
    }
}

/// The record with which a reference is compared: its ID alone, never the action.
package struct QueryReference: Sendable, Hashable {
    /// The zone of the record that the reference leads to.
    package enum Zone: Sendable, Hashable {
        /// The zone of the record that holds the reference, whichever that is.
        case holder
        case named(String)
        /// A zone that is not in this database. No reference of the database leads there.
        case elsewhere
    }

    package var recordName: String
    package var zone: Zone

    package init(recordName: String, zone: Zone = .holder) {
        self.recordName = recordName
        self.zone = zone
    }

    /// Whether references in a zone's records can lead to this record.
    package func isReachable(from zoneName: String) -> Bool {
        switch zone {
        case .holder: true
        case .named(let name): name == zoneName
        case .elsewhere: false
        }
    }
}

/// A location in degrees.
package struct QueryLocation: Sendable, Hashable {
    package var latitude: Double
    package var longitude: Double

    package init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// Kinds of values: only values of one kind can be compared. Integers and doubles are one kind.
package enum QueryKind: UInt8, Sendable, CaseIterable, CustomStringConvertible {
    case number = 1
    case date = 2
    case text = 3
    case reference = 4
    case user = 5
    case location = 6

    package var description: String {
        switch self {
        case .number: "number"
        case .date: "date"
        case .text: "string"
        case .reference: "reference"
        case .user: "user"
        case .location: "location"
        }
    }
}
