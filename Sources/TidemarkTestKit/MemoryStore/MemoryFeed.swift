// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// The database feed of one viewer: a number for each zone, for the state in which it was last seen.
struct MemoryFeed {
    private struct Seen {
        var number: ChangeNumber
        var changeNumber: ChangeNumber
        var removal: ZoneRemovalReason?
    }

    private var head: ChangeNumber = 0
    private var oldestToken: ChangeNumber = 0
    private var seen: [ZoneID: Seen] = [:]

    /// - Parameter zones: the viewer's zones, by id.
    func read(_ zones: [ZoneState], after: ChangeNumber?, entriesMax: Int) -> DatabaseFeedRead {
        let entries = zones.compactMap { zone -> DatabaseFeedEntry? in
            guard let seen = seen[zone.id], seen.number > after ?? 0, after != nil || seen.removal == nil else {
                return nil
            }
            return DatabaseFeedEntry(
                number: seen.number, zone: zone.id, key: zone.key, changeNumber: seen.changeNumber,
                removal: seen.removal)
        }.sorted { ($0.number ?? 0) < ($1.number ?? 0) }
        let hasMore = entries.count > entriesMax
        let unnumbered = (hasMore ? [] : zones.filter(isUnseen)).prefix(FeedPosition.aheadMax + 1).map {
            DatabaseFeedEntry(
                number: nil, zone: $0.id, key: $0.key, changeNumber: $0.changeNumber, removal: $0.removal)
        }
        return DatabaseFeedRead(
            head: head, oldestToken: oldestToken, unnumbered: unnumbered, entries: Array(entries.prefix(entriesMax)),
            hasMore: hasMore)
    }

    /// Gives each changed zone the next number.
    mutating func advance(_ zones: [ZoneState]) {
        for zone in zones where isUnseen(zone) {
            head += 1
            seen[zone.id] = Seen(number: head, changeNumber: zone.changeNumber, removal: zone.removal)
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

    private func isUnseen(_ zone: ZoneState) -> Bool {
        guard let seen = seen[zone.id] else { return true }
        return seen.changeNumber < zone.changeNumber || (zone.removal != nil && seen.removal == nil)
    }
}
