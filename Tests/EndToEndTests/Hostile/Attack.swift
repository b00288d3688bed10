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

    /// A credential for each; an empty one for nobody.
    func credentials(_ place: OperatorPlace) async throws -> [String] {
        switch self {
        case .nobody: return [""]
        case .one: return [try await place.makeAccount("attacker")]
        case .ten:
            var credentials: [String] = []
            for number in 0..<10 { credentials.append(try await place.makeAccount("attacker-\(number)")) }
            return credentials
        }
    }
}

/// Requests that take far more of a server than they cost whoever sends them.
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

    let testDescription: String
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
    /// Of the server.
    var options: [String] = []
    /// Whether they get in; otherwise each of them is refused at once.
    var enters = true
    /// Who must meet a bound of those who enter.
    var refusedAtHello: Set<Attackers> = []
    var byNobody = NobodysPart.all
    /// In the database that is attacked.
    var prepare: @Sendable (CKDatabase, _ isLong: Bool) async throws -> Void = { _, _ in }
    /// Changes what a connection says first.
    var enter: @Sendable (inout WireHello) -> Void = { _ in }
    /// - Parameter scope: the attackers' own database, or the public one for nobody.
    let fill: @Sendable (inout WireClientEnvelope, _ scope: WireDatabaseScope) -> Void

    static let all = reading + writing + connecting

    /// Saves in advance what the requests of an attacker are about.
    func prepare(_ place: OperatorPlace, credential: String, isLong: Bool) async throws {
        guard credential.isEmpty else { return try await prepare(place.database(token: credential), isLong) }
        if case .onPublicRecords = byNobody { try await prepare(place.database(.public), isLong) }
    }

    /// The clients of each attacker, at work.
    func begin(_ place: OperatorPlace, credentials: [String]) throws -> [[HostileClient]] {
        let scope: WireDatabaseScope = credentials.contains("") ? .public : .private
        // The attack costs the server, not this process: what is the same for all is made once.
        let messages = period.map { period in (0..<period).map { message($0, scope) } }
        let count = isShared ? connections / credentials.count : connections
        return try credentials.enumerated().map { number, credential in
            try (0..<count).map { connection in
                try HostileClient(
                    place.site, underWay: underWay, reads: reads, leaves: leaves,
                    hello: { [self] in hello(place.site, credential, number, connection) },
                    request: { [self] id in
                        let message = messages.map { $0[Int(id % UInt64($0.count))] } ?? message(id, scope)
                        return isNumbered ? WireClientEnvelope.idBytes(id) + message : message
                    })
            }
        }
    }

    /// Whether the server has heard an attacker, and the attackers have met what they must meet.
    func isFelt(by told: HostileClient.Told, _ attackers: Attackers) -> Bool {
        let isAnswered = !told.refusals.isEmpty || told.answers + told.ends > 0
        let isBounded = !refusedAtHello.contains(attackers) || !told.refusalsAtHello.isEmpty
        let isSeen = enters ? told.entrances > 0 : !told.refusalsAtHello.isEmpty
        return isSeen && (underWay == 0 || isAnswered) && isBounded
    }

    private func hello(_ site: Site, _ credential: String, _ number: Int, _ connection: Int) -> [UInt8] {
        var envelope = WireClientEnvelope.hello(site, token: credential, device: UInt8(number + 1))
        envelope.hello.device[0] = UInt8(truncatingIfNeeded: connection)
        envelope.hello.device[1] = UInt8(truncatingIfNeeded: connection >> 8)
        enter(&envelope.hello)
        return envelope.encoded
    }

    /// Without its id.
    private func message(_ id: UInt64, _ scope: WireDatabaseScope) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = id
        fill(&envelope, scope)
        envelope.id = 0
        return envelope.encoded
    }
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
        let map = try? FieldMap(fields.sorted { $0.key < $1.key }.map { Field($0.key, .string($0.value)) })
        save.fields = map.map { [UInt8]($0.bytes) } ?? []
        var request = modify([save], in: zoneName, id, scope)
        request.policy = .allKeys
        return request
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
