// SPDX-License-Identifier: Apache-2.0

/// The size of a query, in everything that ``Limits`` bounds.
package struct QuerySize: Sendable, Equatable {
    package var sortCount = 0
    /// How deep conditions are nested; 1 for a single one.
    package var depth = 0
    /// Conditions and constants. Each element of a list counts.
    package var nodeCount = 0
    /// The bytes of strings in conditions, and 8 for any other constant.
    package var byteCount = 0

    package init() {}

    /// Nil if the query is within the limits. Otherwise `queryTooLarge`, with the first limit that is passed and the
    /// actual number.
    package func refusal(within limits: Limits) -> QueryRefusal? {
        let bounds = [
            (sortCount, limits.sortsMax, "sort descriptors"), (depth, limits.predicateDepthMax, "levels of conditions"),
            (nodeCount, limits.predicateNodesMax, "conditions and constants together"),
            (byteCount, limits.predicateBytesMax, "bytes of strings and other constants"),
        ]
        return bounds.first { $0.0 > $0.1 }.map { count, most, unit in
            QueryRefusal(
                .queryTooLarge,
                detail: "\(FailureReason.queryTooLarge.text) The limit is \(most) \(unit), and this has \(count).")
        }
    }
}

extension Query {
    package var size: QuerySize {
        var size = QuerySize()
        size.sortCount = sorts.count
        // No recursion: a predicate may be nested deeper than the stack allows.
        var waiting = [(predicate, 1)]
        while let (predicate, depth) = waiting.popLast() {
            size.depth = max(size.depth, depth)
            let constants = predicate.constants
            size.nodeCount += 1 + constants.count
            size.byteCount += constants.reduce(0) { $0 + $1.byteCount }
            switch predicate {
            case .search(let text): size.byteCount += text.utf8.count
            case .and(let parts): for part in parts { waiting.append((part, depth + 1)) }
            case .not(let part): waiting.append((part, depth + 1))
            default: break
            }
        }
        return size
    }
}

extension QueryPredicate {
    fileprivate var constants: [QueryValue] {
        switch self {
        case .compare(_, _, let value), .contains(_, let value): [value]
        case .between(_, let low, let high): [low, high]
        case .isIn(_, let values), .containsAny(_, let values): values
        case .beginsWith(_, let prefix): [.string(prefix)]
        default: []
        }
    }
}

extension QueryValue {
    fileprivate var byteCount: Int {
        switch self {
        case .string(let string): string.utf8.count
        case .reference(let reference): reference.recordName.utf8.count
        default: 8
        }
    }
}
