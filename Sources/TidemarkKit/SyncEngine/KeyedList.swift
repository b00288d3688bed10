// SPDX-License-Identifier: Apache-2.0

/// An element about one record or one zone.
protocol KeyedElement: Hashable, Sendable {
    associatedtype Key: Hashable & Sendable

    /// Two elements with equal keys replace each other.
    var key: Key { get }
}

/// An ordered list with at most one element for each key (R-510 … R-513). The cost of adding and removing does not
/// depend on its length.
struct KeyedList<Element: KeyedElement>: Sendable {
    /// In order. Removed elements leave a hole.
    private var slots: [Element?] = []
    private var positions: [Element.Key: Int] = [:]

    init() {}

    init(_ elements: [Element]) {
        for element in elements { add(element) }
    }

    var isEmpty: Bool { positions.isEmpty }
    var count: Int { positions.count }
    var elements: [Element] { slots.compactMap(\.self) }

    /// As a loop over ``elements``, which copies nothing.
    func forEach(_ body: (Element) -> Void) {
        for case let element? in slots { body(element) }
    }

    func contains(key: Element.Key) -> Bool { positions[key] != nil }

    func contains(_ element: Element) -> Bool { self[element.key] == element }

    subscript(key: Element.Key) -> Element? { positions[key].flatMap { slots[$0] } }

    /// Appends the element. An equal element keeps its place. A different one with the same key is removed.
    ///
    /// - Returns: whether the list has changed.
    @discardableResult
    mutating func add(_ element: Element) -> Bool {
        if let position = positions[element.key] {
            if slots[position] == element { return false }
            slots[position] = nil
        }
        positions[element.key] = slots.count
        slots.append(element)
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
        slots[position] = nil
        compactIfSparse()
        return true
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
}

extension CKSyncEngine.PendingDatabaseChange: KeyedElement {
    var key: CKRecordZone.ID { zoneID }
}

extension CKRecordZone.ID: KeyedElement {
    var key: CKRecordZone.ID { self }
}
