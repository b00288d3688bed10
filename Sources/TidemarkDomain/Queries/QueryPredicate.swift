// SPDX-License-Identifier: Apache-2.0

/// The condition of a query: the operators of R-177 and nothing else.
///
/// Every node is true or false of a record, never unknown: a comparison with a key that the record lacks, or with a value
/// of another kind, is false, and so its negation is true.
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
    /// Closer to a place than so many metres, or as close with `isInclusive`.
    case isNear(QueryKey, QueryLocation, metres: Double, isInclusive: Bool)
    /// `self CONTAINS text`: every word of the text is in the record's searchable fields, see ``IndexWords``. A
    /// text without words matches nothing.
    case search(String)
    case and([QueryPredicate])
    case not(QueryPredicate)
}

/// How a key is compared with a constant.
package enum QueryComparison: UInt8, Sendable, CaseIterable {
    /// Strings: whatever the case.
    case equal = 1
    /// Exactly the negation of `equal`: true of a record that lacks the key.
    case notEqual = 2
    /// Order, of strings by their code points: case-sensitive.
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
    /// Nil: somebody whom the container does not know, equal to no user.
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

/// A record that a reference is compared with: its ID alone, never the action.
package struct QueryReference: Sendable, Hashable {
    package enum Zone: Sendable, Hashable {
        /// That of the record which holds the reference, whichever it is.
        case holder
        case named(String)
        /// One that is not in this database: no reference of it leads there.
        case elsewhere
    }

    package var recordName: String
    package var zone: Zone

    package init(recordName: String, zone: Zone = .holder) {
        self.recordName = recordName
        self.zone = zone
    }

    /// Whether the references of a zone's records can mean this record.
    package func isReachable(from zoneName: String) -> Bool {
        switch zone {
        case .holder: true
        case .named(let name): name == zoneName
        case .elsewhere: false
        }
    }
}

/// A place in degrees.
package struct QueryLocation: Sendable, Hashable {
    package var latitude: Double
    package var longitude: Double

    package init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// What can be compared with what: kinds of values. Integers and doubles are one kind.
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
