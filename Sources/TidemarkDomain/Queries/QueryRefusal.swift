// SPDX-License-Identifier: Apache-2.0

/// Why a query is refused, and which name in it is wrong. The client itself sent that name.
package struct QueryRefusal: Error, Sendable, Equatable {
    package let reason: FailureReason
    /// The key or record type that is wrong; nil for the query as a whole.
    package let subject: String?
    /// The name that was probably meant, if ``subject`` is mistyped.
    package let nearest: String?
    /// Replaces the reason's own text where numbers say more.
    private let detail: String?
    /// When to try again; nil: as the reason says.
    package private(set) var retryAfter: Duration?

    package init(_ reason: FailureReason, subject: String? = nil, nearest: String? = nil, detail: String? = nil) {
        self.reason = reason
        self.subject = subject
        self.nearest = nearest
        self.detail = detail
    }

    /// nobody is signed in, and the query would be the first to need a mark.
    package static let notMarkedForNobody = QueryRefusal(
        .fieldNotQueryable,
        detail: """
            A field of this query is not marked queryable, and nobody is signed in. In development, the queries of an \
            account mark fields: run it once with a credential, or mark the field in the schema.
            """)

    /// other queries come first, or as many of the same owner wait as may.
    package static func crowded(retryAfter: Duration?) -> QueryRefusal {
        let text = "Too many queries are under way. Wait for their answers, and ask again after the delay."
        var refusal = QueryRefusal(.tooManyRequests, detail: text)
        refusal.retryAfter = retryAfter
        return refusal
    }

    fileprivate static let encryptedAdvice =
        "Leave it out of the query, or keep what you look for in a field that is not encrypted."

    /// The fault, and what to do about it. CloudKit's own words come first where they are known, because people search
    /// for them.
    package var text: String {
        if let detail { return detail }
        guard let subject else { return reason.text }
        switch reason {
        case .recordTypeUnknown:
            return "Did not find record type: \(subject). Save a record of it first, or check its spelling."
        case .queryFieldUnknown:
            let hint = nearest.map { " Did you mean '\($0)'?" } ?? ""
            return "Unknown field '\(subject)'.\(hint) Check its spelling, or save a record that has it first."
        case .fieldEncrypted:
            return "Field '\(subject)' is encrypted: it cannot be queried, sorted or marked. \(Self.encryptedAdvice)"
        case .fieldNotComparable:
            return
                "Field '\(subject)' holds data or assets, which cannot be queried. Leave it out of the predicate."
        case .fieldNotQueryable:
            return
                "Field '\(subject)' is not marked queryable. Mark it in the schema, or leave it out of the predicate."
        case .fieldNotSortable:
            return "Field '\(subject)' is not marked sortable. Mark it in the schema, or sort by another field."
        default:
            return "\(reason.text) (At: \(subject).)"
        }
    }
}

extension FailureReason {
    /// The texts of the reasons that are about queries; nil for others.
    var queryText: String? {
        switch self {
        case .recordTypeUnknown:
            "Did not find record type. Save a record of it first, or check its spelling."
        case .recordTypeNotQueryable:
            "Records of this type cannot be queried. Fetch user records by their IDs."
        case .queryTooSlow:
            "The query takes too long, because no index serves it. Name a zone, compare fewer fields, or have the fields"
                + " marked queryable and sortable (tidemark admin schema). A new index needs a while: try again later."
        case .queryTooLarge:
            "The query is too large. Use fewer conditions, shorter strings, or several queries."
        case .operatorInvalid:
            "This operator cannot be used with this kind of value. Locations are compared by distance only, references by"
                + " equality, lists with CONTAINS and ANY … IN."
        case .negationInvalid:
            "NOT cannot be applied to AND, to a search for words, to a distance or to BETWEEN. Negate comparisons instead."
        case .valueKindWrong:
            "The value is of another type than the field. Compare with a value of the field's type."
        case .queryFieldUnknown:
            "Unknown field: the record type has none of that name. Check its spelling, or save a record that has it first."
        case .fieldEncrypted:
            "An encrypted field cannot be queried, sorted or marked. \(QueryRefusal.encryptedAdvice)"
        case .fieldNotComparable:
            "Data and assets cannot be queried. Leave the field out of the predicate."
        case .fieldNotQueryable:
            "Field is not marked queryable. Mark it in the schema, or leave it out of the predicate."
        case .fieldNotSortable:
            "Field is not marked sortable. Mark it in the schema, or sort by another field."
        case .sortInvalid:
            "Records cannot be sorted by this. Sort by strings, numbers, dates and references, or a location by distance."
        case .cursorInvalid:
            "The cursor belongs to another query. Run the query again from the beginning."
        case .zoneRequired:
            "A query in the shared database needs a zone. Run it once for each zone."
        default: nil
        }
    }
}
