// SPDX-License-Identifier: Apache-2.0

/// The records of a zone that shares of hierarchies cover, as a transaction has read them and its requests have changed them
/// so far.
///
/// A record is covered by the share of the nearest root among itself and its ancestors. Each record's share is stored, so a
/// record whose parent stays keeps it without a look at its ancestors. Whenever a record moves, or becomes a root, all that is
/// below it follows: once a request, however many of its records move (``settle()``).
struct HierarchyTable: Sendable {
    /// As they were read.
    private let stored: [String: CoveredRecord]
    /// The share of each record that was read or has changed. Shares that have ended cover nothing.
    private var shares: [String: ShareNumber]
    /// The children of records below those that may move.
    private var children: [String: Set<String>] = [:]
    private var types: [String: String] = [:]
    private var living: Set<ShareNumber>
    private var rootShares: [String: ShareNumber] = [:]
    /// The shares of CKShare records.
    private var recordShares: [String: ShareNumber] = [:]
    /// Records that may be covered by another share than was read.
    private var touched: Set<String> = []
    /// Records that have got another parent, or have become roots, with their parents. The shares that cover them, and the records below
    /// them, stay as before until all moves of the request are known.
    private var unsettled: [String: String?] = [:]
    /// How many records were looked at for moves and shares.
    private(set) var visitCount = 0
    /// Whether more is below the records that may move than may be read.
    let isCut: Bool

    /// Nil if hierarchies of the zone are not shared, or were not read.
    init?(_ snapshot: ZoneSnapshot) {
        guard let sharing = snapshot.sharing, let read = snapshot.hierarchies else { return nil }
        let hierarchies = sharing.hierarchies
        living = Set(hierarchies.map(\.number))
        var stored = read.covers
        for record in read.below {
            if let cover = record.cover { stored[record.name] = cover }
            types[record.name] = record.type
            children[record.parent, default: []].insert(record.name)
        }
        self.stored = stored
        shares = stored.mapValues(\.share)
        isCut = read.isCut
        for share in hierarchies {
            if let root = share.rootName { rootShares[root] = share.number }
            recordShares[share.recordName] = share.number
        }
    }

    /// The living share that covers the record, or covered it before the moves that are not settled.
    func share(of name: String) -> ShareNumber? {
        guard let share = shares[name], living.contains(share) else { return nil }
        return share
    }

    /// Whether the record is the root of a living share.
    func isRoot(_ name: String) -> Bool { rootShare(of: name) != nil }

    func rootShare(of name: String) -> ShareNumber? {
        guard let share = rootShares[name], living.contains(share) else { return nil }
        return share
    }

    /// The name of the CKShare record whose share has this root.
    func shareName(ofRoot name: String) -> String? {
        rootShare(of: name).flatMap { share in recordShares.first { $0.value == share }?.key }
    }

    /// The roots of living shares, with their shares.
    var roots: [String: ShareNumber] { rootShares.filter { living.contains($0.value) } }

    // MARK: Changes

    /// Takes in a version that takes the place of another one.
    mutating func replace(_ old: RecordState?, with record: RecordState) {
        let name = record.name
        let before = old.flatMap { $0.isDeleted ? nil : $0 }
        let parent = record.isDeleted ? nil : record.parent
        touched.insert(name)
        types[name] = record.type
        if let parent = before?.parent, parent != record.parent || record.isDeleted { children[parent]?.remove(name) }
        if let parent { children[parent, default: []].insert(name) }
        if record.isDeleted {
            unsettled.removeValue(forKey: name)
            return shares[name] = nil
        }
        // CKShare records have no parents: they are covered by their own share.
        if Share.isType(record.type) { return shares[name] = recordShares[name] }
        if before == nil || before?.parent != parent { unsettled.updateValue(parent, forKey: name) }
    }

    /// A hierarchy is shared from now on.
    mutating func add(_ share: Share) {
        guard let root = share.rootName else { return }
        living.insert(share.number)
        rootShares[root] = share.number
        recordShares[share.recordName] = share.number
        shares[share.recordName] = share.number
        touched.insert(share.recordName)
        types[share.recordName] = Share.recordType
        if unsettled[root] == nil { unsettled.updateValue(nil, forKey: root) }
    }

    /// A share covers nothing any more. Nothing is written of its records.
    mutating func end(_ share: ShareNumber) { living.remove(share) }

    /// Covers the records that have moved or have become roots, and everything below them, except other roots and the records below those.
    /// Each record is looked at twice at most, however many of those above it have moved.
    mutating func settle() {
        guard !unsettled.isEmpty else { return }
        let isAlone = unsettled.count == 1
        let below = isAlone ? [] : belowUnsettled()
        for (top, parent) in unsettled where !below.contains(top) {
            let share = rootShare(of: top) ?? parent.flatMap(share(of:))
            var waiting = [top]
            while let name = waiting.popLast() {
                visitCount += 1
                if self.share(of: name) != share {
                    shares[name] = share
                    touched.insert(name)
                } else if isAlone {
                    // Records below it already have the share.
                    continue
                }
                waiting += coveredWith(name)
            }
        }
        unsettled.removeAll()
    }

    /// The same, with all moves settled.
    var settled: HierarchyTable {
        guard !unsettled.isEmpty else { return self }
        var table = self
        table.settle()
        return table
    }

    /// The unsettled records that others of them take along, and all else that does not stay as it is.
    private mutating func belowUnsettled() -> Set<String> {
        var below: Set<String> = []
        var waiting = Array(unsettled.keys)
        while let name = waiting.popLast() {
            visitCount += 1
            for child in coveredWith(name) where below.insert(child).inserted && unsettled[child] == nil {
                waiting.append(child)
            }
        }
        return below
    }

    /// The children that the share of their parent covers.
    private func coveredWith(_ name: String) -> [String] { (children[name] ?? []).filter { !isRoot($0) } }

    // MARK: Checks

    /// The records below a record, including itself, as far as they were read.
    struct Subtree {
        fileprivate(set) var count = 0
        /// Whether the root of a living share is in it, be it the record itself.
        fileprivate(set) var hasRoot = false
    }

    /// The records below each of these records, and below those in turn. Each record is looked at once.
    mutating func subtrees(of names: [String]) -> [String: Subtree] {
        var subtrees: [String: Subtree] = [:]
        var waiting = names.map { (name: $0, isCounted: false) }
        while let (name, isCounted) = waiting.popLast() {
            visitCount += 1
            let below = children[name] ?? []
            if isCounted {
                let parts = below.compactMap { subtrees[$0] }
                subtrees[name] = Subtree(
                    count: parts.reduce(1) { $0 + $1.count }, hasRoot: isRoot(name) || parts.contains(where: \.hasRoot))
            } else if subtrees[name] == nil {
                subtrees[name] = Subtree()
                waiting.append((name, true))
                waiting += below.map { (name: $0, isCounted: false) }
            }
        }
        return subtrees
    }

    /// The places of the records that are above or below one before them in the list, or the same. Each record that is below
    /// them is looked at once.
    mutating func nested(_ names: [String]) -> Set<Int> {
        var nested: Set<Int> = []
        var seen: Set<String> = []
        for (place, name) in names.enumerated() {
            var waiting = [name]
            while let name = waiting.popLast() {
                visitCount += 1
                // Everything below a visited record was visited with it.
                guard seen.insert(name).inserted else {
                    nested.insert(place)
                    continue
                }
                waiting += children[name] ?? []
            }
        }
        return nested
    }

    /// Whether the record is covered by another share than was read.
    func moves(_ name: String) -> Bool {
        share(of: name) != stored[name].flatMap { living.contains($0.share) ? $0.share : nil }
    }

    // MARK: Changes to write

    /// The rows to write, and the zone's number after them. Each record that another share covers now, and that was not saved, gets a
    /// separate number. Its participants learn of it, and its version stays.
    ///
    /// - Parameters:
    ///   - versions: the records that changed, by their names.
    ///   - number: the zone's newest number.
    func rows(
        over versions: [String: RecordState], after number: ChangeNumber
    ) -> (rows: [ShareRecord], changeNumber: ChangeNumber) {
        var rows: [ShareRecord] = []
        var number = number
        for name in touched.sorted() {
            let version = versions[name]
            let before = stored[name].flatMap { living.contains($0.share) ? $0 : nil }
            let now = share(of: name)
            if version == nil, before?.share == now { continue }
            if before == nil, now == nil { continue }
            if version == nil { number += 1 }
            let at = version?.changeNumber ?? number
            let type = version?.type ?? types[name] ?? ""
            if let before, before.share != now {
                rows.append(
                    ShareRecord(
                        share: before.share, name: name, type: type, number: at, enteredNumber: before.enteredNumber,
                        hasLeft: true))
            }
            if let now {
                let entered = before?.share == now ? before?.enteredNumber ?? at : at
                rows.append(
                    ShareRecord(share: now, name: name, type: type, number: at, enteredNumber: entered, hasLeft: false))
            }
        }
        return (rows, number)
    }
}
