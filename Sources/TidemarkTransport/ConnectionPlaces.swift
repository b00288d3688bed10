// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkSockets

/// The most connections of each kind.
package struct PlaceLimits: Sendable, Equatable {
    /// All connections together, and of them those that nobody can tell apart yet: they have not said who they are.
    package let connectionsMax: Int
    package let newcomersMax: Int
    /// Newcomers of one address.
    package let newcomersPerAddressMax: Int
    /// Connections that said that they have no credential, and those of one address.
    package let anonymousMax: Int
    package let anonymousPerAddressMax: Int
    /// Connections that were refused and have not ended.
    package let leavingMax: Int
    /// How long a newcomer keeps its place although others want it. An address with far fewer of them does not have to
    /// wait.
    package var patience = Duration.seconds(1)

    /// A quarter of the connections is for newcomers and for those that are refused.
    ///
    /// - Parameters:
    ///   - anonymousMax: nil for a quarter of the connections.
    ///   - anonymousPerAddressMax: nil for no bound, as behind a proxy, where all connections have its address.
    package init(connectionsMax: Int, anonymousMax: Int? = nil, anonymousPerAddressMax: Int? = 256) {
        self.connectionsMax = max(8, connectionsMax)
        leavingMax = max(1, min(256, self.connectionsMax / 8))
        newcomersMax = max(1, min(4_096, self.connectionsMax / 4 - leavingMax))
        newcomersPerAddressMax = anonymousPerAddressMax == nil ? newcomersMax : max(1, newcomersMax / 4)
        // At least half of those whose sessions have begun are for others.
        let settledMax = self.connectionsMax - newcomersMax - leavingMax
        self.anonymousMax = max(1, min(anonymousMax ?? self.connectionsMax / 4, settledMax / 2))
        self.anonymousPerAddressMax = anonymousPerAddressMax ?? .max
    }

    /// Connections whose sessions have begun.
    var settledMax: Int { connectionsMax - newcomersMax - leavingMax }
}

/// The reason why there is no place for a connection.
package enum Overcrowding: Sendable {
    /// Its address has too many.
    case ofAddress
    /// The server has too many of its kind.
    case ofServer
}

/// Divides a server's connections among addresses and accounts, and decides who gets the next one. No clock, no
/// socket.
///
/// A connection arrives as a newcomer. Once its credential is known, it settles, with a credential or without. A
/// connection that is refused or must give way is leaving until it has ended.
struct ConnectionPlaces {
    /// The decision about an arriving connection.
    struct Arrival {
        /// Whether the new connection itself is refused.
        var refusal: Overcrowding?
        /// A newcomer that must give way to it, and why.
        var victim: (id: UInt64, why: Overcrowding)?
        /// A connection that must end now, because too many are leaving. It may be the new one.
        var ended: UInt64?
    }

    private enum Standing { case newcomer, anonymous, member, leaving }

    private struct Place {
        let block: AddressBlock
        var standing: Standing
        let arrivedAt: Duration
    }

    /// The connections of one address.
    private struct Block {
        /// In the order of their arrival, including some that are no longer newcomers, or no longer of this address.
        var newcomers: Deque<UInt64> = []
        var newcomerCount = 0
        var anonymousCount = 0
    }

    private let limits: PlaceLimits
    private var places: [UInt64: Place] = [:]
    private var blocks: [AddressBlock: Block] = [:]
    private var leaving: Deque<UInt64> = []
    private(set) var newcomerCount = 0
    private(set) var anonymousCount = 0
    private(set) var memberCount = 0
    private(set) var leavingCount = 0

    init(_ limits: PlaceLimits) {
        self.limits = limits
    }

    var count: Int { places.count }

    // MARK: Events

    /// A connection has been accepted. `id` is new.
    ///
    /// - Parameter isProxy: whether the connection will turn out to be another client's. The bound of one address does
    ///   not apply to it.
    mutating func arrive(
        _ id: UInt64, from block: AddressBlock, isProxy: Bool = false, at now: Duration
    ) -> Arrival {
        var arrival = Arrival()
        if let (crowd, candidate) = crowd(in: block, isProxy: isProxy) {
            if let candidate, let place = places[candidate],
                now - place.arrivedAt >= limits.patience || isFarAhead(place.block, of: block)
            {
                arrival.victim = (candidate, crowd)
                dismiss(candidate)
            } else {
                arrival.refusal = crowd
            }
        }
        places[id] = Place(block: block, standing: .newcomer, arrivedAt: now)
        newcomerCount += 1
        blocks[block, default: Block()].newcomers.append(id)
        blocks[block]?.newcomerCount += 1
        if arrival.refusal != nil { dismiss(id) }
        arrival.ended = firstToEnd()
        return arrival
    }

    /// A connection that came from a proxy turns out to be a client's. It arrives again from the client's address: decisions for
    /// the proxy's address do not count.
    ///
    /// - Returns: nil if it had to end before, or has settled.
    mutating func move(_ id: UInt64, to block: AddressBlock, at now: Duration) -> Arrival? {
        guard let place = places[id], place.standing == .newcomer || place.standing == .leaving else { return nil }
        leave(id)
        if place.standing == .leaving { leaving.removeAll { $0 == id } }
        return arrive(id, from: block, at: now)
    }

    /// Whether it waits for its peer to say who it is, and has not been told to leave.
    func isNewcomer(_ id: UInt64) -> Bool { places[id]?.standing == .newcomer }

    /// Whether an address has so many newcomers that patience does not protect them from those of another.
    private func isFarAhead(_ block: AddressBlock, of other: AddressBlock) -> Bool {
        let count = blocks[block]?.newcomerCount ?? 0
        let otherCount = blocks[other]?.newcomerCount ?? 0
        return count >= 4 * (otherCount + 1)
    }

    /// A newcomer has said who it is. Nil: it has a place. Otherwise it is leaving.
    mutating func settle(_ id: UInt64, isAnonymous: Bool) -> Overcrowding? {
        guard let place = places[id], place.standing == .newcomer else { return nil }
        let crowd: Overcrowding? =
            if isAnonymous, (blocks[place.block]?.anonymousCount ?? 0) >= limits.anonymousPerAddressMax {
                .ofAddress
            } else if isAnonymous, anonymousCount >= limits.anonymousMax {
                .ofServer
            } else if anonymousCount + memberCount >= limits.settledMax {
                .ofServer
            } else { nil }
        if crowd != nil { dismiss(id) } else { change(id, to: isAnonymous ? .anonymous : .member) }
        return crowd
    }

    /// A connection has ended. Doing so again does nothing.
    mutating func leave(_ id: UInt64) {
        count(id, by: -1)
        places[id] = nil
    }

    /// The connection that has been leaving for longest, if too many are. It then counts as gone.
    mutating func firstToEnd() -> UInt64? {
        guard leavingCount > limits.leavingMax else { return nil }
        while let first = leaving.popFirst() {
            guard places[first]?.standing == .leaving else { continue }
            leave(first)
            return first
        }
        return nil
    }

    // MARK: Deciding

    /// The bound that one more newcomer would exceed, and the newcomer that would give way: the oldest one of the
    /// address that has most.
    private mutating func crowd(in block: AddressBlock, isProxy: Bool) -> (Overcrowding, candidate: UInt64?)? {
        let own = blocks[block]?.newcomerCount ?? 0
        if !isProxy, own >= limits.newcomersPerAddressMax { return (.ofAddress, oldestNewcomer(of: block)) }
        guard newcomerCount >= limits.newcomersMax else { return nil }
        // Among equals it is the one that has waited longest. Otherwise one of very many addresses could protect the others, by connecting
        // again each second.
        let largest = blocks.max { left, right in
            let (count, other) = (left.value.newcomerCount, right.value.newcomerCount)
            guard count == other else { return count < other }
            return firstArrival(in: left.value, of: left.key) > firstArrival(in: right.value, of: right.key)
        }
        return (.ofServer, largest.flatMap { oldestNewcomer(of: $0.key) })
    }

    /// When its oldest newcomer came.
    private func firstArrival(in block: Block, of name: AddressBlock) -> Duration {
        for id in block.newcomers {
            if let place = places[id], place.standing == .newcomer, place.block == name { return place.arrivedAt }
        }
        return .seconds(Int64.max)
    }

    /// NB: one that has moved is still in the list of the block that it came from.
    private func isNewcomer(_ id: UInt64, of block: AddressBlock) -> Bool {
        guard let place = places[id] else { return false }
        return place.standing == .newcomer && place.block == block
    }

    private mutating func oldestNewcomer(of block: AddressBlock) -> UInt64? {
        while let first = blocks[block]?.newcomers.first {
            if isNewcomer(first, of: block) { return first }
            blocks[block]?.newcomers.removeFirst()
        }
        return nil
    }

    // MARK: Counting

    private mutating func dismiss(_ id: UInt64) {
        change(id, to: .leaving)
        leaving.append(id)
        // NB: those that end by themselves leave from the middle, as newcomers do.
        if leaving.count > 2 * leavingCount + 16 { leaving.removeAll { places[$0]?.standing != .leaving } }
    }

    private mutating func change(_ id: UInt64, to standing: Standing) {
        count(id, by: -1)
        places[id]?.standing = standing
        count(id, by: 1)
    }

    private mutating func count(_ id: UInt64, by step: Int) {
        guard let place = places[id] else { return }
        switch place.standing {
        case .newcomer:
            newcomerCount += step
            blocks[place.block, default: Block()].newcomerCount += step
        case .anonymous:
            anonymousCount += step
            blocks[place.block, default: Block()].anonymousCount += step
        case .member: memberCount += step
        case .leaving: leavingCount += step
        }
        guard let block = blocks[place.block], step < 0 else { return }
        if block.newcomerCount == 0, block.anonymousCount == 0 {
            blocks[place.block] = nil
        } else if block.newcomers.count > 2 * block.newcomerCount + 16 {
            // NB: newcomers that settle leave from the middle. Their empty places are removed now and then.
            var newcomers = block.newcomers
            newcomers.removeAll { !isNewcomer($0, of: place.block) }
            blocks[place.block]?.newcomers = newcomers
        }
    }
}
