// SPDX-License-Identifier: Apache-2.0

/// The order in which things were used, from the oldest to the newest. It is a list through their places in an array.
@usableFromInline
struct UseOrder: Sendable {
    /// The neighbours of a place.
    @usableFromInline
    struct Links: Sendable {
        @usableFromInline var older: Int?
        @usableFromInline var newer: Int?

        @inlinable
        init(older: Int? = nil, newer: Int? = nil) {
            self.older = older
            self.newer = newer
        }
    }

    @usableFromInline var oldest: Int?
    @usableFromInline var newest: Int?

    @inlinable init() {}

    @inlinable
    mutating func append(_ place: Int, _ links: inout [Links]) {
        links[place] = Links(older: newest)
        if let newest { links[newest].newer = place } else { oldest = place }
        newest = place
    }

    @inlinable
    mutating func remove(_ place: Int, _ links: inout [Links]) {
        let (older, newer) = (links[place].older, links[place].newer)
        if let older { links[older].newer = newer } else { oldest = newer }
        if let newer { links[newer].older = older } else { newest = older }
    }

    @inlinable
    mutating func moveToEnd(_ place: Int, _ links: inout [Links]) {
        guard newest != place else { return }
        remove(place, &links)
        append(place, &links)
    }
}
