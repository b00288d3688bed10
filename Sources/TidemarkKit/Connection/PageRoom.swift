// SPDX-License-Identifier: Apache-2.0

/// How many records an engine asks for in a page of a zone. A page may be too large for the network to carry it in
/// time.
struct PageRoom: Equatable {
    /// The limit in a request: 0 lets the server choose.
    private(set) var limit = 0

    /// From this many on the server decides.
    private static let limitMax = 200

    /// The network carried a page.
    mutating func pageCame() {
        guard limit > 0 else { return }
        limit += max(1, limit / 4)
        if limit >= Self.limitMax { limit = 0 }
    }

    /// The time for a page was over before it came.
    mutating func pageDidNotCome() {
        limit = max(1, (limit == 0 ? Self.limitMax : limit) / 2)
    }
}
