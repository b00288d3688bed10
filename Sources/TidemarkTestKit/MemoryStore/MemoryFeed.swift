// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// The database feed of one viewer: a number for each zone, for the state in which it was last seen.
struct MemoryFeed {
    private struct Seen {
        let key: ZoneKey
        var number: ChangeNumber
        var changeNumber: ChangeNumber
        var removal: ZoneRemovalReason?
        /// The feed's number of the end before a present access that is not the first; nil: there was none.
        var lastEnd: ChangeNumber?
    }

    private var head: ChangeNumber = 0
    private var oldestToken: ChangeNumber = 0
    private var seen: [ZoneID: Seen] = [:]

    /// - Parameters:
    ///   - zones: the viewer's zones, by id.
    ///   - begins: for zones of others, the changes that gave the viewer access. Then only the ends are told of those that have ended
    ///     (I-5), and nothing of those that are there again before their ends have numbers.
    func read(
        _ zones: [ZoneState], begins: [ZoneID: ChangeNumber]?, after: ChangeNumber?, entriesMax: Int
    ) -> DatabaseFeedRead {
        let hidden = begins == nil ? [] : Set(zones.filter { $0.removal != nil }.map(\.id))
        let states = seen.filter { zone, last in
            if last.removal != nil { return true }
            return !hidden.contains(zone) && !(begins.map { lacksEnd(of: zone, $0) } ?? false)
        }
        let ends = seen.compactMap { Self.lastEnd($0, $1) }
        let entries = (states.map { Self.entry($0, $1) } + ends).filter {
            ($0.number ?? 0) > after ?? 0 && (after != nil || $0.removal == nil)
        }.sorted { ($0.number ?? 0) < ($1.number ?? 0) }
        let hasMore = entries.count > entriesMax
        let unnumbered = (hasMore ? [] : zones.filter(isUnseen)).prefix(FeedPosition.aheadMax + 1).map {
            DatabaseFeedEntry(
                number: nil, zone: $0.id, key: $0.key, changeNumber: $0.changeNumber, removal: $0.removal)
        }
        var read = DatabaseFeedRead(
            head: head, oldestToken: oldestToken, unnumbered: unnumbered, entries: Array(entries.prefix(entriesMax)),
            hasMore: hasMore)
        if let begins {
            read.mustNumber = unnumbered.contains { livingNumber(of: $0.zone) == nil || lacksEnd(of: $0.zone, begins) }
        }
        return read
    }

    private static func entry(_ zone: ZoneID, _ seen: Seen) -> DatabaseFeedEntry {
        DatabaseFeedEntry(
            number: seen.number, zone: zone, key: seen.key, changeNumber: seen.changeNumber, removal: seen.removal)
    }

    private static func lastEnd(_ zone: ZoneID, _ seen: Seen) -> DatabaseFeedEntry? {
        seen.lastEnd.map {
            DatabaseFeedEntry(
                number: $0, zone: zone, key: seen.key, changeNumber: seen.changeNumber, removal: .deleted)
        }
    }

    /// Gives each changed zone the next number, and an end that the feed lacks the one before.
    mutating func advance(_ zones: [ZoneState], begins: [ZoneID: ChangeNumber]?) {
        for zone in zones where isUnseen(zone) {
            let end = begins.flatMap { lastEnd(of: zone, $0) }
            seen[zone.id] = Seen(
                key: zone.key, number: head + 1, changeNumber: zone.changeNumber, removal: zone.removal, lastEnd: end)
            head += 1
        }
    }

    /// The number of the end that comes before the state of another's zone, which is about to get a number.
    private mutating func lastEnd(of zone: ZoneState, _ begins: [ZoneID: ChangeNumber]) -> ChangeNumber? {
        guard zone.removal == nil, let seen = seen[zone.id] else { return nil }
        if seen.removal != nil { return seen.number }
        guard lacksEnd(of: zone.id, begins) else { return seen.lastEnd }
        head += 1
        return head
    }

    /// Whether the feed has the zone from before the present access, and not the end in between.
    private func lacksEnd(of zone: ZoneID, _ begins: [ZoneID: ChangeNumber]) -> Bool {
        guard let told = livingNumber(of: zone), let begin = begins[zone] else { return false }
        return told < begin
    }

    /// Forgets ended zones, except those that ended last: tokens from before their ends expire.
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
