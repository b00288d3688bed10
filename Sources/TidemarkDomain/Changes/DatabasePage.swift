// SPDX-License-Identifier: Apache-2.0

/// One page of a viewer's database feed.
package struct DatabasePage: Sendable, Equatable {
    /// Zones that are gone, with the reason. Handle them before ``changed``, which may hold a zone of the same name
    /// that was created since. Each name stands here once, with the last of its ends.
    package let ended: [DatabaseFeedEntry]
    /// Zones that were created or in which something changed, oldest change first.
    package let changed: [DatabaseFeedEntry]
    /// The place from which the next fetch goes on.
    package let token: ChangeToken
    /// Whether the feed already holds more.
    package let moreComing: Bool

    /// Makes a page from the data that was read, or returns the reason why there is none. The reason is `tokenExpired`
    /// if the token is ahead of the feed, or older than the ends that the feed still knows.
    ///
    /// Zones without a number are included if that is possible (``DatabaseFeedRead/needsNumbers(entriesMax:)``). If it
    /// is not, they must have been given numbers since the fetch began. Those that have moved again since then come
    /// with the next fetch.
    ///
    /// - Parameters:
    ///   - after: the position in the client's token; nil for a first fetch, which gets no ends …
    ///   - tellsEnds: … unless this is true: then it gets all ends that the feed still knows.
    ///   - entriesMax: how many entries the client asked for.
    package static func make(
        of read: DatabaseFeedRead, viewer: DatabaseID, after: FeedPosition?, tellsEnds: Bool = false, entriesMax: Int,
        store: StoreIncarnation
    ) -> Result<DatabasePage, FailureReason> {
        if let after {
            let numbers = read.oldestToken...max(read.oldestToken, read.head)
            guard numbers.contains(after.number) else { return .failure(.tokenExpired) }
        }
        if read.entries.isEmpty, read.hasMore { return .failure(.serverFault) }
        let entries = read.entries.prefix(max(1, entriesMax))
        let isLast = entries.count == read.entries.count && !read.hasMore
        let number = isLast ? read.head : entries.last?.number ?? read.head
        let tellsUnnumbered = isLast && read.isTellable(entriesMax: max(1, entriesMax))
        let unnumbered = tellsUnnumbered ? read.unnumbered.sorted { $0.zone < $1.zone } : []
        // If a zone has moved since it got its number, only the newer state is included. The end before it stays.
        let newer = Set(unnumbered.map(\.zone))
        // the default zone is in no feed, unless the container says otherwise.
        let shown = (entries.filter { $0.removal != nil || !newer.contains($0.zone) } + unnumbered).filter {
            (read.feedsEverywhere || $0.key.name != ZoneName.default)
                && (after != nil || tellsEnds || $0.removal == nil) && !(after?.hasTold($0) ?? false)
        }
        let ahead = unnumbered.map { FeedPosition.Ahead(zone: $0.zone, changeNumber: $0.changeNumber) }
        let position = FeedPosition(number: number, ahead: tellsUnnumbered ? ahead : after?.ahead ?? [])
        return .success(
            DatabasePage(
                ended: lastEnds(in: shown), changed: shown.filter { $0.removal == nil },
                token: .database(store: store, viewer: viewer, position: position), moreComing: !isLast))
    }

    private static func lastEnds(in entries: [DatabaseFeedEntry]) -> [DatabaseFeedEntry] {
        var last: [ZoneKey: ZoneID] = [:]
        let ends = entries.filter { $0.removal != nil }
        for end in ends { last[end.key] = max(last[end.key] ?? end.zone, end.zone) }
        return ends.filter { last[$0.key] == $0.zone }
    }
}
