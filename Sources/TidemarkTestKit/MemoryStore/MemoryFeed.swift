// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// The database feed of one viewer: a number for each zone, for the state in which it was last seen.
struct MemoryFeed {
    private struct Seen {
        let key: ZoneKey
        var number: ChangeNumber
        var changeNumber: ChangeNumber
        var removal: ZoneRemovalReason?
    }

    private var head: ChangeNumber = 0
    private var oldestToken: ChangeNumber = 0
    private var seen: [ZoneID: Seen] = [:]

    /// - Parameters:
    ///   - zones: the viewer's zones, by id.
    ///   - isShared: whether they are others'. Then nothing is told of those that have ended but their ends (I-5).
    func read(_ zones: [ZoneState], isShared: Bool, after: ChangeNumber?, entriesMax: Int) -> DatabaseFeedRead {
        let hidden = isShared ? Set(zones.filter { $0.removal != nil }.map(\.id)) : []
        let entries = seen.compactMap { zone, seen -> DatabaseFeedEntry? in
            guard seen.number > after ?? 0, after != nil || seen.removal == nil,
                seen.removal != nil || !hidden.contains(zone)
            else { return nil }
            return DatabaseFeedEntry(
                number: seen.number, zone: zone, key: seen.key, changeNumber: seen.changeNumber, removal: seen.removal)
        }.sorted { ($0.number ?? 0) < ($1.number ?? 0) }
        let hasMore = entries.count > entriesMax
        let unnumbered = (hasMore ? [] : zones.filter(isUnseen)).prefix(FeedPosition.aheadMax + 1).map {
            DatabaseFeedEntry(
                number: nil, zone: $0.id, key: $0.key, changeNumber: $0.changeNumber, removal: $0.removal)
        }
        var read = DatabaseFeedRead(
            head: head, oldestToken: oldestToken, unnumbered: unnumbered, entries: Array(entries.prefix(entriesMax)),
            hasMore: hasMore)
        read.mustNumber = isShared && unnumbered.contains { livingNumber(of: $0.zone) == nil }
        return read
    }

    /// Gives each changed zone the next number.
    mutating func advance(_ zones: [ZoneState]) {
        for zone in zones where isUnseen(zone) {
            head += 1
            seen[zone.id] = Seen(key: zone.key, number: head, changeNumber: zone.changeNumber, removal: zone.removal)
        }
    }

    /// Forgets ended zones but for those that ended last: tokens from before their ends expire.
    ///
    /// - Returns: the forgotten ones.
    mutating func compact(keeping countMax: Int) -> Set<ZoneID> {
        let ended = seen.filter { $0.value.removal != nil }.sorted { $0.value.number < $1.value.number }
        let forgotten = ended.dropLast(countMax)
        for (zone, last) in forgotten {
            oldestToken = max(oldestToken, last.number)
            seen[zone] = nil
        }
        return Set(forgotten.map(\.key))
    }

    /// Makes the zone's state news again.
    mutating func forget(_ zone: ZoneID) {
        seen[zone] = nil
    }

    /// The zone's own number in the state that the feed has; nil if it has none, or the end.
    func livingNumber(of zone: ZoneID) -> ChangeNumber? {
        seen[zone].flatMap { $0.removal == nil ? $0.changeNumber : nil }
    }

    /// An end is news once. A zone that lives after its end, because it was shared again, is news.
    private func isUnseen(_ zone: ZoneState) -> Bool {
        guard let seen = seen[zone.id] else { return true }
        if zone.removal != nil { return seen.removal == nil }
        return seen.removal != nil || seen.changeNumber < zone.changeNumber
    }
}
