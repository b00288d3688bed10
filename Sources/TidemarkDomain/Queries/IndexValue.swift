// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// A scalar as queries compare and index it. Everything that is stored for queries is computed here, so that the
/// evaluator in memory and a store's indexes cannot disagree.
///
/// Dates are compared by the millisecond, even if they are stored with more precision. Two dates in the same
/// millisecond are equal to a query. Values of one kind are ordered among themselves. Across kinds, numbers come first,
/// then dates, strings, references and users.
package enum IndexValue: Sendable, Hashable, Comparable {
    case number(IndexNumber)
    case date(milliseconds: Int64)
    case text(IndexText)
    /// The name of the record, which is in the holder's zone.
    case reference(IndexText)
    case user(Int64)
    /// A squared chord, for a sort by distance; see ``EarthPoint``.
    case distance(Double)

    /// The comparisons for which a string is prepared.
    package enum Use: Sendable {
        /// =, IN, CONTAINS: ``IndexText/folded(_:)``.
        case equality
        /// <, BETWEEN, BEGINSWITH: ``IndexText/exact(_:)``.
        case order
        /// Sorts: ``IndexText/sorting(_:)``.
        case sorting

        func text(_ string: String) -> IndexText {
            switch self {
            case .equality: .folded(string)
            case .order: .exact(string)
            case .sorting: .sorting(string)
            }
        }
    }

    /// The form in which a field's value is compared; nil for lists and for values that cannot be compared.
    package init?(_ value: FieldValue, for use: Use) {
        switch value {
        case .string(let string): self = .text(use.text(string))
        case .int64(let number): self = .number(IndexNumber(number))
        case .double(let number): self = .number(IndexNumber(number))
        case .date(let date): self = .date(milliseconds: date.milliseconds)
        case .reference(let reference): self = .reference(.exact(reference.recordName))
        default: return nil
        }
    }

    /// The forms in which a list's elements are compared; empty for anything else.
    package static func elements(of value: FieldValue, for use: Use) -> [IndexValue] {
        switch value {
        case .strings(let list): list.map { .text(use.text($0)) }
        case .int64s(let list): list.map { .number(IndexNumber($0)) }
        case .doubles(let list): list.map { .number(IndexNumber($0)) }
        case .dates(let list): list.map { .date(milliseconds: $0.milliseconds) }
        case .references(let list): list.map { .reference(.exact($0.recordName)) }
        default: []
        }
    }

    /// The form in which a constant is compared with values in the zone `zoneName`. Nil for a reference that does not
    /// lead into the zone: it equals nothing there.
    package init?(_ value: QueryValue, for use: Use, in zoneName: String) {
        switch value {
        case .string(let string): self = .text(use.text(string))
        case .int64(let number): self = .number(IndexNumber(number))
        case .double(let number): self = .number(IndexNumber(number))
        case .date(let milliseconds): self = .date(milliseconds: milliseconds)
        case .reference(let reference):
            guard reference.isReachable(from: zoneName) else { return nil }
            self = .reference(.exact(reference.recordName))
        case .user(let user):
            guard let user else { return nil }
            self = .user(user.rawValue)
        }
    }

    /// Whether the two can be compared for order. Values of different kinds cannot.
    package func isComparable(with other: IndexValue) -> Bool { rank == other.rank }

    private var rank: Int {
        switch self {
        case .number: 0
        case .date: 1
        case .text: 2
        case .reference: 3
        case .user: 4
        case .distance: 5
        }
    }

    package static func < (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.number(let left), .number(let right)): left < right
        case (.date(let left), .date(let right)): left < right
        case (.text(let left), .text(let right)): left < right
        case (.reference(let left), .reference(let right)): left < right
        case (.user(let left), .user(let right)): left < right
        case (.distance(let left), .distance(let right)): left < right
        default: left.rank < right.rank
        }
    }
}
