// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkKit
import TidemarkSockets
import TidemarkTestSupport
import TidemarkWebSocket
import TidemarkWire

/// I-7 at a server process: what peers can make it hold is bounded.
@Suite(.timeLimit(.minutes(10))) struct BoundedMemoryTests {
    /// Bytes that a server may grow by while everybody below attacks it. Without its bounds, each kind of attack alone
    /// would take several times as much.
    private static let growthMax = 160 * 1_048_576

    private static let zoneID = CKRecordZone.ID(zoneName: "Large")
    private static let start = RawPeer.upgrade("/", deflate: true, subprotocol: "tidemark.v1")

    private static func message(_ envelope: WireClientEnvelope) throws -> [UInt8] { envelope.encoded }

    /// 100 MB of nothing, in one frame of 100 KB.
    private static func bomb() throws -> [UInt8] {
        let deflater = try #require(Deflater(role: .client, parameters: DeflateParameters(), level: 9))
        let zeroes = [UInt8](repeating: 0, count: 100_000_000)
        let bytes = try #require(zeroes.withUnsafeBytes { deflater.compress($0) })
        return RawPeer.frame(.binary, bytes, isCompressed: true)
    }

    /// A request, a frame for each of its bytes.
    private static func fragments() throws -> [UInt8] {
        var request = WireClientEnvelope.zones(id: 2)
        request.fetchZones.zones = (0..<399).map { number in
            var zone = WireZoneID()
            zone.name = "\(number)" + String(repeating: "x", count: 250)
            return zone
        }
        let bytes = try message(request)
        var frames = RawPeer.frame(.binary, [bytes[0]], isFinal: false)
        for byte in bytes.dropFirst() { frames += RawPeer.frame(.continuation, [byte], isFinal: false) }
        return frames + RawPeer.frame(.continuation)
    }

    /// For pages of megabytes.
    private static func requests(_ count: UInt64) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for id in 2..<(2 + count) {
            var envelope = WireClientEnvelope()
            envelope.id = id
            envelope.fetchZoneChanges.database = .private
            envelope.fetchZoneChanges.zone.name = zoneID.zoneName
            bytes += RawPeer.frame(.binary, try message(envelope))
        }
        return bytes
    }

    @Test(.disabled(if: ThreadSanitizer.isOn, "its memory would be counted"))
    func `I-7: bombs, fragments, slow-loris and answers that nobody reads do not fill a server's memory`()
        async throws
    {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let database = place.database()
            try await database.save(CKRecordZone(zoneID: Self.zoneID))
            try await fill(database)
            let loop = try EventLoop(name: "attackers")
            defer { loop.stop() }
            let address = SocketAddress.loopback(port: UInt16(place.site.port))
            func stranger(_ bytes: [UInt8]) async throws -> RawPeer {
                try await RawPeer.connect(to: address, on: loop, tls: nil, .none, sending: bytes)
            }
            // Each has said who it is: before that, a server takes less.
            func members(_ count: UInt8) async throws -> [RawPeer] {
                var peers: [RawPeer] = []
                for device in 1...count {
                    let hello = try Self.message(.hello(place.site, device: device))
                    peers.append(try await stranger(Self.start + RawPeer.frame(.binary, hello)))
                }
                for peer in peers { await peer.receive { RawPeer.messages(in: $0).count == 1 } }
                return peers
            }
            let before = try place.server.resetPeakMemory()

            // As many as one may have under way, and far more.
            let deaf = try await members(8)
            for (index, peer) in deaf.enumerated() {
                await peer.pauseReading()
                await peer.send(try Self.requests(index.isMultiple(of: 2) ? 250 : 10_000))
            }
            // Half a head; no Hello; a frame of 4 MB that never comes.
            var loris: [RawPeer] = []
            for _ in 0..<80 {
                loris.append(try await stranger(Array("GET / HTTP/1.1\r\nHost: h".utf8)))
                loris.append(try await stranger(Self.start))
            }
            let waiting = try await members(80)
            for peer in waiting { await peer.send([0x82, 0xFF, 0, 0, 0, 0, 0, 0x3F, 0xFF, 0xFF, 1, 2, 3, 4, 0x08]) }
            let fragments = try Self.fragments()
            let fragmenting = try await members(8)
            for peer in fragmenting { await peer.send(fragments) }
            let bomb = try Self.bomb()
            let bombing = try await members(8)
            for peer in bombing { await peer.send(bomb) }

            for peer in bombing { #expect(await peer.receiveAllEvents().last == "close 1002") }
            for peer in fragmenting {
                let received = await peer.receive { RawPeer.messages(in: $0).count == 2 }
                let answer = try #require(RawPeer.messages(in: received).last)
                #expect(try WireServerEnvelope(reading: answer).fetchZones.zones.count == 399)
            }
            // Meanwhile whoever behaves is served, with the same large pages.
            for _ in 0..<10 {
                let page = try await database.recordZoneChanges(inZoneWith: Self.zoneID, since: nil)
                #expect(!page.modificationResultsByID.isEmpty)
            }
            let growth = try place.server.peakMemoryBytes() - before
            #expect(growth < Self.growthMax, "it grew by \(growth / 1_048_576) MiB")
            for peer in deaf + loris + waiting + fragmenting + bombing { await peer.close() }
        }
    }

    /// A request of some kilobytes that takes a hundred times as much in memory.
    private static func swelling(_ id: UInt64) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = id
        envelope.fetchRecords.database = .public
        envelope.fetchRecords.zones = Array(repeating: WireZoneRecordNames(), count: 4_000)
        return RawPeer.frame(.binary, envelope.encoded)
    }

    @Test(.disabled(if: ThreadSanitizer.isOn, "its memory would be counted"))
    func `R-722: requests that swell do not fill a server's memory, and somebody else is served`() async throws {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let database = place.database()
            try await database.save(CKRecordZone(zoneID: Self.zoneID))
            let loop = try EventLoop(name: "attackers")
            defer { loop.stop() }
            let address = SocketAddress.loopback(port: UInt16(place.site.port))
            let before = try place.server.resetPeakMemory()
            let requests = (UInt64(2)..<102).flatMap { Self.swelling($0) }
            var crowd: [RawPeer] = []
            for device in UInt8(1)...40 {
                let hello = WireClientEnvelope.hello(place.site, token: "", device: device)
                let peer = try await RawPeer.connect(
                    to: address, on: loop, tls: nil, .none,
                    sending: Self.start + RawPeer.frame(.binary, hello.encoded))
                await peer.receive { RawPeer.messages(in: $0).count == 1 }
                crowd.append(peer)
            }
            await withTaskGroup(of: Void.self) { group in
                for peer in crowd { group.addTask { await peer.send(requests) } }
                group.addTask {
                    for _ in 0..<10 {
                        await #expect(throws: Never.self) { try await database.allRecordZones() }
                    }
                }
            }
            for peer in crowd {
                let received = await peer.receive { RawPeer.messages(in: $0).count == 101 }
                #expect(RawPeer.messages(in: received).count == 101)
            }
            let growth = try place.server.peakMemoryBytes() - before
            #expect(growth < 64 * 1_048_576, "it grew by \(growth / 1_048_576) MiB")
            for peer in crowd { await peer.close() }
        }
    }

    /// Some megabytes.
    private func fill(_ database: CKDatabase) async throws {
        for batch in 0..<2 {
            let records = (0..<20).map { number in
                let id = CKRecord.ID(recordName: "\(batch)-\(number)", zoneID: Self.zoneID)
                let record = CKRecord(recordType: "Note", recordID: id)
                record["data"] = Data(repeating: UInt8(number), count: 90_000)
                return record
            }
            _ = try await database.modifyRecords(saving: records, deleting: [])
        }
        _ = try await database.recordZoneChanges(inZoneWith: Self.zoneID, since: nil)
    }
}
