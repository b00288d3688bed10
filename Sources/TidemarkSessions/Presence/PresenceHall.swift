// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkTelemetry
internal import TidemarkTranslation
internal import TidemarkWire

/// Who is present where, at all hubs of one process. Nothing of it is stored, and nothing is done while nobody
/// is present anywhere.
///
/// It drives one ``PresenceTopic`` for each place. Callable from the loop of each hub.
final class PresenceHall: Sendable {
    /// A connection, among those of all hubs.
    struct Connection: Hashable {
        let hub: ObjectIdentifier
        let number: UInt64

        init(_ session: Session) {
            hub = ObjectIdentifier(session.hub)
            number = session.number
        }
    }

    /// A member of this process.
    struct Seat: Sendable {
        weak var hub: SessionHub?
        let connection: Connection
        let account: AccountID
        let user: UserID
        let isOwner: Bool
        /// The connection was too slow for a push. It is told everything anew.
        var isBehind = false
    }

    /// A place with members of this process.
    struct Venue {
        let place: PresencePlace
        let key: ZoneKey
        /// How clients name it.
        let number: UInt64
        var topic: PresenceTopic
        var seats: [UInt64: Seat] = [:]
        /// Whether a push is scheduled.
        var isPlanned = false
        /// Hubs that still send the last push. The next one waits for them.
        var sendingCount = 0
        var others = PresenceOthers()
        /// Whether a notice to other servers is scheduled.
        var isNoticePlanned = false
    }

    /// Whose requests are counted.
    enum RateKey: Hashable {
        case connection(Connection)
        case account(AccountID)
    }

    struct State {
        var rooms: [PresencePlace: Venue] = [:]
        /// The places by the numbers of their rooms.
        var places: [UInt64: PresencePlace] = [:]
        /// The members of each connection, by the numbers of their rooms.
        var connections: [Connection: [UInt64: UInt64]] = [:]
        /// In how many places an account is present.
        var counts: [AccountID: Int] = [:]
        var rates = TokenBuckets<RateKey>()
        /// Changes of shares and of sets of zones that were heard, by a hash of their database.
        var changes = [UInt64](repeating: 0, count: 64)
        var isTicking = false
        var checks = PresenceChecks()
        /// Places with something to say to other servers.
        var posts = WaitingPlaces()
        /// Said, and not posted: the store could not be reached.
        var unposted: [PresenceNotice] = []
        /// The databases of places that have ended, once for each place. The bus is not yet told.
        var left: [DatabaseID] = []
        /// This process, among all servers. Drawn when somebody is first present.
        var origin: UInt64 = 0

        /// Removes a member of this process.
        mutating func remove(_ member: UInt64, from place: PresencePlace) {
            guard let seat = rooms[place]?.seats.removeValue(forKey: member), let room = rooms[place] else { return }
            rooms[place]?.topic.leave(member)
            connections[seat.connection]?[room.number] = nil
            if connections[seat.connection]?.isEmpty == true { connections[seat.connection] = nil }
            let count = counts[seat.account, default: 0]
            counts[seat.account] = count > 1 ? count - 1 : nil
        }

        /// A place without members of this process is forgotten, once its last news is on its way to other servers.
        mutating func tidy(_ place: PresencePlace) {
            guard let room = rooms[place], room.seats.isEmpty, room.topic.noticeDueAt == nil else { return }
            rooms[place] = nil
            places[room.number] = nil
            left.append(room.key.database)
        }
    }

    /// Who has joined.
    struct Joined {
        let topic: UInt64
        let member: UInt64
        let members: [PresenceMember]
        /// Whether nobody was there before.
        let isFirst: Bool
    }

    /// Requests of one connection, and of one account.
    static let connectionRate = TokenBucket.Rate(perSecond: 10, burst: 20)
    static let accountRate = TokenBucket.Rate(perSecond: 100, burst: 200)

    let bounds: PresenceBounds
    /// Of the hub that speaks for all of them.
    let scheduler: any Scheduler
    /// By which other servers are told who is present. It must carry content, so it is the store's.
    let bus: any NoticeBus
    /// By which this server hears of changes of zones and shares; nil: it hears of all.
    let changesBus: (any NoticeBus)?
    let state = Mutex(State())

    init(_ bounds: PresenceBounds, _ scheduler: any Scheduler, bus: any NoticeBus, changesBus: (any NoticeBus)?) {
        self.bounds = bounds
        self.scheduler = scheduler
        self.bus = bus
        self.changesBus = changesBus
    }

    // MARK: Requests

    func checkBytes(_ value: [UInt8]) throws(Refusal) {
        guard value.count <= bounds.valueBytesMax else {
            throw Refusal(
                .requestTooLarge,
                "A state or message has \(value.count) bytes, and at most \(bounds.valueBytesMax) are allowed.")
        }
    }

    /// Counts a request of a connection.
    ///
    /// NB: it is refused by `zoneBusy`. After `requestRateLimited` a device asks for nothing at all for a while, and its
    /// records must not wait for its cursor.
    func takeToken(of session: Session, _ account: AccountID, now: Duration) throws(Refusal) {
        let wants = [
            TokenBuckets<RateKey>.Want(.connection(Connection(session)), Self.connectionRate),
            TokenBuckets<RateKey>.Want(.account(account), Self.accountRate),
        ]
        guard let shortage = state.withLock({ $0.rates.take(wants, now: now) }) else { return }
        let text =
            switch shortage.key {
            case .connection: "A connection may publish \(Self.connectionRate.perSecond) times a second."
            case .account: "An account may publish \(Self.accountRate.perSecond) times a second."
            }
        throw Refusal(
            .zoneBusy, "\(text) Publish the newest state after the delay.",
            retryAfter: max(0.1, shortage.wait / .seconds(1)))
    }

    /// - Parameter changeCount: ``changeCount(in:)`` before access was read.
    /// - Returns: nil if access is to be read again.
    func join(
        _ session: Session, _ identity: Identity, place: PresencePlace, key: ZoneKey, isOwner: Bool,
        state bytes: [UInt8], changeCount: UInt64
    ) throws(Refusal) -> Joined? {
        let hub = session.hub
        let (now, connection) = (hub.scheduler.now, Connection(session))
        let (newRoom, newMember) = (hub.scheduler.randomBits() | 1, hub.scheduler.randomBits() | 1)
        let newOrigin = hub.scheduler.randomBits() | 1
        let result = state.withLock { state -> Result<Joined?, Refusal> in
            // NB: under the lock. From the moment it is there, a change finds it.
            guard state.changes[Self.changesPlace(of: key.database)] == changeCount else { return .success(nil) }
            if state.origin == 0 { state.origin = newOrigin }
            let room =
                state.rooms[place] ?? Venue(place: place, key: key, number: newRoom, topic: PresenceTopic(bounds))
            let known = state.connections[connection]?[room.number]
            if known == nil, let refusal = self.refusal(of: connection, identity.account, in: state) {
                return .failure(refusal)
            }
            let member = PresenceMember(
                number: known ?? newMember, user: identity.user, userName: identity.userRecordName, state: bytes)
            var topic = room.topic
            do throws(PresenceTopic.JoinRefusal) {
                try topic.join(member, now: now)
            } catch {
                return .failure(self.refusal(error))
            }
            let isFirst = state.rooms[place] == nil
            if isFirst {
                state.rooms[place] = room
                state.places[room.number] = place
            }
            let members = topic.tellAll()
            state.rooms[place]?.topic = topic
            if known == nil {
                state.rooms[place]?.seats[member.number] = Seat(
                    hub: hub, connection: connection, account: identity.account, user: identity.user, isOwner: isOwner)
                state.connections[connection, default: [:]][room.number] = member.number
                state.counts[identity.account, default: 0] += 1
                SessionMetrics.shared.present.add(1)
            }
            return .success(
                Joined(topic: room.number, member: member.number, members: members, isFirst: isFirst))
        }
        guard let joined = try result.get() else { return nil }
        if joined.isFirst { follow(key.database) }
        plan(place, by: hub)
        planNotice(place)
        say(place)
        tickLater(by: hub)
        return joined
    }

    private func refusal(of connection: Connection, _ account: AccountID, in state: State) -> Refusal? {
        guard state.connections[connection]?.count ?? 0 < bounds.placesPerConnectionMax else {
            return Refusal(
                .tooManyItems,
                "A device is present in \(bounds.placesPerConnectionMax) zones at most. Leave one of them first.")
        }
        guard state.counts[account] ?? 0 < bounds.placesPerAccountMax else {
            return Refusal(
                .tooManyItems, "The devices of an account are present in \(bounds.placesPerAccountMax) zones at most.")
        }
        return nil
    }

    private func refusal(_ why: PresenceTopic.JoinRefusal) -> Refusal {
        switch why {
        case .full:
            Refusal(.tooManyItems, "\(bounds.membersMax) devices are present in this zone. Join again later.")
        case .tooManyOfUser:
            Refusal(.tooManyItems, "\(bounds.membersPerUserMax) devices of this user are present in this zone.")
        }
    }

    func publish(
        _ session: Session, topic number: UInt64, state bytes: [UInt8]?, message: [UInt8]?
    ) throws(Refusal) {
        let (now, connection) = (session.hub.scheduler.now, Connection(session))
        let result = state.withLock { state -> Result<PresencePlace, PresenceTopic.PublishRefusal> in
            guard let place = state.places[number], let member = state.connections[connection]?[number] else {
                return .failure(.notThere)
            }
            do throws(PresenceTopic.PublishRefusal) {
                try state.rooms[place]?.topic.publish(member, state: bytes, message: message, now: now)
                return .success(place)
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let place):
            plan(place, by: session.hub)
            planNotice(place)
        case .failure(.notThere):
            throw Refusal(.requestInvalid, "This connection is not present in that topic. Join it again.")
        case .failure(.tooManyMessages):
            throw Refusal(
                .zoneBusy, "Too many messages of this user wait to be sent in this zone.", retryAfter: 0.2)
        }
    }

    func leave(_ session: Session, topic number: UInt64) {
        let connection = Connection(session)
        let place = state.withLock { state -> PresencePlace? in
            guard let place = state.places[number], let member = state.connections[connection]?[number] else {
                return nil
            }
            remove([member], from: place, &state)
            return place
        }
        if let place {
            plan(place, by: session.hub)
            planNotice(place)
            tellBus()
        }
    }

    /// The connection has ended. Nothing, if it was present nowhere.
    func leave(_ session: Session) {
        let connection = Connection(session)
        let places = state.withLock { state -> [PresencePlace] in
            guard let members = state.connections[connection] else { return [] }
            var places: [PresencePlace] = []
            for (number, member) in members.sorted(by: { $0.key < $1.key }) {
                guard let place = state.places[number] else { continue }
                remove([member], from: place, &state)
                places.append(place)
            }
            return places
        }
        for place in places {
            plan(place, by: session.hub)
            planNotice(place)
        }
        if !places.isEmpty { tellBus() }
    }

    private func remove(_ members: [UInt64], from place: PresencePlace, _ state: inout State) {
        for member in members where state.rooms[place]?.seats[member] != nil {
            state.remove(member, from: place)
            SessionMetrics.shared.present.add(-1)
        }
        state.tidy(place)
    }

    // MARK: Pushes

    /// Schedules the next push of a place, if there is something to tell.
    func plan(_ place: PresencePlace, by hub: SessionHub) {
        let now = hub.scheduler.now
        let planned = state.withLock { state -> (delay: Duration, room: UInt64)? in
            guard let room = state.rooms[place], !room.isPlanned, room.sendingCount == 0,
                let dueAt = room.topic.dueAt
            else { return nil }
            state.rooms[place]?.isPlanned = true
            return (max(.zero, dueAt - now), room.number)
        }
        guard let (delay, number) = planned else { return }
        _ = hub.scheduler.schedule(after: delay) { [weak self, weak hub] in
            guard let self, let hub else { return }
            let isThere = state.withLock { state in
                // The place may have ended meanwhile, and begun again.
                guard state.rooms[place]?.number == number else { return false }
                state.rooms[place]?.isPlanned = false
                return true
            }
            if isThere { tell(place, by: hub) }
        }
    }

    /// Tells the sessions of all hubs what has changed in a place.
    ///
    /// - Parameter catchesUp: whether connections that were too slow are told everything now.
    private func tell(_ place: PresencePlace, by hub: SessionHub, catchesUp: Bool = false) {
        let now = hub.scheduler.now
        let deliveries = state.withLock { state -> [(SessionHub, PresenceDelivery)] in
            guard var room = state.rooms[place], room.sendingCount == 0 else { return [] }
            let news = room.topic.take(now: now)
            var deliveries: [(SessionHub, PresenceDelivery)] = []
            let (behind, others) = (room.seats.filter(\.value.isBehind), room.seats.filter { !$0.value.isBehind })
            if !news.isEmpty, !others.isEmpty {
                let message = SharedMessage(ServerMessage.presence(WirePresencePush(news, of: room.number)))
                deliveries += self.deliveries(of: message, to: others, in: room)
            }
            if catchesUp, !behind.isEmpty {
                let push = WirePresencePush(all: room.topic.tellAll(), of: room.number)
                for number in behind.keys { room.seats[number]?.isBehind = false }
                deliveries += self.deliveries(of: SharedMessage(ServerMessage.presence(push)), to: behind, in: room)
            }
            room.sendingCount = deliveries.count
            state.rooms[place] = room
            return deliveries
        }
        for (target, delivery) in deliveries {
            SessionMetrics.shared.presencePushes.increment(by: delivery.sessions.count)
            if target === hub {
                target.presenceOutlet.send(delivery, by: target)
            } else {
                target.scheduler.run { target.presenceOutlet.send(delivery, by: target) }
            }
        }
    }

    private func deliveries(
        of message: SharedMessage, to seats: [UInt64: Seat], in room: Venue
    ) -> [(SessionHub, PresenceDelivery)] {
        let (place, number) = (room.place, room.number)
        var byHub: [ObjectIdentifier: (hub: SessionHub, sessions: [(session: UInt64, member: UInt64)])] = [:]
        for (member, seat) in seats {
            guard let hub = seat.hub else { continue }
            byHub[seat.connection.hub, default: (hub, [])].sessions.append((seat.connection.number, member))
        }
        return byHub.values.map { hub, sessions in
            let sessions = sessions.sorted { $0.session < $1.session }
            return (
                hub,
                PresenceDelivery(message: message, sessions: sessions) { [weak self, weak hub] behind in
                    guard let self, let hub else { return }
                    state.withLock { state in
                        // NB: the place may have ended meanwhile, and begun again. Then nobody there waits for this push.
                        guard state.rooms[place]?.number == number else { return }
                        state.rooms[place]?.sendingCount -= 1
                        for member in behind { state.rooms[place]?.seats[member]?.isBehind = true }
                    }
                    plan(place, by: hub)
                }
            )
        }
    }

    // MARK: Time

    /// How often is looked for members who publish nothing any more, and for connections that were too slow.
    private static let tickInterval = Duration.seconds(1)
    /// Members that are looked at in one turn of the event loop, and as many as a place counts for. It takes a millisecond at most.
    private static let lookCostPerStep = 1_024
    private static let lookCostOfPlace = 16

    private func tickLater(by hub: SessionHub) {
        let starts = state.withLock { state in
            defer { state.isTicking = true }
            return !state.isTicking
        }
        if starts { tick(by: hub) }
    }

    private func tick(by hub: SessionHub) {
        _ = hub.scheduler.schedule(after: Self.tickInterval) { [weak self, weak hub] in
            guard let self, let hub else { return }
            lookAround(state.withLock { ArraySlice($0.rooms.keys) }, by: hub)
        }
    }

    /// What a second asks of each place, some places at a time. An account may be in hundreds, and there are many accounts.
    private func lookAround(_ places: ArraySlice<PresencePlace>, by hub: SessionHub) {
        var costLeft = Self.lookCostPerStep
        var rest = places
        while costLeft > 0, let place = rest.popFirst() { costLeft -= look(at: place, by: hub) }
        tellBus()
        guard rest.isEmpty else {
            _ = hub.scheduler.schedule(after: .zero) { [weak self, weak hub, rest] in
                guard let self, let hub else { return }
                lookAround(rest, by: hub)
            }
            return
        }
        let goesOn = state.withLock { state in
            state.isTicking = !state.rooms.isEmpty
            return state.isTicking
        }
        if goesOn { tick(by: hub) }
    }

    /// - Returns: what it has cost.
    private func look(at place: PresencePlace, by hub: SessionHub) -> Int {
        let now = hub.scheduler.now
        let (memberCount, isBehind) = state.withLock { state -> (Int, Bool) in
            let memberCount = state.rooms[place]?.topic.count ?? 0
            let silent = state.rooms[place]?.topic.expire(now: now) ?? []
            remove(silent, from: place, &state)
            return (memberCount, state.rooms[place]?.seats.values.contains(where: \.isBehind) == true)
        }
        plan(place, by: hub)
        planNotice(place)
        say(place)
        guard isBehind else { return Self.lookCostOfPlace + memberCount }
        tell(place, by: hub, catchesUp: true)
        // All states of the place are written.
        return Self.lookCostPerStep
    }
}
