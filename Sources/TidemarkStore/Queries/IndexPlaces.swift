// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// An index to be built, and what bounds it; nil for production, and for whatever an operator asks for.
struct WantedIndex: Sendable {
    let index: PhysicalIndex
    let places: IndexPlaces?
}

/// How many indexes for queries a container in development may have built. Its clients ask for them by their
/// queries, so one app must not take the places of all others. Without its index a query is slow, never wrong.
struct IndexPlaces: Sendable {
    /// The most indexes of one container in development.
    static let ofContainerMax = 60
    /// Containers in development get no further index once there are so many in all: the rest is for production.
    static let inDevelopmentMax = 200

    /// The indexes that the container's marks ask for. Other containers may share some of them.
    private let names: Set<String>

    /// - Returns: nil for production, where an operator marks fields.
    init?(of schema: ContainerSchema) {
        guard !schema.isFrozen else { return nil }
        names = Set(schema.schema.types.flatMap { PhysicalIndex.all(for: $1, named: $0) }.map(\.name))
    }

    /// - Parameter built: the names of all indexes for queries.
    func hasRoom(beside built: Set<String>) -> Bool {
        built.count < Self.inDevelopmentMax && built.intersection(names).count < Self.ofContainerMax
    }
}
