// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// How much the deletions of a group may reach. The statements return at most one row more, which tells that the result
/// is cut.
struct CascadeBounds: Sendable {
    /// How many records the requests name.
    let namedCount: Int
    /// References that the deletions may follow.
    let followedMax: Int

    init(of reads: [ZoneRead]) {
        namedCount = reads.reduce(0) { $0 + $1.recordNames.count }
        followedMax = reads.lazy.map(\.referencesFollowedMax).max() ?? 0
    }

    /// Children that the requests and their cascades may take away together.
    private var childrenMax: Int { namedCount + followedMax }

    var cascadeRowsMax: Int { followedMax + 1 }
    var childRowsMax: Int { childrenMax + 1 }

    func isCascadeCut(rowCount: Int) -> Bool { rowCount > followedMax }
    func areChildrenCut(rowCount: Int) -> Bool { rowCount > childrenMax }
}
