// SPDX-License-Identifier: Apache-2.0

/// A record's place in the order of a query's results.
package struct QueryPosition: Sendable, Hashable {
    /// One value for each sort of ``Query/effectiveSorts``; nil if the record lacks the key.
    package let values: [IndexValue?]
    package let recordName: String
    package let zoneName: String

    package init(values: [IndexValue?], recordName: String, zoneName: String) {
        self.values = values
        self.recordName = recordName
        self.zoneName = zoneName
    }
}

/// The order of a query's results: by each sort in turn, then by record name, then by zone name.
///
/// A record without the key comes before those with it, and after them in a descending sort. In a sort by distance it
/// counts as farthest away. A schema allows one kind of value in a field; if there are several, the order is numbers,
/// dates, strings, references.
package struct QueryOrder: Sendable {
    private let sorts: [(sort: QuerySort, origin: EarthPoint?)]

    package init(_ query: Query) {
        sorts = query.effectiveSorts.map { ($0, $0.origin.flatMap(EarthPoint.init)) }
    }

    package func position(of record: RecordState, in zoneName: String) -> QueryPosition {
        let values = sorts.map { sort, origin -> IndexValue? in
            guard sort.origin != nil else { return record.indexValue(of: sort.key, for: .sorting) }
            guard let origin, let point = record.indexPoint(of: sort.key) else { return .distance(.infinity) }
            return .distance(point.squaredChord(to: origin))
        }
        return QueryPosition(values: values, recordName: record.name, zoneName: zoneName)
    }

    /// Whether `left` comes before `right`; false if they are the same place.
    package func precedes(_ left: QueryPosition, _ right: QueryPosition) -> Bool {
        for (index, (sort, _)) in sorts.enumerated() {
            guard index < left.values.count, index < right.values.count else { break }
            let (first, second) = (left.values[index], right.values[index])
            if Self.isLess(first, second) { return sort.isAscending }
            if Self.isLess(second, first) { return !sort.isAscending }
        }
        if left.recordName != right.recordName { return left.recordName < right.recordName }
        return left.zoneName < right.zoneName
    }

    private static func isLess(_ left: IndexValue?, _ right: IndexValue?) -> Bool {
        guard let right else { return false }
        guard let left else { return true }
        return left < right
    }
}
