// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// How many indexes for queries there may be. Beyond these bounds a query scans: it is slow, never wrong.
package struct IndexBounds: Sendable {
    /// In the whole store. Each index makes a save of any type slightly slower, and a save of its own type slower
    /// still. deploy/README.md tells operators.
    package var inStoreMax = 300
    /// Containers in development get no further index once there are so many in all: the rest is for production.
    package var inDevelopmentMax = 200
    /// Of one container in development. Its clients ask for them by their queries, so one app must not take the places
    /// of all others.
    package var ofContainerMax = 60
    /// What one account's queries have built, in all containers in development.
    package var ofAccountMax = 40
    /// Of those, in one container: half of its places are left to others.
    package var ofAccountInContainerMax = 30

    package init() {}
}

/// An index to be built, and what bounds it; nil for production, and for whatever an operator asks for.
struct WantedIndex: Sendable {
    let index: PhysicalIndex
    let places: IndexPlaces?
}

/// Whose places an index takes that is wanted in development.
struct IndexPlaces: Sendable {
    /// The account whose query asks; nil for an operator, whose indexes count as nobody's.
    let account: AccountID?
    /// The indexes that the container's marks ask for. Other containers may share some of them.
    private let names: Set<String>

    /// - Returns: nil for production, where an operator marks fields.
    init?(of schema: ContainerSchema, for account: AccountID? = nil) {
        guard !schema.isFrozen else { return nil }
        self.account = account
        names = Set(schema.schema.types.flatMap { PhysicalIndex.all(for: $1, named: $0) }.map(\.name))
    }

    func hasRoom(beside built: BuiltIndexes, within bounds: IndexBounds) -> Bool {
        guard built.names.count < min(bounds.inDevelopmentMax, bounds.inStoreMax),
            built.names.intersection(names).count < bounds.ofContainerMax
        else { return false }
        guard let account else { return true }
        let own = built.names(askedBy: account)
        return own.count < bounds.ofAccountMax && own.intersection(names).count < bounds.ofAccountInContainerMax
    }
}

/// The indexes for queries that can be used, and whose queries had them built.
struct BuiltIndexes: Sendable {
    private(set) var names: Set<String> = []
    private var askers: [String: AccountID] = [:]

    init(_ existing: [ExistingIndex]) {
        for index in existing where index.isValid { insert(index.name, askedBy: index.asker) }
    }

    func names(askedBy account: AccountID) -> Set<String> {
        Set(askers.filter { $0.value == account }.keys)
    }

    /// - Parameter account: nil for production, and for what an operator asks for.
    mutating func insert(_ name: String, askedBy account: AccountID?) {
        names.insert(name)
        askers[name] = account
    }

    mutating func remove(_ name: String) {
        names.remove(name)
        askers[name] = nil
    }
}

/// The indexes that background work is to build.
struct WantedIndexes: Sendable {
    private var production: [WantedIndex] = []
    private var development: [WantedIndex] = []

    var isEmpty: Bool { production.isEmpty && development.isEmpty }

    /// Each account's wishes are listed once, and at most as many as it has places: the list is bounded (I-7).
    mutating func add(_ indexes: [PhysicalIndex], within places: IndexPlaces?, bounds: IndexBounds) {
        guard let places else {
            let known = Set(production.map(\.index))
            production += indexes.filter { !known.contains($0) }.map { WantedIndex(index: $0, places: nil) }
            return
        }
        let known = Set(development.filter { $0.places?.account == places.account }.map(\.index))
        let new = indexes.filter { !known.contains($0) }
        let room = places.account == nil ? new.count : max(0, bounds.ofAccountMax - known.count)
        development += new.prefix(room).map { WantedIndex(index: $0, places: places) }
    }

    /// Takes all. Those of production come first; the others come in the order in which they were asked for.
    mutating func takeAll() -> [WantedIndex] {
        defer { self = WantedIndexes() }
        return production + development
    }
}
