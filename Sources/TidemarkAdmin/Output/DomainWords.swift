// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

// How operators read the rules' values.

extension DatabaseScope {
    var word: String {
        switch self {
        case .public: "public"
        case .private: "private"
        case .shared: "shared"
        }
    }
}

extension Subscription.Kind {
    var word: String {
        switch self {
        case .query: "query"
        case .recordZone: "zone"
        case .database: "database"
        }
    }
}

extension SubscriptionQuery.Options {
    /// The changes that fire a subscription, and whether it fires once.
    var words: String {
        let all: [(Self, String)] = [
            (.creation, "creation"), (.update, "update"), (.deletion, "deletion"), (.once, "once"),
        ]
        return all.filter { contains($0.0) }.map(\.1).joined(separator: ",")
    }
}

extension QueryPredicate {
    /// What kind of condition it is. What it compares with is the user's, and is not shown.
    var word: String {
        switch self {
        case .always(let result): result ? "all" : "none"
        case .compare: "comparison"
        case .between: "range"
        case .beginsWith: "prefix"
        case .isIn: "list"
        case .contains, .containsAny: "element"
        case .isPresent: "presence"
        case .isNear: "distance"
        case .search: "words"
        case .and: "and"
        case .not: "not"
        }
    }
}
