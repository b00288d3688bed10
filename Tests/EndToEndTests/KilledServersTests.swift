// SPDX-License-Identifier: Apache-2.0

import Foundation
import SessionTestSupport
import Synchronization
import Testing
import TidemarkDomain
import TidemarkTestSupport
import TidemarkWire

/// Three servers of one database, killed one after another, under devices of an owner and of guests who come and go.
@Suite(.timeLimit(.minutes(60))) struct KilledServersTests {
    /// How often a server is killed. `make killed-servers` sets another number.
    private static let killCount = ProcessInfo.processInfo.environment["TIDEMARK_KILLS"].flatMap { Int($0) } ?? 4
    private static let guests = ["bob", "carol", "dave", "erin"]
    /// Of each account. One of the owner's shares, and ends sharing.
    private static let devicesPerAccount = 4
    /// How many changes of each share there are at least.
    private static let changesPerStay = 4
    /// How many steps of devices come between two kills.
    private static let stepsBetween = 150

    /// How far it has come.
    private final class Progress: Sendable {
        private let state = Mutex((stepCount: 0, changeCount: 0, isOver: false))

        func stepped() { state.withLock { $0.stepCount += 1 } }
        func changed() { state.withLock { $0.changeCount += 1 } }
        func end() { state.withLock { $0.isOver = true } }
        var stepCount: Int { state.withLock { $0.stepCount } }
        var changeCount: Int { state.withLock { $0.changeCount } }
        var isOver: Bool { state.withLock { $0.isOver } }
    }

    /// Who has access at the end.
    private typealias Ends = [GuestStay.Way?]

    private enum Part: Sendable {
        case member(StayMember)
        case ends(Ends)
    }

    /// `TIDEMARK_TEST_SEED=4711` makes the same choices again, not in the same time.
    @Test
    func
        `I-4, I-5, R-157: servers are killed while shares come and go: replicas are what users may see, and nobody had more`()
        async throws
    {
        let seed = SeededRandom().seed
        print("killed servers: TIDEMARK_TEST_SEED=\(seed), kills: \(Self.killCount)")
        let directory = try TestDirectory()
        defer { directory.remove() }
        let url = try await TestPostgres.database(OperatorPlace.template).url
        let names = ["alice"] + Self.guests
        let tokens = Dictionary(uniqueKeysWithValues: zip(names, try OperatorPlace.makeAccounts(names, url: url)))
        // Few connections, because all tests share one PostgreSQL.
        let flags = ["--plain", "--create-containers", "--loops", "1", "--database-connections", "3"]
        let seats = try ["one", "two", "three"].map { try ServerSeat($0, flags: flags, url: url, in: directory) }
        var servers: [Program] = []
        for seat in seats { servers.append(try await seat.start()) }
        let sites = seats.map {
            Site(
                url: "ws://127.0.0.1:\($0.port)", authorityFile: "", tokens: tokens, container: "iCloud.test.killed")
        }

        let director = RovingClient(sites, "alice", device: 1, seed: seed)
        var stays: [GuestStay] = []
        for guest in Self.guests { stays.append(try await GuestStay("of \(guest)", for: guest, by: director)) }
        let members = Self.members(of: stays, sites, seed: seed)
        var guestNames: [String] = []
        for guest in Self.guests {
            guard let member = members.first(where: { $0.label == "\(guest) 1" }) else { continue }
            _ = try await member.client.ask(ShareRequests.subscribeToShared(), "a subscription")
            guestNames.append(await member.client.name)
        }

        let (ended, ends) = try await Self.run(members, stays, director, guestNames, seed: seed) { progress in
            var random = SeededRandom(seed: seed &+ 1)
            for kill in 0..<Self.killCount where !progress.isOver {
                let count = progress.stepCount
                let victim = random.below(servers.count)
                try await servers[victim].killNow()
                servers[victim] = try await seats[victim].start()
                try await eventually("devices go on after kill \(kill)", within: .seconds(120)) {
                    progress.isOver || progress.stepCount > count + Self.stepsBetween
                }
            }
            try await eventually("shares change", within: .seconds(300)) {
                progress.isOver || progress.changeCount >= Self.changesPerStay * stays.count
            }
        }
        try await Self.check(ended, stays, ends, seed: seed)
        for server in servers { #expect(try await server.stop() == 0) }
    }

    /// All devices but the one that shares.
    private static func members(of stays: [GuestStay], _ sites: [Site], seed: UInt64) -> [StayMember] {
        var members: [StayMember] = []
        func add(_ account: String, _ device: Int, _ some: [GuestStay], isOwner: Bool) {
            let client = RovingClient(
                sites, account, device: UInt8(device), ledger: isOwner ? nil : some.first?.ledger,
                seed: seed &+ UInt64(members.count) &+ 100)
            let label = isOwner ? "owner \(device - 1)" : "\(account) \(device)"
            members.append(StayMember(client, label, in: some, isOwner: isOwner))
        }
        for device in 2...devicesPerAccount { add("alice", device, stays, isOwner: true) }
        for stay in stays {
            for device in 1...devicesPerAccount { add(stay.guest, device, [stay], isOwner: false) }
        }
        return members
    }

    /// Lets all devices do something until `body` is through.
    private static func run(
        _ members: [StayMember], _ stays: [GuestStay], _ director: RovingClient, _ guestNames: [String], seed: UInt64,
        _ body: (Progress) async throws -> Void
    ) async throws -> ([StayMember], Ends) {
        let progress = Progress()
        return try await withThrowingTaskGroup(of: Part.self) { group in
            for (index, member) in members.enumerated() {
                group.addTask {
                    var (member, random) = (member, SeededRandom(seed: seed &+ UInt64(index) &+ 1_000))
                    return try await ending(progress) {
                        while !progress.isOver {
                            try await member.step(&random)
                            progress.stepped()
                        }
                        return .member(member)
                    }
                }
            }
            group.addTask {
                try await ending(progress) {
                    .ends(try await direct(stays, director, guestNames, seed: seed, progress))
                }
            }
            do {
                try await body(progress)
            } catch {
                progress.end()
                throw error
            }
            progress.end()
            var (ended, ends): ([StayMember], Ends) = ([], [])
            for try await result in group {
                switch result {
                case .member(let member): ended.append(member)
                case .ends(let all): ends = all
                }
            }
            return (ended, ends)
        }
    }

    /// If one fails, all end at once.
    private static func ending(_ progress: Progress, _ body: () async throws -> Part) async throws -> Part {
        do {
            return try await body()
        } catch {
            progress.end()
            throw error
        }
    }

    /// Lets guests come, and sends them away.
    private static func direct(
        _ stays: [GuestStay], _ director: RovingClient, _ guestNames: [String], seed: UInt64, _ progress: Progress
    ) async throws -> Ends {
        var random = SeededRandom(seed: seed &+ 2)
        var ways: Ends = stays.map { _ in nil }
        var number: UInt64 = 0
        while !progress.isOver {
            // In turn, so that each has as many changes.
            let index = progress.changeCount % stays.count
            let (stay, count) = (stays[index], stays[index].ledger.count)
            if let way = ways[index] {
                try await stay.close(way, by: director)
                ways[index] = nil
            } else {
                let way = random.pick(GuestStay.Way.allCases)
                number += 1
                try await stay.open(way, by: director, to: guestNames[index], number: number)
                ways[index] = way
            }
            let isOpen = ways[index] != nil
            try await eventually("the guest \(isOpen ? "comes" : "sees that it has to go")", within: .seconds(120)) {
                guard !progress.isOver else { return true }
                return isOpen
                    ? stay.ledger.kindsFull(after: count).isSuperset(of: ["a page", "an acceptance"])
                    : stay.ledger.kindsShut(after: count).contains("a page")
            }
            progress.changed()
        }
        // Some stay, and others do not, whatever came before.
        for (index, stay) in stays.enumerated() where index % 2 == 0 && ways[index] == nil {
            number += 1
            try await stay.open(.name, by: director, to: guestNames[index], number: number)
            ways[index] = .name
        }
        for (index, stay) in stays.enumerated() where index % 2 == 1 {
            guard let way = ways[index] else { continue }
            try await stay.close(way, by: director)
            ways[index] = nil
        }
        return ways
    }

    private static func check(
        _ members: [StayMember], _ stays: [GuestStay], _ ends: Ends, seed: UInt64
    ) async throws {
        #expect(members.count == stays.count * devicesPerAccount + devicesPerAccount - 1 && ends.count == stays.count)
        var settled: [StayMember] = []
        for var member in members {
            let stay = stays.firstIndex { $0.link == member.link }
            try await member.settle(comes: stay.map { ends[$0] != nil } ?? false)
            settled.append(member)
        }
        // Coming changes the share once more. So all look again.
        for index in settled.indices { try await settled[index].settle(comes: false) }
        var connectionCount = 0
        for (index, stay) in stays.enumerated() {
            let owners = settled.filter { $0.link == nil }.map { $0.replicas[index].tags }
            let truth = try #require(owners.first)
            #expect(truth.keys.contains(Share.zoneWideName), "seed \(seed)")
            #expect(owners.allSatisfy { $0 == truth }, "seed \(seed): the owner's devices, in \(stay.own.name)")
            for member in settled where member.link == stay.link {
                let expected = ends[index] == nil ? [:] : truth
                #expect(member.replicas[0].tags == expected, "seed \(seed): \(member.label)")
            }
            // What was answered is there, and what was deleted is not: nobody else writes these.
            for member in settled where member.link == nil || member.link == stay.link {
                let saved = member.saved[member.link == nil ? index : 0]
                #expect(saved.allSatisfy { truth[$0.key] == $0.value }, "seed \(seed): saves of \(member.label)")
                let kept = truth.keys.filter { $0.hasPrefix("\(member.label)-") }
                #expect(
                    member.link != nil || Set(kept) == Set(saved.keys), "seed \(seed): records of \(member.label)")
            }
            #expect(stay.ledger.violations == [], "seed \(seed): \(stay.guest)")
            let kinds = stay.ledger.kindsFull(after: 0)
            #expect(kinds.isSuperset(of: ["a page", "an acceptance"]), "seed \(seed): \(stay.guest) had only \(kinds)")
        }
        for member in settled {
            await member.client.disconnect()
            connectionCount += await member.client.connectionCount
            // R-334: pushes to guests have no content, so nothing in them can be too late.
            if member.link != nil { #expect(await member.client.pushesWithContent.isEmpty, "seed \(seed)") }
        }
        #expect(connectionCount > settled.count, "nobody was at a server that was killed")
    }
}
