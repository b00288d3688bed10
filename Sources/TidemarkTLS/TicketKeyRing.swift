// SPDX-License-Identifier: Apache-2.0

/// The keys of a server's tickets: the newest makes tickets, and it and the ones before it open them. A pure value.
///
/// Anyone who gets a ticket key can read the recorded traffic of sessions that its tickets resumed. So a key is
/// forgotten after three hours: it makes tickets for one hour, and opens them for the two hours of a ticket's life.
struct TicketKeyRing<Key> {
    /// How long a key makes tickets.
    static var sealingTime: Duration { .seconds(3_600) }
    /// How long the last ticket of a key is valid.
    static var ticketTime: Duration { .seconds(7_200) }

    /// Newest first.
    private var keys: [(key: Key, madeAt: Duration)] = []

    var count: Int { keys.count }

    /// The key for a new ticket.
    mutating func sealingKey(at now: Duration, make: () -> Key?) -> Key? {
        forget(at: now)
        if let newest = keys.first, now - newest.madeAt < Self.sealingTime { return newest.key }
        guard let key = make() else { return nil }
        keys.insert((key, now), at: 0)
        return key
    }

    /// The key that made a ticket; nil if it is forgotten, or was never here.
    ///
    /// - Returns: also whether the key makes no tickets any more, so that the client should get a new one.
    mutating func openingKey(at now: Duration, where isWanted: (Key) -> Bool) -> (key: Key, isOld: Bool)? {
        forget(at: now)
        guard let found = keys.first(where: { isWanted($0.key) }) else { return nil }
        return (found.key, now - found.madeAt >= Self.sealingTime)
    }

    private mutating func forget(at now: Duration) {
        keys.removeAll { now - $0.madeAt >= Self.sealingTime + Self.ticketTime }
    }
}

/// The hours since 1970 whose shared keys make and open tickets. A pure value.
///
/// As with keys of a server's own, a key makes tickets for an hour and opens them for two more. The clock of another server may
/// be ahead, so the next hour's key opens tickets too.
struct TicketHours: Equatable {
    let sealing: Int64
    /// The likeliest first.
    let opening: [Int64]

    private static let secondsPerHour: Int64 = 3_600

    /// - Parameter seconds: since 1970. A wrong clock may say anything.
    init(at seconds: Int64) {
        let hour = seconds / Self.secondsPerHour
        sealing = hour
        opening = [hour, hour - 1, hour - 2, hour + 1]
    }
}
