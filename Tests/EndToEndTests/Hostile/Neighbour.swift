// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkBytes
import TidemarkKit
import TidemarkSockets
import TidemarkTLS
import TidemarkTestSupport
import TidemarkWebSocket
import TidemarkWire

/// An account that behaves, with its operator: it saves, fetches, queries, uploads, signs in, makes and deletes a zone,
/// reads its feeds and subscriptions, and asks whether the server is well, one after the other. It also writes and reads in
/// the zone of a friend, and its operator gives a command if the server takes any.
struct Neighbour {
    /// What it met.
    struct Figures: CustomStringConvertible {
        var times: [Duration] = []
        var refusals: [String] = []
        /// What took longest, and how long.
        var slowest = (step: "nothing", time: Duration.zero)

        /// All but one of a hundred were faster.
        var p99: Duration { times.sorted()[(times.count - 1) * 99 / 100] }

        /// Half were faster.
        var median: Duration { times.sorted()[(times.count - 1) / 2] }

        var description: String {
            "\(times.count) requests, median \(milliseconds(median)), p99 \(milliseconds(p99)), "
                + "\(slowest.step) took \(milliseconds(slowest.time)), \(refusals.count) refused"
        }

        private func milliseconds(_ time: Duration) -> String { String(format: "%.1f ms", time / .milliseconds(1)) }

        mutating func add(_ step: String, _ time: Duration) {
            times.append(time)
            if time > slowest.time { slowest = (step, time) }
        }
    }

    private static let zoneID = CKRecordZone.ID(zoneName: "Neighbour")
    private static let loop: Result<EventLoop, any Error> = Result { try EventLoop(name: "neighbour") }

    private let database: CKDatabase
    private let shared: CKDatabase
    /// The friend's zone.
    private let sharedZoneID: CKRecordZone.ID
    /// A device that has never been here, for each call.
    private let newcomer: () -> CKDatabase
    private let file: URL
    private let address: SocketAddress
    /// Nil: the server has no TLS.
    private let tls: TLSContext?
    /// Where its operator gives commands, and with which credential; nil: nowhere.
    private let operators: (address: SocketAddress, credential: String)?

    /// - Parameter place: it also keeps the file that is uploaded.
    init(_ place: OperatorPlace, token: String) async throws {
        let container = place.container(token: token)
        database = container.privateCloudDatabase
        shared = container.sharedCloudDatabase
        let url = try await Self.befriend(place)
        let metadata = try await container.shareMetadata(for: url)
        sharedZoneID = try await container.accept(metadata).recordID.zoneID
        newcomer = { place.database(token: token) }
        file = URL(fileURLWithPath: "\(place.directory.path)/neighbour")
        address = .loopback(port: UInt16(place.site.port))
        tls = try place.site.makeTLS()
        operators = try OperatorPlace.operatorsPort(of: place.server).map {
            try (address: .loopback(port: UInt16($0)), credential: place.makeOperator("neighbour"))
        }
        try await database.save(CKRecordZone(zoneID: Self.zoneID))
        try await database.save(CKDatabaseSubscription(subscriptionID: "neighbour"))
    }

    /// Somebody who shares a zone. Returns the share's URL.
    private static func befriend(_ place: OperatorPlace) async throws -> URL {
        let friend = place.database(token: try place.makeAccounts(["friend"])[0])
        let zoneID = CKRecordZone.ID(zoneName: "Friend")
        try await friend.save(CKRecordZone(zoneID: zoneID))
        let share = CKShare(recordZoneID: zoneID)
        share.publicPermission = .readWrite
        guard let url = (try await friend.save(share) as? CKShare)?.url else {
            throw NeverHappened(description: "the share has no URL")
        }
        return url
    }

    /// Lives on for so long.
    func live(for duration: Duration) async -> Figures {
        var figures = Figures()
        let clock = ContinuousClock()
        let end = clock.now + duration
        let all: KeyValuePairs<String, (Int) async throws -> Void> = [
            "save": save, "fetch": fetch, "query": query, "upload": upload, "signIn": signIn, "makeZone": makeZone,
            "readDatabase": readDatabase, "readZone": readZone, "listSubscriptions": listSubscriptions,
            "askForHealth": askForHealth, "saveShared": saveShared, "querySharedZone": querySharedZone,
            "readSharedZone": readSharedZone, "readSharedDatabase": readSharedDatabase, "giveCommand": giveCommand,
        ]
        let steps = all.filter { operators != nil || $0.key != "giveCommand" }
        repeat {
            let round = Int.random(in: 0..<Int(Int32.max))
            for (name, step) in steps {
                let began = clock.now
                do {
                    try await step(round)
                } catch {
                    figures.refusals.append("\(name): \(error)")
                }
                figures.add(name, clock.now - began)
            }
        } while clock.now < end
        return figures
    }

    private func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: Self.zoneID) }

    private func save(_ round: Int) async throws {
        let record = CKRecord(recordType: "Letter", recordID: id("letter \(round)"))
        record["number"] = round
        try await database.save(record)
    }

    private func fetch(_ round: Int) async throws {
        _ = try await database.record(for: id("letter \(round)"))
    }

    private func query(_ round: Int) async throws {
        let query = CKQuery(recordType: "Letter", predicate: NSPredicate(format: "number == %d", round))
        let found = try await database.records(matching: query, inZoneWith: Self.zoneID)
        guard found.matchResults.count == 1 else { throw NeverHappened(description: "letter \(round) is not found") }
    }

    private func upload(_ round: Int) async throws {
        var bytes = Data(repeating: 7, count: 60_000)
        bytes.append(contentsOf: "\(round)".utf8)
        try bytes.write(to: file)
        let record = CKRecord(recordType: "Picture", recordID: id("picture \(round % 10)"))
        record["file"] = CKAsset(fileURL: file)
        _ = try await database.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
    }

    private func signIn(_ round: Int) async throws {
        _ = try await newcomer().recordZone(for: Self.zoneID)
    }

    private func makeZone(_ round: Int) async throws {
        let zoneID = CKRecordZone.ID(zoneName: "Passing \(round % 10)")
        try await database.save(CKRecordZone(zoneID: zoneID))
        try await database.deleteRecordZone(withID: zoneID)
    }

    private func readDatabase(_ round: Int) async throws {
        let changes = try await database.databaseChanges(since: nil)
        guard changes.modifications.contains(where: { $0.zoneID == Self.zoneID }) else {
            throw NeverHappened(description: "the zone is not in the database's changes")
        }
    }

    /// As long each time, however many letters there are.
    private func readZone(_ round: Int) async throws {
        let changes = try await database.recordZoneChanges(inZoneWith: Self.zoneID, since: nil, resultsLimit: 20)
        guard !changes.modificationResultsByID.isEmpty else {
            throw NeverHappened(description: "no letter is in the zone's changes")
        }
    }

    private func listSubscriptions(_ round: Int) async throws {
        let subscriptions = try await database.allSubscriptions()
        guard subscriptions.map(\.subscriptionID) == ["neighbour"] else {
            throw NeverHappened(description: "the subscriptions are \(subscriptions)")
        }
    }

    private func saveShared(_ round: Int) async throws {
        let id = CKRecord.ID(recordName: "answer \(round % 10)", zoneID: sharedZoneID)
        let record = CKRecord(recordType: "Answer", recordID: id)
        record["number"] = round
        let results = try await shared.modifyRecords(saving: [record], deleting: [], savePolicy: .allKeys)
        _ = try results.saveResults[id]?.get()
    }

    private func querySharedZone(_ round: Int) async throws {
        let query = CKQuery(recordType: "Answer", predicate: NSPredicate(format: "number == %d", round))
        let found = try await shared.records(matching: query, inZoneWith: sharedZoneID)
        guard found.matchResults.count == 1 else { throw NeverHappened(description: "answer \(round) is not found") }
    }

    private func readSharedZone(_ round: Int) async throws {
        let changes = try await shared.recordZoneChanges(inZoneWith: sharedZoneID, since: nil, resultsLimit: 20)
        guard !changes.modificationResultsByID.isEmpty else {
            throw NeverHappened(description: "no answer is in the shared zone's changes")
        }
    }

    private func readSharedDatabase(_ round: Int) async throws {
        let changes = try await shared.databaseChanges(since: nil)
        guard changes.modifications.contains(where: { $0.zoneID == sharedZoneID }) else {
            throw NeverHappened(description: "the friend's zone is not in the database's changes")
        }
    }

    /// As a load balancer does, which takes a server out that does not say so.
    private func askForHealth(_ round: Int) async throws {
        let question = Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
        let peer = try await RawPeer.connect(
            to: address, on: try Self.loop.get(), tls: tls, .none, sending: question)
        let good = Array("HTTP/1.1 200 ".utf8)
        let answer = await peer.receive { $0.count >= good.count }
        await peer.close()
        guard answer.starts(with: good) else {
            throw NeverHappened(description: "not healthy: \(String(decoding: answer, as: UTF8.self))")
        }
    }

    /// Over a new channel, as an operator's program does.
    private func giveCommand(_ round: Int) async throws {
        guard let operators else { return }
        var command = WireOperatorClientMessage()
        command.command.arguments = ["containers", "list"]
        command.command.credit = 65_536
        let messages = [Attack.operatorsHello(operators.credential), command.encoded]
        let peer = try await RawPeer.connect(
            to: operators.address, on: try Self.loop.get(), tls: tls, .none,
            sending: RawPeer.upgrade("/admin", subprotocol: "tidemark.operator.v1")
                + messages.flatMap { RawPeer.frame(.binary, $0) })
        let answer = await peer.receive { Self.status(in: $0) != nil }
        await peer.close()
        guard Self.status(in: answer) == 0 else {
            throw NeverHappened(description: "the command did not end well: \(RawPeer.events(answer))")
        }
    }

    /// With which a command has ended; nil: it has not.
    private static func status(in received: [UInt8]) -> Int32? {
        for message in RawPeer.messages(in: received) {
            if case .end(let end)? = (try? WireOperatorServerMessage(reading: message))?.message { return end.status }
        }
        return nil
    }
}
