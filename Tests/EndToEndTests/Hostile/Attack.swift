// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkFields
import TidemarkKit
import TidemarkWire

/// Who attacks.
enum Attackers: String, CaseIterable, Sendable {
    case nobody = "nobody"
    case one = "one account"
    case ten = "ten accounts"

    /// Makes the accounts.
    ///
    /// - Parameter attack: its number among those that are made at once, each by accounts of its own.
    func accounts(_ place: OperatorPlace, for attack: Int) throws -> [AttackingAccount] {
        let names: [String]
        switch self {
        case .nobody: return [.nobody]
        case .one: names = ["attacker-\(attack)"]
        case .ten: names = (0..<10).map { "attacker-\(attack)-\($0)" }
        }
        return try zip(names, place.makeAccounts(names)).enumerated().map {
            AttackingAccount(number: $0.offset, name: $0.element.0, credential: $0.element.1)
        }
    }
}

/// Requests, or bytes, that take far more of a server than they cost whoever sends them.
struct Attack: CustomTestStringConvertible, Sendable {
    /// What somebody without a credential can do of it. They have no database but the public one.
    enum NobodysPart: Sendable {
        /// The same as an account.
        case all
        /// The same, on public records that an account has prepared.
        case onPublicRecords
        /// Nothing, and why.
        case none(String)
    }

    /// Attacks that the short form makes at once, on one server.
    enum Company: String, Sendable {
        case questions, heads, streams, keys, stored, assets, strangers, shares, viewers, doors, watchers
    }

    let testDescription: String
    /// Nil: the short form makes it alone, too.
    var company: Company?
    /// Of each attacker.
    var connections = 8
    /// Whether they are so many of all attackers together.
    var isShared = false
    /// On each connection.
    var underWay = 8
    /// How many different messages there are; nil: each is another one.
    var period: UInt64? = 1
    /// Whether messages have numbers of their own: what has none is no request.
    var isNumbered = true
    /// Whether the attackers read answers.
    var reads = true
    /// Whether they leave and come back when they have been answered.
    var leaves = false
    /// Whether each connection begins with other messages than the one before it.
    var isStaggered = false
    /// Below the level of requests; nil: they send requests.
    var course: StreamCourse?
    /// Of the server.
    var options: [String] = []
    /// Whether the server protects its connections by TLS.
    var isEncrypted = false
    /// Whether the server takes tokens of a provider (``AttackProvider``).
    var takesTokens = false
    /// Whether it is made where operators come in. Such an attack has a course.
    var isOnOperators = false
    /// Whether they get in; otherwise each of them is refused at once.
    var enters = true
    /// Who must meet a bound of those who enter.
    var refusedAtHello: Set<Attackers> = []
    /// How long the server may take to do to each attacker what it must, once the neighbour has lived beside it.
    var feltWithin = Duration.seconds(120)
    /// What the server may read from files meanwhile; nil: any number of bytes.
    var readBytesMax: Int?
    var byNobody = NobodysPart.all
    /// In the database that is attacked.
    var prepare: @Sendable (CKDatabase, _ isLong: Bool) async throws -> Void = { _, _ in }
    /// What the library has no words for, after that.
    var arrange: @Sendable (AttackGround) async throws -> Void = { _ in }
    /// What the attackers must know before they begin.
    var learn: @Sendable (AttackGround) async throws -> AttackKnowledge = { _ in AttackKnowledge() }
    /// Fills a message instead of ``fill``, for those who have learned something.
    var fillKnowing: (@Sendable (inout WireClientEnvelope, AttackKnowledge) -> Void)?
    /// Whether what must hold holds afterwards.
    var holds: @Sendable (AttackGround) -> Bool = { _ in true }
    /// Changes what a connection says first.
    var enter: @Sendable (inout WireHello) -> Void = { _ in }
    /// - Parameter scope: the attackers' own database, or the public one for nobody.
    let fill: @Sendable (inout WireClientEnvelope, _ scope: WireDatabaseScope) -> Void

    static let all =
        reading + writing + transferring + connecting + streaming + sharing + entering + watching + granting

    /// Prepares what the attack of an account is about.
    func makeReady(_ ground: AttackGround) async throws -> AttackKnowledge {
        let (place, account) = (ground.place, ground.account)
        if !account.isNobody {
            try await prepare(place.database(token: account.credential), ground.isLong)
        } else if case .onPublicRecords = byNobody {
            try await prepare(place.database(.public), ground.isLong)
        }
        try await arrange(ground)
        return try await learn(ground)
    }

    /// The clients of each attacker, at work.
    ///
    /// - Parameter known: by each attacker.
    func begin(
        _ place: OperatorPlace, _ accounts: [AttackingAccount], _ known: [AttackKnowledge]
    ) throws -> [[any AttackingClient]] {
        let scope: WireDatabaseScope = accounts.contains(where: \.isNobody) ? .public : .private
        let count = isShared ? connections / accounts.count : connections
        if let course { return try begin(course, try site(of: place), accounts, count: count, scope) }
        // The attack costs the server, not this process: what is the same for all is made once.
        let common = fillKnowing == nil ? repeatedMessages(scope, AttackKnowledge()) : nil
        return try zip(accounts, known).map { account, known in
            let messages = fillKnowing == nil ? common : repeatedMessages(scope, known)
            let clients: [any AttackingClient] = try (0..<count).map { connection in
                try HostileClient(
                    place.site, underWay: underWay, reads: reads, leaves: leaves, firstID: firstID(connection),
                    hello: { [self] in hello(place.site, account, connection, known) },
                    request: { [self] id in
                        let message = messages.map { $0[Int(id % UInt64($0.count))] } ?? message(id, scope, known)
                        return isNumbered ? WireClientEnvelope.idBytes(id) + message : message
                    })
            }
            let listeners: [any AttackingClient] = try known.listeners.map {
                try listener(place.site, credential: $0)
            }
            return clients + listeners
        }
    }

    /// Where it is made.
    private func site(of place: OperatorPlace) throws -> Site {
        guard isOnOperators else { return place.site }
        let port = try #require(OperatorPlace.operatorsPort(of: place.server), "\(place.server.output)")
        return Site(url: "ws://127.0.0.1:\(port)", authorityFile: place.site.authorityFile, tokens: [:])
    }

    /// Somebody who enters, and reads nothing of what they are told afterwards.
    private func listener(_ site: Site, credential: String) throws -> HostileClient {
        try HostileClient(
            site, underWay: 0, reads: false, leaves: false,
            hello: { WireClientEnvelope.hello(site, token: credential, device: 255).encoded }, request: { _ in [] })
    }

    /// Nil if each is another one.
    private func repeatedMessages(_ scope: WireDatabaseScope, _ known: AttackKnowledge) -> [[UInt8]]? {
        period.map { period in (0..<period).map { message($0, scope, known) } }
    }

    private func firstID(_ connection: Int) -> UInt64 {
        HostileClient.helloID + 1 + (isStaggered ? UInt64(connection * underWay) : 0)
    }

    /// They come one after the other, so that the first ones have been seen when the last ones come.
    private func begin(
        _ course: StreamCourse, _ site: Site, _ accounts: [AttackingAccount], count: Int, _ scope: WireDatabaseScope
    ) throws -> [[any AttackingClient]] {
        let context = try isEncrypted ? site.makeTLS() : nil
        return try accounts.map { account in
            try (0..<count).map { connection in
                try HostileStream(
                    course, site, context, scope: scope, delay: course.stagger * connection,
                    hello: { [self] in
                        if case .channel = course.opening { return Self.operatorsHello(account.credential) }
                        return hello(site, account, connection, AttackKnowledge())
                    })
            }
        }
    }

    /// Whether the server has heard an attacker with these clients, and the attackers have met what they must meet.
    func isFelt(by clients: [any AttackingClient], _ attackers: Attackers) -> Bool {
        let told = clients.map { $0.told }.reduce(HostileClient.Told(), +)
        switch course?.must {
        case .enter?: return told.entrances > 0
        case .beTold?: return clients.allSatisfy { $0.told.answers > 0 }
        case .beEnded?: return told.ends > 0
        case nil: break
        }
        let isAnswered = !told.refusals.isEmpty || told.answers + told.ends > 0
        let isBounded = !refusedAtHello.contains(attackers) || !told.refusalsAtHello.isEmpty
        let isSeen = enters ? told.entrances > 0 : !told.refusalsAtHello.isEmpty
        return isSeen && (underWay == 0 || isAnswered) && isBounded
    }

    private func hello(
        _ site: Site, _ account: AttackingAccount, _ connection: Int, _ known: AttackKnowledge
    ) -> [UInt8] {
        let credential =
            known.credentials.isEmpty ? account.credential : known.credentials[connection % known.credentials.count]
        var envelope = WireClientEnvelope.hello(site, token: credential, device: UInt8(account.number + 1))
        envelope.hello.device[0] = UInt8(truncatingIfNeeded: connection)
        envelope.hello.device[1] = UInt8(truncatingIfNeeded: connection >> 8)
        enter(&envelope.hello)
        return envelope.encoded
    }

    /// Without its id.
    private func message(_ id: UInt64, _ scope: WireDatabaseScope, _ known: AttackKnowledge) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = id
        if let fillKnowing { fillKnowing(&envelope, known) } else { fill(&envelope, scope) }
        envelope.id = 0
        return envelope.encoded
    }
}

/// What attackers know of the server and of others.
struct AttackKnowledge: Sendable {
    /// Names that the server has made, and links.
    var words: [String] = []
    /// With which connections enter, in turn. None: with that of the attacking account.
    var credentials: [String] = []
    /// Credentials of those who also connect, and read nothing.
    var listeners: [String] = []

    /// The first of the words.
    var word: String { words.first ?? "" }
}

extension WireClientEnvelope {
    /// The field of its id alone. Fields of a message may come in any order, and in parts.
    fileprivate static func idBytes(_ id: UInt64) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = id
        return envelope.encoded
    }
}

/// Of what requests and records are made.
extension Attack {
    /// So many of the smallest elements fit into a message: two bytes each on the wire, a hundred in memory.
    static func many(_ scope: WireDatabaseScope) -> Int { scope == .public ? 30_000 : 400_000 }

    static func zone(_ name: String) -> WireZoneID {
        var zone = WireZoneID()
        zone.name = name
        return zone
    }

    static var defaultZone: WireZoneID { zone(CKRecordZone.ID.default.zoneName) }

    static func stamp(_ id: UInt64) -> WireRequestStamp {
        var stamp = WireRequestStamp()
        stamp.counter = id
        stamp.nonce = id
        stamp.lowestUnanswered = id
        return stamp
    }

    static func query(_ type: String, _ predicate: WirePredicate, _ scope: WireDatabaseScope) -> WireQueryRecords {
        var request = WireQueryRecords()
        request.database = scope
        request.query.recordType = type
        request.query.predicate = predicate
        return request
    }

    static func comparison(_ key: String, _ relation: WireComparisonOperator, _ value: String) -> WirePredicate {
        var predicate = WirePredicate()
        predicate.compare.key = key
        predicate.compare.operator = relation
        predicate.compare.value.string = value
        return predicate
    }

    static func fetch(_ names: [String], _ scope: WireDatabaseScope) -> WireFetchRecords {
        var request = WireFetchRecords()
        request.database = scope
        request.zones = [WireZoneRecordNames()]
        request.zones[0].zone = defaultZone
        request.zones[0].names = names
        return request
    }

    static func save(
        _ type: String, _ fields: [String: String], in zoneName: String, _ id: UInt64, _ scope: WireDatabaseScope
    ) -> WireModifyRecords {
        var save = WireRecordSave()
        save.name = "\(type) \(id % 1_000)"
        save.type = type
        save.fields = fieldBytes(fields)
        var request = modify([save], in: zoneName, id, scope)
        request.policy = .allKeys
        return request
    }

    static func fieldBytes(_ fields: [String: String]) -> [UInt8] {
        (try? FieldMap(fields.sorted { $0.key < $1.key }.map { Field($0.key, .string($0.value)) }))?.bytes ?? []
    }

    static func modify(
        _ saves: [WireRecordSave], in zoneName: String, _ id: UInt64, _ scope: WireDatabaseScope
    ) -> WireModifyRecords {
        var request = WireModifyRecords()
        request.database = scope
        request.stamp = stamp(id)
        request.zones = [WireZoneModifications()]
        request.zones[0].zone = zone(zoneName)
        request.zones[0].saves = saves
        return request
    }

    /// Records with a short text, each another one.
    static func fill(_ database: CKDatabase, type: String, count: Int) async throws {
        for batch in 0..<(count / 400) {
            let records = (0..<400).map { number in
                let record = CKRecord(
                    recordType: type, recordID: CKRecord.ID(recordName: "\(type) \(batch) \(number)"))
                record["text"] = "\(batch * 400 + number)" + String(repeating: "y", count: 100)
                return record
            }
            _ = try await database.modifyRecords(saving: records, deleting: [])
        }
    }

    /// Records with a long text, which are named by their numbers.
    static func fill(_ database: CKDatabase, _ prefix: String, count: Int, textBytes: Int) async throws {
        for number in 0..<count {
            let record = CKRecord(
                recordType: "Heavy", recordID: CKRecord.ID(recordName: "\(prefix) \(number)"))
            record["text"] = String(repeating: "x", count: textBytes)
            try await database.save(record)
        }
    }

    static func subscribe(_ database: CKDatabase, count: Int, text: String? = nil) async throws {
        let subscriptions = (0..<count).map { number in
            let subscription = CKDatabaseSubscription(subscriptionID: "subscription \(number)")
            subscription.notificationInfo = CKSubscription.NotificationInfo(alertBody: text)
            return subscription
        }
        _ = try await database.modifySubscriptions(saving: subscriptions, deleting: [])
    }
}
