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
