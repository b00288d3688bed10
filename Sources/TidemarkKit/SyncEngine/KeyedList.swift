// SPDX-License-Identifier: Apache-2.0

/// An element about one record or one zone.
protocol KeyedElement: Hashable, Sendable {
    associatedtype Key: Hashable & Sendable

    /// Two elements with equal keys replace each other.
    var key: Key { get }

    /// `Never`: they are counted together.
    associatedtype Group: Hashable & Sendable = Never

    /// The elements with which it is counted. Nil: none.
    var group: Group? { get }
    /// Whether it is counted among the saves.
    var isCountedSave: Bool { get }
}

extension KeyedElement {
    var isCountedSave: Bool { false }
}

extension KeyedElement where Group == Never {
    var group: Never? { nil }
}

/// An ordered list with at most one element for each key (R-510 … R-513). The cost of adding and removing does not
/// depend on its length.
struct KeyedList<Element: KeyedElement>: Sendable {
    /// In order. Removed elements leave a hole.
    private var slots: [Element?] = []
    private var positions: [Element.Key: Int] = [:]
    /// Elements that are saves. This and the counts of groups are kept, because whoever follows an engine's status wants
    /// them after each change.
    private(set) var saveCount = 0
    private var groupCounts: [Element.Group: Int] = [:]

    init() {}

    init(_ elements: [Element]) {
        for element in elements { add(element) }
    }

    var isEmpty: Bool { positions.isEmpty }
    var count: Int { positions.count }
    var elements: [Element] { slots.compactMap(\.self) }

    func contains(key: Element.Key) -> Bool { positions[key] != nil }

    func contains(_ element: Element) -> Bool { self[element.key] == element }

    /// How many elements of a group there are.
    func count(in group: Element.Group) -> Int { groupCounts[group] ?? 0 }

    subscript(key: Element.Key) -> Element? { positions[key].flatMap { slots[$0] } }

    /// Appends the element. An equal element keeps its place. A different one with the same key is removed.
    ///
    /// - Returns: whether the list has changed.
    @discardableResult
    mutating func add(_ element: Element) -> Bool {
        if let position = positions[element.key] {
            if slots[position] == element { return false }
            empty(position)
        }
        positions[element.key] = slots.count
        slots.append(element)
        count(element, 1)
        compactIfSparse()
        return true
    }

    /// Removes exactly this element.
    ///
    /// - Returns: whether it was in the list.
    @discardableResult
    mutating func remove(_ element: Element) -> Bool {
        contains(element) && remove(key: element.key)
    }

    /// - Returns: whether there was an element with this key.
    @discardableResult
    mutating func remove(key: Element.Key) -> Bool {
        guard let position = positions.removeValue(forKey: key) else { return false }
        empty(position)
        compactIfSparse()
        return true
    }

    private mutating func empty(_ position: Int) {
        if let element = slots[position] { count(element, -1) }
        slots[position] = nil
    }

    private mutating func count(_ element: Element, _ change: Int) {
        if element.isCountedSave { saveCount += change }
        guard let group = element.group else { return }
        let count = count(in: group) + change
        groupCounts[group] = count == 0 ? nil : count
    }

    /// Puts elements back in front of all others, in their order, except those whose key has a newer element by now.
    ///
    /// - Returns: whether the list has changed.
    @discardableResult
    mutating func restore(_ older: [Element]) -> Bool {
        let missing = older.filter { !contains(key: $0.key) }
        guard !missing.isEmpty else { return false }
        self = KeyedList(missing + elements)
        return true
    }

    mutating func removeAll() {
        self = KeyedList()
    }

    /// There are never many more holes than elements, so `elements` costs no more than it returns.
    private mutating func compactIfSparse() {
        guard slots.count > 2 * positions.count + 32 else { return }
        self = KeyedList(elements)
    }
}

extension KeyedList: Equatable {
    static func == (left: Self, right: Self) -> Bool { left.elements == right.elements }
}

extension CKSyncEngine.PendingRecordZoneChange: KeyedElement {
    var key: CKRecord.ID { recordID }
    var group: CKRecordZone.ID? { recordID.zoneID }
    var isCountedSave: Bool { if case .saveRecord = self { true } else { false } }
}

extension KeyedList<CKSyncEngine.PendingRecordZoneChange> {
    /// How many changes a send in this scope would bring. It costs no more than the scope is long.
    func count(in scope: CKSyncEngine.SendChangesOptions.Scope) -> Int {
        func count(of zoneIDs: [CKRecordZone.ID]) -> Int { Set(zoneIDs).reduce(0) { $0 + self.count(in: $1) } }
        return switch scope {
        case .all: self.count
        case .allExcluding(let excluded): self.count - count(of: excluded)
        case .zoneIDs(let included): count(of: included)
        case .recordIDs(let included): Set(included).count(where: contains(key:))
        }
    }
}

extension CKSyncEngine.PendingDatabaseChange: KeyedElement {
    var key: CKRecordZone.ID { zoneID }
}

extension CKRecordZone.ID: KeyedElement {
    var key: CKRecordZone.ID { self }
}
