// SPDX-License-Identifier: Apache-2.0

// The events of a device, as its server sees them.

extension DeviceProgress {
    package mutating func answered(_ request: RequestSummary) {
        // Its memory is kept: no allocation from the second round on.
        if requests.count >= Self.requestsMax { requests.removeFirst(requests.count - Self.requestsMax + 1) }
        if requests.capacity == 0 { requests.reserveCapacity(Self.requestsMax) }
        requests.append(request)
    }

    /// The device was told to wait.
    package mutating func throttled(_ throttling: Throttling) { throttle = throttling }

    // MARK: Feeds

    /// The device is answered a page of a feed.
    ///
    /// - Parameters:
    ///   - asked: the place in its token; nil if it sent none.
    ///   - number: the place at which the page ends.
    package mutating func told(
        _ feed: FeedName, asked: ChangeNumber?, to number: ChangeNumber, at now: Timestamp
    ) {
        let place = place(of: feed, asked: asked, told: number, at: now)
        (feeds[place].asked, feeds[place].toldAt, feeds[place].expiredCount) = (asked, now, 0)
        feeds[place].move(to: number)
    }

    /// The device has taken pages that pushes brought.
    ///
    /// - Parameter place: how far that has brought it in a feed; nil: not at all.
    package mutating func heard(at now: Timestamp, _ place: (FeedProgress) -> ChangeNumber?) {
        for index in feeds.indices {
            guard let number = place(feeds[index]), number > feeds[index].told else { continue }
            feeds[index].toldAt = now
            feeds[index].move(to: number)
        }
    }

    /// The device's token is refused because it has expired.
    package mutating func expired(_ feed: FeedName, asked: ChangeNumber, at now: Timestamp) {
        let place = place(of: feed, asked: asked, told: asked, at: now)
        feeds[place].asked = asked
        feeds[place].expiredCount += 1
    }

    /// The device has changed records of a zone. It knows these changes without reading them.
    ///
    /// - Parameters:
    ///   - numbers: of the saves, in any order.
    ///   - deletions: how many records it deleted. Their numbers are not told.
    package mutating func wrote(in key: ZoneKey, _ numbers: some Sequence<ChangeNumber>, deletions: Int) {
        let mark = ChangeToken.nameMark(of: key.name)
        guard let place = feeds.firstIndex(where: { $0.database == key.database && $0.mark == mark }) else { return }
        // A save that changes nothing is answered with an older number.
        let after = max(feeds[place].told, feeds[place].lastOwn)
        var (count, last) = (Int64(deletions), feeds[place].lastOwn)
        for number in numbers where number > after {
            count += 1
            last = max(last, number)
        }
        feeds[place].own += count
        feeds[place].lastOwn = last
    }

    /// The place of a feed in the list. If the list is full, the feed that was told something longest ago gives way.
    private mutating func place(
        of feed: FeedName, asked: ChangeNumber?, told: ChangeNumber, at now: Timestamp
    ) -> Int {
        if let place = feeds.firstIndex(where: { $0.database == feed.database && $0.zone == feed.zone }) {
            return place
        }
        let new = FeedProgress(
            database: feed.database, zone: feed.zone, mark: feed.mark, asked: asked, told: told, toldAt: now)
        guard feeds.count >= Self.feedsMax,
            let oldest = feeds.indices.min(by: { feeds[$0].toldAt < feeds[$1].toldAt })
        else {
            feeds.append(new)
            return feeds.count - 1
        }
        feeds[oldest] = new
        return oldest
    }

    // MARK: Records

    /// All records that the device sent were taken, or some were refused.
    package mutating func sentRecords(refused refusal: RecordsRefusal?, at now: Timestamp) {
        (self.refusal, sentAt) = (refusal, now)
    }

    // MARK: Pushes

    package mutating func pushed(at now: Timestamp) {
        if push == nil { push = PushProgress(sentAt: now) } else { push?.sentAt = now }
    }

    /// The device has acknowledged all pushes.
    package mutating func heardPushes(at now: Timestamp) {
        push?.heardAt = now
        push?.missedCount = 0
    }

    /// So many pushes more were not acknowledged in time.
    package mutating func missedPushes(_ count: Int) {
        guard let missed = push?.missedCount else { return }
        push?.missedCount = missed + Int64(count)
    }
}

extension FeedProgress {
    fileprivate mutating func move(to number: ChangeNumber) {
        // The device has now read the changes that it made before this place. Its later changes were not sent to it so
        // far.
        if number >= lastOwn { own = 0 }
        told = number
    }
}

// MARK: Several servers

extension DeviceProgress {
    /// Takes over what another server knew and this one does not know, or knows less well: of each fact the newer one.
    package mutating func merge(_ other: DeviceProgress) {
        if let otherLink = other.link, link?.isOlder(than: otherLink) ?? true { link = otherLink }
        throttle = [throttle, other.throttle].compactMap(\.self).max { $0.at < $1.at }
        // An outcome without refusals is news too.
        if let otherSentAt = other.sentAt, sentAt.map({ $0 < otherSentAt }) ?? true {
            (refusal, sentAt) = (other.refusal, otherSentAt)
        }
        push = [push, other.push].compactMap(\.self).max { $0.sentAt < $1.sentAt }
        pending = [pending, other.pending].compactMap(\.self).max { $0.at < $1.at }
        for feed in other.feeds { merge(feed) }
        let known = Set(requests.map(\.mark))
        requests += other.requests.filter { !known.contains($0.mark) }
        // NB: the sort is stable, as Swift's is.
        requests.sort { $0.at < $1.at }
        requests.removeFirst(max(0, requests.count - Self.requestsMax))
    }

    private mutating func merge(_ feed: FeedProgress) {
        if let place = feeds.firstIndex(where: { $0.database == feed.database && $0.zone == feed.zone }) {
            if feed.toldAt > feeds[place].toldAt { feeds[place] = feed }
        } else if feeds.count < Self.feedsMax {
            feeds.append(feed)
        } else if let oldest = feeds.indices.min(by: { feeds[$0].toldAt < feeds[$1].toldAt }),
            feeds[oldest].toldAt < feed.toldAt
        {
            feeds[oldest] = feed
        }
    }
}
