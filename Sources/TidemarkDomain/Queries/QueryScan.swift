// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// Finds a page of results by looking at every record, in any order. A store without indexes uses it; a store with
/// indexes must return the same.
///
/// It holds at most as many records as the page will have, and at most the bound plus one record of their bytes.
package struct QueryScan {
    private let page: QueryPageQuery
    private let evaluator: QueryEvaluator
    private let order: QueryOrder
    /// The first results found so far, in order.
    private var found: [(position: QueryPosition, match: QueryMatch)] = []
    private var byteCount = 0
    package private(set) var hasMore = false

    package init(_ page: QueryPageQuery) {
        self.page = page
        evaluator = QueryEvaluator(page.query.predicate, fields: page.fields)
        order = QueryOrder(page.query)
    }

    package var matches: [QueryMatch] { found.map(\.match) }

    /// - Parameter record: any record of a zone that the query covers. A deleted record, or one of another type, is
    ///   skipped.
    package mutating func look(at record: RecordState, in zone: ZoneID, named zoneName: String) {
        guard !record.isDeleted, record.type == page.query.recordType else { return }
        let position = order.position(of: record, in: zoneName)
        if let after = page.after, !order.precedes(after, position) { return }
        guard evaluator.matches(record, in: zoneName) else { return }
        insert(position, QueryMatch(zone: zone, zoneName: zoneName, record: record))
        while let last = found.last, found.count > 1, isTooLong(last.match.record.fields.byteCount) {
            found.removeLast()
            byteCount -= last.match.record.fields.byteCount
            hasMore = true
        }
    }

    private func isTooLong(_ lastByteCount: Int) -> Bool {
        found.count > page.recordsMax || byteCount - lastByteCount >= page.bytesMax
    }

    private mutating func insert(_ position: QueryPosition, _ match: QueryMatch) {
        var low = 0
        var high = found.count
        while low < high {
            let middle = (low + high) / 2
            if order.precedes(found[middle].position, position) { low = middle + 1 } else { high = middle }
        }
        found.insert((position, match), at: low)
        byteCount += match.record.fields.byteCount
    }
}
