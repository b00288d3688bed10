// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkSockets
import TidemarkTLS
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkServer

/// With the real `nats-server`.
@Suite(.serialized, .enabled(if: NATSProgram.path != nil, "nats-server is not installed"))
struct NATSNoticeBusTests {
    private static func notice(_ database: Int64, _ zone: String = "notes") -> ServerNotice {
        .zone(ZoneNotice(database: DatabaseID(database), life: DeviceID(high: 0, low: 1), zoneName: zone))
    }

    /// A bus with what it hears.
    private final class Ear: Sendable {
        let bus: NATSNoticeBus
        private let state = Mutex((heard: [ServerNotice](), gaps: 0))

        init(_ settings: NoticeBusSettings, on loop: EventLoop) throws {
            bus = try NATSNoticeBus(on: loop, settings, name: "test/1")
        }

        func start() {
            bus.start(
                onNotices: { notices in self.state.withLock { $0.heard += notices } },
                onGap: { self.state.withLock { $0.gaps += 1 } })
        }

        var heard: [ServerNotice] { state.withLock { $0.heard } }
        var gaps: Int { state.withLock { $0.gaps } }
    }

    private func withLoop(_ body: (EventLoop, TestDirectory) async throws -> Void) async throws {
        let loop = try EventLoop(name: "bus")
        let directory = try TestDirectory()
        defer {
            loop.stop()
            directory.remove()
        }
        try await body(loop, directory)
    }

    @Test func `R-874: a server hears what it follows, and not its own words`() async throws {
        try await withLoop { loop, directory in
            let nats = try await NATSProgram.start(in: directory)
            let settings = try NoticeBusSettings("nats://127.0.0.1:\(nats.port)/a")
            let (speaker, listener) = (try Ear(settings, on: loop), try Ear(settings, on: loop))
            let stranger = try Ear(NoticeBusSettings("nats://127.0.0.1:\(nats.port)/b"), on: loop)
            for ear in [speaker, listener, stranger] {
                ear.bus.follow([.database(DatabaseID(7)), .everyone])
                ear.start()
                try await eventually(within: .seconds(60)) { ear.gaps == 1 }
            }
            // One that was followed while the connection was open.
            listener.bus.follow([.database(DatabaseID(9))])
            try await eventually(within: .seconds(60)) {
                _ = await speaker.bus.publish([Self.notice(7), Self.notice(8), Self.notice(9)])
                return listener.heard.contains(Self.notice(9))
            }
            #expect(listener.heard.contains(Self.notice(7)) && !listener.heard.contains(Self.notice(8)))
            #expect(speaker.heard.isEmpty && stranger.heard.isEmpty)
            for ear in [speaker, listener, stranger] { ear.bus.stop() }
            nats.stop()
        }
    }

    @Test func `R-874, I-4: a bus that was away is a gap, and what was followed is followed again`() async throws {
        try await withLoop { loop, directory in
            let nats = try await NATSProgram.start(in: directory)
            // The first of them is not there.
            let text = "nats://127.0.0.1:1,nats://127.0.0.1:\(nats.port)"
            let (speaker, listener) = (
                try Ear(NoticeBusSettings(text), on: loop), try Ear(NoticeBusSettings(text), on: loop)
            )
            listener.bus.follow([.database(DatabaseID(7))])
            for ear in [speaker, listener] {
                ear.start()
                try await eventually(within: .seconds(60)) { ear.gaps == 1 }
            }
            nats.stop()
            try await eventually(within: .seconds(60)) { await !speaker.bus.publish([Self.notice(7)]) }
            let again = try await NATSProgram.start(in: directory, port: nats.port)
            for ear in [speaker, listener] { try await eventually(within: .seconds(60)) { ear.gaps == 2 } }
            #expect(await speaker.bus.publish([Self.notice(7)]))
            try await eventually(within: .seconds(60)) { listener.heard.last == Self.notice(7) }
            for ear in [speaker, listener] { ear.bus.stop() }
            again.stop()
        }
    }

    @Test func `R-874: with rights on the bus one can make servers look, and do nothing else`() async throws {
        try await withLoop { loop, directory in
            let nats = try await NATSProgram.start(in: directory)
            let settings = try NoticeBusSettings("nats://127.0.0.1:\(nats.port)")
            let ear = try Ear(settings, on: loop)
            ear.bus.follow([.database(DatabaseID(7))])
            ear.start()
            try await eventually(within: .seconds(60)) { ear.gaps == 1 }
            let isOpen = Mutex(false)
            let life = "00000000000000000000000000000001"
            let words = [
                "c\t1\n", "d\t1\t\(life)\n", "x\t1\t\n", "k\t1\n", "l\t0\n", "q\t0\t1\n", "a\t1\t1\tserver\n", "", "\n",
                "z\t8\t\(life)\tnotes\n", "z\t7\tnotes\n", "nonsense", String(repeating: "z", count: 100_000),
                // The last one is as servers send it.
                "z\t7\t\(life)\tend\n",
            ]
            let stranger = await loop.run {
                let stranger = NATSConnection(
                    on: loop, to: settings.places[0], context: nil,
                    greeting: { NATSMachine.hello(name: "stranger", secret: nil, isSecured: false) },
                    onEvent: { if case .opened = $0 { isOpen.withLock { $0 = true } } })
                stranger.start()
                return stranger
            }.value
            try await eventually(within: .seconds(60)) { isOpen.withLock { $0 } }
            await loop.run {
                for word in words { #expect(stranger.send(NATSMachine.publish(word.utf8, to: "tidemark.z.7"))) }
            }.value
            try await eventually(within: .seconds(60)) { !ear.heard.isEmpty }
            #expect(ear.heard == [Self.notice(7, "end")])
            #expect(ear.gaps == 1, "nothing of it broke the connection")
            await loop.run { stranger.close() }.value
            ear.bus.stop()
            nats.stop()
        }
    }

    @Test func `R-874: TLS with the bus's authority and a password, and no other password`() async throws {
        try await withLoop { loop, directory in
            let files = try DevelopmentCertificates(
                directory: directory.path, hosts: ["localhost", "127.0.0.1"], now: Int64(Date().timeIntervalSince1970))
            let nats = try await NATSProgram.start(
                in: directory,
                """
                tls { cert_file: "\(files.certificateFile)", key_file: "\(files.privateKeyFile)" }
                authorization { users: [
                    { user: "tidemark", password: "secret\\"1", permissions: { publish: "tidemark.>", subscribe: "tidemark.>" } }
                    { user: "mute", password: "secret2", permissions: { publish: "other", subscribe: "tidemark.>" } }
                ] }
                """)
            var settings = try NoticeBusSettings("tls://localhost:\(nats.port)")
            settings.authorityFile = files.authorityFile
            #expect(settings.authenticate(with: "tidemark:secret\"1"))
            let ear = try Ear(settings, on: loop)
            ear.bus.follow([.database(DatabaseID(7))])
            ear.start()
            try await eventually(within: .seconds(60)) { ear.gaps == 1 }
            var other = settings
            #expect(other.authenticate(with: "mute:secret2"))
            let mute = try Ear(other, on: loop)
            mute.start()
            try await eventually(within: .seconds(60)) { mute.gaps == 1 }
            // What it may not say is not heard, and it stays connected.
            #expect(await mute.bus.publish([Self.notice(7, "mute")]))
            let speaker = try Ear(settings, on: loop)
            speaker.start()
            try await eventually(within: .seconds(60)) {
                _ = await speaker.bus.publish([Self.notice(7, "speaker")])
                return !ear.heard.isEmpty
            }
            #expect(!ear.heard.contains(Self.notice(7, "mute")) && mute.gaps == 1)
            for (secret, context, failure) in [
                ("tidemark:wrong", files.authorityFile, NATSFailure.refused("Authorization Violation")),
                ("tidemark:secret\"1", nil, .tlsFailed),
            ] as [(String, String?, NATSFailure)] {
                let ended = Mutex<NATSFailure?>(nil)
                let tls = try TLSContext(client: .init(additionalRootsFile: context, trustsSystemRoots: false))
                let connection = await loop.run {
                    let connection = NATSConnection(
                        on: loop, to: settings.places[0], context: tls,
                        greeting: { NATSMachine.hello(name: "a", secret: NATSSecret(secret), isSecured: true) },
                        onEvent: { if case .ended(let failure) = $0 { ended.withLock { $0 = failure } } })
                    connection.start()
                    return connection
                }.value
                try await eventually(within: .seconds(60)) { ended.withLock { $0 } != nil }
                #expect(ended.withLock { $0 } == failure)
                await loop.run { connection.close() }.value
            }
            for ear in [ear, mute, speaker] { ear.bus.stop() }
            nats.stop()
        }
    }

    @Test func `R-874: what is saved at one server is pushed at another by NATS`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let nats = try await NATSProgram.start(in: directory)
        let settings = try NoticeBusSettings("nats://127.0.0.1:\(nats.port)")
        try await withLiveWorld { world in
            try await world.withServer({ $0.noticeBus = settings }) { here in
                try await world.withServer({ $0.noticeBus = settings }) { there in
                    let first = try await world.enter(device: 1, server: here)
                    try await first.subscribe()
                    try await first.makeZone("notes")
                    let far = try await world.enter(device: 2, server: there)
                    // A sweep does not name the zone. At first the bus may not be there.
                    var (number, isNamed) = (0, false)
                    while !isNamed {
                        let count = far.pushes.count
                        try await first.save(["a\(number)"], in: "notes")
                        number += 1
                        isNamed = try await far.pushes(count + 1).contains { $0.zones.map(\.name) == ["notes"] }
                    }
                    #expect(try await far.names(in: "notes").count == number)
                    // Without the bus nothing is lost.
                    nats.stop()
                    far.forgetInbox()
                    try await first.save(["last"], in: "notes")
                    _ = try await far.pushes(1)
                    #expect(try await far.names(in: "notes").count == number + 1)
                }
            }
        }
    }
}
