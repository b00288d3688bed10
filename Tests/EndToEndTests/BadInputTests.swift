// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkKit
import TidemarkWebSocket
import TidemarkWire

/// I-6 over real connections: whoever sends nonsense is told so or cut off, and everybody else does not notice.
@Suite struct BadInputTests {
    /// Runs `attack` while another device of another account goes on with its work.
    private func undisturbed(_ attack: (Site) async throws -> Void) async throws {
        let site = try await DevServer.shared()
        let bystander = site.makeContainer("bob").privateCloudDatabase
        let zoneID = CKRecordZone.ID(zoneName: "Quiet")
        try await bystander.save(CKRecordZone(zoneID: zoneID))
        try await attack(site)
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n", zoneID: zoneID))
        try await bystander.save(record)
        #expect(try await bystander.allRecordZones().contains { $0.zoneID == zoneID })
    }

    @Test func `I-6: a request before Hello closes with 4400`() async throws {
        try await undisturbed { site in
            let client = try await RawClient(site)
            try client.send(.zones(id: 1))
            try await eventually("it is closed") { client.isClosed }
            #expect(client.closeCode == 4400)
            #expect(client.answers.allSatisfy { $0.failure.code != .unspecified })
        }
    }

    @Test func `I-6: bytes that are no message close with 1007`() async throws {
        try await undisturbed { site in
            for garbage: [UInt8] in [[0xFF, 0xFF, 0xFF], Array(repeating: 0x0A, count: 5_000), []] {
                let client = try await RawClient(site)
                client.send(garbage)
                try await eventually("it is closed") { client.isClosed }
                #expect(client.closeCode == 1007)
            }
        }
    }

    @Test func `I-6: a text message closes with 1003`() async throws {
        try await undisturbed { site in
            let client = try await RawClient(site)
            client.send(Array("hello".utf8), as: .text)
            try await eventually("it is closed") { client.isClosed }
            #expect(client.closeCode == 1003)
        }
    }

    @Test(arguments: [[], ["tidemark.v0"], ["chat"]])
    func `I-6: a connection without our subprotocol is refused`(_ subprotocols: [String]) async throws {
        try await undisturbed { site in
            let client = try await RawClient(site, subprotocols: subprotocols)
            #expect(client.isClosed && client.closeCode == nil)
        }
    }

    @Test func `R-352: a wrong credential is told so and closed with 4401`() async throws {
        try await undisturbed { site in
            let client = try await RawClient(site)
            try client.send(.hello(site, token: "tidemark_wrong"))
            try await eventually("it is closed") { client.isClosed }
            #expect(client.closeCode == 4401)
            #expect(client.answers.map(\.failure.code) == [.notAuthenticated])
        }
    }

    @Test func `R-355: the device id of another account's device is a device of one's own`() async throws {
        try await undisturbed { site in
            let alice = try await RawClient(site)
            try alice.send(.hello(site, "alice", device: 7))
            let first = try await alice.answer(to: 1)
            let bob = try await RawClient(site)
            try bob.send(.hello(site, "bob", device: 7))
            let second = try await bob.answer(to: 1)
            #expect(first.hello.userRecordName != second.hello.userRecordName)
            #expect(!second.hello.userRecordName.isEmpty)
            try alice.send(.zones(id: 2))
            #expect(try await alice.answer(to: 2).failure.code == .unspecified)
            #expect(!alice.isClosed && !bob.isClosed)
        }
    }

    @Test func `I-7: 10 000 requests without reading the answers are ended with 4429, and delay nobody`() async throws {
        try await undisturbed { site in
            let client = try await RawClient(site)
            try client.send(.hello(site))
            _ = try await client.answer(to: 1)
            client.pauseReading()
            let requests = (2..<10_002).map { WireClientEnvelope.zones(id: $0).encoded }
            client.sendTogether(requests)
            let other = try await RawClient(site)
            try other.send(.hello(site, device: 2))
            _ = try await other.answer(to: 1)
            client.resumeReading()
            try await eventually("it is closed") { client.isClosed }
            #expect(client.closeCode == 4429)
            // It was told before, so often that it had to know.
            let refused = client.answers.filter { $0.failure.code == .requestRateLimited }
            #expect(refused.count == 256 && client.answers.count < 1_000)
            try other.send(.zones(id: 2))
            #expect(try await other.answer(to: 2).failure.code == .unspecified)
        }
    }

    @Test func `I-6: an unknown request is refused and the connection goes on`() async throws {
        try await undisturbed { site in
            let client = try await RawClient(site)
            try client.send(.hello(site))
            _ = try await client.answer(to: 1)
            var request = WireWriter(capacity: 16)
            request.number(UInt64(WireClientEnvelope.Tag.id))
            request.uint64(9)
            // An empty message with the highest number that a field can have: no version knows it.
            request.number(UInt64(UInt32.max - 5))
            request.number(0)
            client.send(request.bytes)
            #expect(try await client.answer(to: 9).failure.code == .invalidArguments)
            try client.send(.zones(id: 10))
            #expect(try await client.answer(to: 10).failure.code == .unspecified)
        }
    }
}
