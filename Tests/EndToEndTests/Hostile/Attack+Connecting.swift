// SPDX-License-Identifier: Apache-2.0

import TidemarkWire

/// Attacks by what is read before it is known what is asked for, and by connections themselves.
extension Attack {
    static let connecting = [
        bigPredicates, longLists, longRequests, nothing, crowd, smallRequests, churn, strangers, containers,
    ]

    private static let bigPredicates = Attack(testDescription: "predicates with 400,000 parts", underWay: 1) {
        var predicate = WirePredicate()
        predicate.and.parts = Array(repeating: WirePredicate(), count: many($1))
        $0.queryRecords = query("Letter", predicate, $1)
    }

    private static let longLists = Attack(testDescription: "lists with 400,000 values", underWay: 1) {
        var predicate = WirePredicate()
        predicate.isIn.key = "number"
        predicate.isIn.values = Array(repeating: WireQueryValue(), count: many($1))
        $0.queryRecords = query("Letter", predicate, $1)
    }

    /// The other lists of requests, in turn.
    private static let longRequests = Attack(
        testDescription: "requests with 400,000 elements", underWay: 1, period: 8
    ) { envelope, scope in
        let count = many(scope)
        switch envelope.id % 8 {
        case 0:
            envelope.queryRecords = query("Letter", WirePredicate(), scope)
            envelope.queryRecords.query.sorts = Array(repeating: WireSort(), count: count)
        case 1:
            envelope.modifyRecords = modify(
                Array(repeating: WireRecordSave(), count: count), in: defaultZone.name, 1, scope)
        case 2:
            envelope.modifyRecords = modify([], in: defaultZone.name, 1, scope)
            envelope.modifyRecords.zones[0].deletes = Array(repeating: "", count: count)
        case 3:
            envelope.modifyRecords = modify([], in: defaultZone.name, 1, scope)
            envelope.modifyRecords.zones = Array(repeating: WireZoneModifications(), count: count)
        case 4:
            envelope.fetchZones = WireFetchZones()
            envelope.fetchZones.zones = Array(repeating: WireZoneID(), count: count)
        case 5:
            envelope.fetchKeys = WireFetchKeys()
            envelope.fetchKeys.zones = Array(repeating: WireZoneID(), count: count)
        case 6: envelope.fetchRecords = fetch(Array(repeating: "", count: count), scope)
        default:
            envelope.fetchRecords = fetch(["letter"], scope)
            envelope.fetchRecords.desiredKeys.keys = Array(repeating: "", count: count)
        }
    }

    /// No requests: the server answers nothing.
    private static let nothing = Attack(
        testDescription: "messages that begin nothing", underWay: 5_000, isNumbered: false,
        fill: { envelope, _ in envelope.pushesHeard = 1 })

    /// Connections that only stay, and those that find no place and come back. With 3,600 connections an account has 450
    /// of them, and there are more places for newcomers than attackers. R-721 has no bound for ten accounts together: they
    /// have as many connections as one.
    private static let crowd = Attack(
        testDescription: "sessions that only stay", connections: 600, isShared: true, underWay: 0,
        options: ["--connections", "3600", "--anonymous-connections", "200"], refusedAtHello: [.nobody, .one]
    ) { _, _ in }

    /// What they send is read, and its messages are decoded, in turns by connection, of which the attackers have nearly all.
    private static let smallRequests = Attack(
        testDescription: "small requests on 400 connections", connections: 400, isShared: true,
        fill: {
            $0.fetchZones = WireFetchZones()
            $0.fetchZones.database = $1
            $0.fetchZones.zones = [defaultZone]
        })

    private static let churn = Attack(
        testDescription: "devices that come and go", connections: 40, underWay: 0, leaves: true,
        enter: { $0.device = (0..<16).map { _ in UInt8.random(in: 0...255) } }
    ) { _, _ in }

    /// Another one with each connection, so that none of them waits for the turn of another.
    private static let strangers = Attack(
        testDescription: "credentials that nobody has", connections: 100, isShared: true, underWay: 0, enters: false,
        enter: { $0.credential = "\(UInt64.random(in: 0...UInt64.max))" }
    ) { _, _ in }

    /// Another one with each connection.
    private static let containers = Attack(
        testDescription: "containers that nobody needs", connections: 40, underWay: 1, leaves: true,
        options: ["--containers-per-account", "20"], refusedAtHello: [.one, .ten],
        enter: { $0.container = "iCloud.test.made.\(UInt64.random(in: 0...UInt64.max))" },
        fill: {
            $0.fetchZones = WireFetchZones()
            $0.fetchZones.database = $1
        })
}
