// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// How many relatives a group may read: what its deletions reach, and the ancestors of its new parents. The statements
/// return at most one row more, which tells that the result is cut.
struct CascadeBounds: Sendable {
    /// How many records the requests name.
    let namedCount: Int
    /// References that the deletions may follow.
    let followedMax: Int
    /// Relatives beside the named records.
    private let relativesMax: Int

    /// The most ancestors of a group's new parents. In a longer line a cycle would go unnoticed, which does no harm.
    private static let ancestorsMax = 50_000

    init(of reads: [ZoneRead]) {
        namedCount = reads.reduce(0) { $0 + $1.recordNames.count }
        followedMax = reads.lazy.map(\.followedMax).max() ?? 0
        relativesMax = reads.lazy.map(\.relativesMax).max() ?? 0
    }

    /// Children that the requests and their cascades may take away together.
    private var childrenMax: Int { namedCount + followedMax }

    /// Ancestors of a group that may not read all; nil if it may.
    private var fewAncestorsMax: Int? { relativesMax < Self.ancestorsMax ? namedCount + relativesMax : nil }

    var ancestorRowsMax: Int { fewAncestorsMax.map { $0 + 1 } ?? Self.ancestorsMax }
    var cascadeRowsMax: Int { followedMax + 1 }
    var childRowsMax: Int { childrenMax + 1 }

    func isCascadeCut(rowCount: Int) -> Bool { rowCount > followedMax }
    func areChildrenCut(rowCount: Int) -> Bool { rowCount > childrenMax }
    func areAncestorsCut(rowCount: Int) -> Bool { fewAncestorsMax.map { rowCount > $0 } ?? false }
}
