// SPDX-License-Identifier: Apache-2.0

/// A cache whose room owners share. The value that was used longest ago goes first.
///
/// If the room is full, the owner that has most gives way, with the value that it used longest ago. An owner
/// that has only a small part gives way only if nobody has more than that. Then the value that was used longest ago of
/// all goes.
///
/// Each step costs the same, however much is in the cache. Using or lending a value is one look-up in a table, and
/// taking it back needs none. Values that leave are returned, so that a caller with a lock can free them afterwards.
@usableFromInline
package struct FairCache<Key: Hashable, Value> {
    @usableFromInline
    struct Entry {
        @usableFromInline let key: Key
        /// Nil while it is lent.
        @usableFromInline var value: Value?
        @usableFromInline var room: Int
        /// The position of its owner in `holdings`.
        @usableFromInline let holding: Int
        /// No other entry ever has the same value.
        @usableFromInline let number: UInt64

        @inlinable
        init(key: Key, value: consuming Value, room: Int, holding: Int, number: UInt64) {
            self.key = key
            self.value = value
            self.room = room
            self.holding = holding
            self.number = number
        }
    }

    /// The values of an owner.
    @usableFromInline
    struct Holding {
        @usableFromInline let owner: WorkOwner
        @usableFromInline var room = 0
        @usableFromInline var order = UseOrder()

        @inlinable init(owner: WorkOwner) { self.owner = owner }
    }

    /// The value that was lent.
    @usableFromInline
    package struct Loan: Sendable {
        @usableFromInline let place: Int
        @usableFromInline let number: UInt64

        @inlinable
        init(place: Int, number: UInt64) {
            self.place = place
            self.number = number
        }
    }

    /// How many values may go for one that comes. If there are more that should, the next ones take them along.
    @inlinable package static var leavingMax: Int { 256 }

    @usableFromInline package let roomMax: Int
    @usableFromInline package var room = 0
    @usableFromInline var places: [Key: Int] = [:]
    @usableFromInline var entries: [Entry?] = []
    @usableFromInline var vacant: [Int] = []
    @usableFromInline var order = UseOrder()
    @usableFromInline var links: [UseOrder.Links] = []
    /// The links of a position among those of its owner.
    @usableFromInline var ownLinks: [UseOrder.Links] = []
    @usableFromInline var holdingPlaces: [WorkOwner: Int] = [:]
    @usableFromInline var holdings: [Holding] = []
    @usableFromInline var vacantHoldings: [Int] = []
    /// The places of owners that have more than a small part. There are at most as many as there are such parts, so the one with most is
    /// cheap to find.
    @usableFromInline var large: [Int] = []
    @usableFromInline var lastNumber: UInt64 = 0

    /// - Parameter roomMax: in any unit, such as the approximate bytes of all values. A single value that takes more is
    ///   kept until the next one comes.
    @inlinable
    package init(roomMax: Int) {
        self.roomMax = roomMax
    }

    /// How many values there are.
    @inlinable package var count: Int { places.count }

    /// All values that are not lent, in no order.
    @inlinable package var values: [Value] { entries.compactMap { $0?.value } }

    /// The room that an owner has.
    @inlinable
    package func room(of owner: WorkOwner) -> Int { holdingPlaces[owner].map { holdings[$0].room } ?? 0 }

    /// The value, which does not count as used. Nil while it is lent.
    @inlinable
    package func value(of key: Key) -> Value? { places[key].flatMap { entries[$0]?.value } }

    /// The value, which counts as used now. Nil while it is lent.
    @inlinable
    package mutating func use(_ key: Key) -> Value? {
        guard let place = places[key], let value = entries[place]?.value else { return nil }
        touch(place)
        return value
    }

    @inlinable
    package mutating func take(_ key: Key) -> (value: Value, owner: WorkOwner)? {
        guard let place = places[key], let holding = entries[place]?.holding else { return nil }
        let owner = holdings[holding].owner
        return remove(at: place).map { ($0, owner) }
    }

    /// Takes out the value that an owner used longest ago.
    @inlinable
    package mutating func takeOldest(of owner: WorkOwner) -> Value? {
        guard let place = holdingPlaces[owner].flatMap({ holdings[$0].order.oldest }) else { return nil }
        return remove(at: place)
    }

    // MARK: Lending

    /// The value, to be changed in place. Its room and its place in the order stay, so that it costs little to give it back.
    /// Until then nobody finds it.
    @inlinable
    package mutating func lend(_ key: Key) -> (value: Value, loan: Loan)? {
        guard let place = places[key], let entry = entries[place], let value = entry.value else { return nil }
        entries[place]?.value = nil
        return (value, Loan(place: place, number: entry.number))
    }

    /// Takes back a lent value. It counts as used now. If it has left the cache in between, or another value has its key, it stays out.
    ///
    /// - Returns: what gave way, or stays out.
    @inlinable
    package mutating func takeBack(_ value: consuming Value, _ loan: Loan, room: Int) -> [Value] {
        guard let entry = entries[loan.place], entry.number == loan.number else { return [value] }
        entries[loan.place]?.value = consume value
        entries[loan.place]?.room = room
        count(room - entry.room, of: entry.holding)
        touch(loan.place)
        return makeRoom(besides: loan.place)
    }

    /// Forgets a lent value.
    @inlinable
    package mutating func forget(_ loan: Loan) {
        guard entries[loan.place]?.number == loan.number else { return }
        _ = remove(at: loan.place)
    }

    // MARK: Keeping

    /// Adds a value, or replaces the one that has the key.
    ///
    /// - Parameter room: what the value takes of the room.
    /// - Returns: what gave way, without a value that was replaced.
    @inlinable
    @discardableResult
    package mutating func keep(
        _ value: consuming Value, as key: Key, room: Int, of owner: WorkOwner
    ) -> [Value] {
        if let place = places[key] { _ = remove(at: place) }
        let place = vacant.popLast() ?? addPlace()
        let holding = holdingPlaces[owner] ?? addHolding(of: owner)
        lastNumber += 1
        entries[place] = Entry(key: key, value: value, room: room, holding: holding, number: lastNumber)
        places[key] = place
        order.append(place, &links)
        holdings[holding].order.append(place, &ownLinks)
        count(room, of: holding)
        return makeRoom(besides: place)
    }

    @inlinable
    mutating func makeRoom(besides place: Int) -> [Value] {
        var leaving: [Value] = []
        var leftCount = 0
        while room > roomMax, leftCount < Self.leavingMax, let other = leastWanted(besides: place) {
            leftCount += 1
            if let value = remove(at: other) { leaving.append(value) }
        }
        return leaving
    }

    @inlinable
    mutating func addPlace() -> Int {
        entries.append(nil)
        links.append(UseOrder.Links())
        ownLinks.append(UseOrder.Links())
        return entries.count - 1
    }

    @inlinable
    mutating func addHolding(of owner: WorkOwner) -> Int {
        let holding: Int
        if let vacant = vacantHoldings.popLast() {
            holding = vacant
            holdings[holding] = Holding(owner: owner)
        } else {
            holding = holdings.count
            holdings.append(Holding(owner: owner))
        }
        holdingPlaces[owner] = holding
        return holding
    }

    @inlinable
    mutating func touch(_ place: Int) {
        guard let holding = entries[place]?.holding else { return }
        order.moveToEnd(place, &links)
        holdings[holding].order.moveToEnd(place, &ownLinks)
    }

    /// - Returns: nil if it is lent.
    @inlinable
    mutating func remove(at place: Int) -> Value? {
        guard let entry = entries[place] else { return nil }
        let holding = entry.holding
        entries[place] = nil
        vacant.append(place)
        places[entry.key] = nil
        order.remove(place, &links)
        holdings[holding].order.remove(place, &ownLinks)
        count(-entry.room, of: holding)
        if holdings[holding].order.oldest == nil {
            holdingPlaces[holdings[holding].owner] = nil
            vacantHoldings.append(holding)
        }
        return entry.value
    }

    /// The place of what gives way. It is never the one that has just been taken.
    @inlinable
    func leastWanted(besides newest: Int) -> Int? {
        let givers = large.lazy.filter { holdings[$0].order.oldest != newest }
        if let giver = givers.max(by: { excess(of: $0) < excess(of: $1) }) { return holdings[giver].order.oldest }
        return order.oldest == newest ? nil : order.oldest
    }

    /// A part that no owner has to give back while others have more.
    @inlinable
    func smallPart(of owner: WorkOwner) -> Int { owner == .nobody ? roomMax / 128 : roomMax / 32 }

    /// How often an owner has its small part.
    @inlinable
    func excess(of holding: Int) -> Double {
        Double(holdings[holding].room) / Double(max(1, smallPart(of: holdings[holding].owner)))
    }

    @inlinable
    mutating func count(_ change: Int, of holding: Int) {
        room += change
        let before = holdings[holding].room
        holdings[holding].room = before + change
        let part = smallPart(of: holdings[holding].owner)
        if before <= part, before + change > part { large.append(holding) }
        if before > part, before + change <= part { large.removeAll { $0 == holding } }
    }
}

extension FairCache: Sendable where Key: Sendable, Value: Sendable {}
extension FairCache.Entry: Sendable where Key: Sendable, Value: Sendable {}
extension FairCache.Holding: Sendable {}
