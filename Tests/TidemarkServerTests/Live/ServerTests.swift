// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkServer
import TidemarkSockets
import TidemarkStore
import TidemarkTestSupport
import TidemarkTransport
import TidemarkWebSocket
import TidemarkWire

/// The real server: TLS, WebSocket and PostgreSQL.
@Suite(.serialized) struct ServerTests {
    @Test func `what one device saves, another gets`() async throws {
        try await withLiveWorld { world in
            try await world.withServer { server in
                let first = try await world.enter(device: 1, server: server)
                let other = try await world.enter(device: 2, server: server)
                try await first.makeZone("notes")
                try await first.save(["a", "b"], in: "notes")
                #expect(try await other.names(in: "notes") == ["a", "b"])
                let stranger = try await world.enter(world.bob, device: 1, server: server)
                await #expect(throws: LiveError.self) { try await stranger.names(in: "notes") }
            }
        }
    }

    @Test func `R-248: a save is pushed to the account's other devices, on this server and on another`() async throws {
        try await withLiveWorld { world in
            try await world.withServer { here in
                try await world.withServer { there in
                    let first = try await world.enter(device: 1, server: here)
                    try await first.subscribe()
                    try await first.makeZone("notes")
                    let beside = try await world.enter(device: 2, server: here)
                    let far = try await world.enter(device: 3, server: there)
                    // Each is told once that it may have missed something.
                    for client in [beside, far] {
                        _ = try await client.pushes(1)
                        client.forgetInbox()
                    }
                    try await first.save(["a"], in: "notes")
                    for client in [beside, far] {
                        // A push of what came before may still be on its way, so the save's is not always the first.
                        var count = 1
                        while try await !client.pushes(count).contains(where: { $0.zones.map(\.name) == ["notes"] }) {
                            count += 1
                        }
                        #expect(try await client.names(in: "notes") == ["a"])
                    }
                    // A sweep may say that something moved, to whom the zone is not named.
                    #expect(!first.pushes.contains { $0.zones.map(\.name) == ["notes"] })
                }
            }
        }
    }

    @Test func `R-157: a device that repeats each request five times, on two servers, saves once`() async throws {
        try await withLiveWorld { world in
            try await world.withServer { here in
                try await world.withServer { there in
                    let first = try await world.enter(device: 1, server: here)
                    let second = try await world.enter(device: 1, server: there)
                    try await first.makeZone("notes")
                    for number in 0..<10 {
                        var request = try first.saving(["r\(number)"], in: "notes")
                        request.policy = .ifServerRecordUnchanged
                        let ids = (0..<5).map { _ in
                            (first.post(.modifyRecords(request)), second.post(.modifyRecords(request)))
                        }
                        var results: [WireZoneModificationResults] = []
                        for (id, otherID) in ids {
                            results.append(try await first.answer(to: id).modifyRecords.zones[0])
                            results.append(try await second.answer(to: otherID).modifyRecords.zones[0])
                        }
                        #expect(results.allSatisfy { $0 == results[0] })
                        #expect(results[0].saves.first?.saved.tag.isEmpty == false)
                    }
                    #expect(try await second.names(in: "notes") == (0..<10).map { "r\($0)" })
                }
            }
        }
    }

    @Test
    func `R-249: devices on many event loops are told of what each of them saves, and lose nothing when it stops`()
        async throws
    {
        try await withLiveWorld { world in
            try await world.withServer({ $0.loopCount = 4 }) { server in
                var clients: [LiveClient] = []
                for device in 1...8 {
                    clients.append(try await world.enter(device: UInt64(device), server: server))
                }
                try await clients[0].makeZone("notes")
                try await clients[0].subscribe()
                for client in clients.dropFirst() { _ = try await client.pushes(1) }
                for (index, client) in clients.enumerated() {
                    let counts = clients.map(\.pushes.count)
                    try await client.save(["r\(index)"], in: "notes")
                    for (other, count) in zip(clients, counts) where other !== client {
                        _ = try await other.pushes(count + 1)
                    }
                }
                for client in clients { #expect(try await client.names(in: "notes").count == 8) }
                for (index, client) in clients.enumerated() {
                    _ = client.post(.modifyRecords(try client.saving(["last\(index)"], in: "notes")))
                }
                await server.stop()
                for client in clients { #expect(try await client.closeCode() == 1001) }
            }
        }
    }

    // MARK: Bad input

    @Test func `text messages are refused with 1003, nonsense with 1007, too long ones with 1009`() async throws {
        try await withLiveWorld { world in
            try await world.withServer { server in
                let text = try await world.enter(server: server)
                text.send(.text, Array("hello".utf8))
                #expect(try await text.closeCode() == 1003)
                let nonsense = try await world.enter(server: server)
                nonsense.send(.binary, [0xFF, 0xFF])
                #expect(try await nonsense.closeCode() == 1007)
                let long = try await world.enter(server: server)
                long.send(.binary, Array(repeating: 0, count: 4_194_305))
                #expect(try await long.closeCode() == 1009)
                let other = try await world.enter(server: server)
                try await other.makeZone("unharmed")
            }
        }
    }

    @Test func `a client without our subprotocol is refused`() async throws {
        try await withLiveWorld { world in
            try await world.withServer { server in
                for subprotocols in [[], ["tidemark.v0"]] {
                    let client = try await world.connect(to: server, subprotocols: subprotocols)
                    await #expect(throws: LiveError.self) { try await client.opened() }
                }
            }
        }
    }

    @Test func `R-354: foreign, revoked and expired credentials are refused, and revoking cuts live connections`()
        async throws
    {
        try await withLiveWorld { world in
            try await world.withServer { here in
                try await world.withServer { there in
                    let (id, guest) = try await LiveWorld.issue("guest", world.admin)
                    let live = try await world.enter(guest, server: here)
                    let far = try await world.enter(guest, device: 2, server: there)
                    #expect(try await world.admin.revokeCredential(id))
                    #expect(try await live.closeCode() == 4401)
                    #expect(try await far.closeCode() == 4401)
                    let past = Timestamp(milliseconds: world.loop.wallClockMilliseconds - 1)
                    let expired = try await LiveWorld.issue("late", world.admin, expiresAt: past).credential
                    for credential in [guest, expired, Credential(text: "nonsense")] {
                        let refused = try await world.connect(to: here)
                        try await refused.opened()
                        let answer = try await refused.ask(.hello(SessionWorld.hello(credential.text)))
                        #expect(answer.failure.code == .notAuthenticated)
                        #expect(try await refused.closeCode() == 4401)
                    }
                }
            }
        }
    }

    @Test func `I-7: 10000 requests without reading the answers hurt nobody else`() async throws {
        try await withLiveWorld { world in
            try await world.withServer { server in
                let writer = try await world.enter(device: 2, server: server)
                try await writer.makeZone("notes")
                let text = String(repeating: "x", count: 20_000)
                try await writer.save((0..<50).map { "r\($0)" }, in: "notes", text: text)
                let greedy = try await world.enter(server: server)
                greedy.pauseReading()
                for _ in 0..<10_000 { _ = greedy.post(.fetchZoneChanges(TestClient.zoneChanges("notes"))) }
                let other = try await world.enter(world.bob, device: 3, server: server)
                try await other.makeZone("unharmed")
                try await other.save(["a"], in: "unharmed")
                #expect(try await other.names(in: "unharmed") == ["a"])
                // When it reads again it finds refusals, and that it was cut off.
                greedy.resumeReading()
                #expect(try await greedy.closeCode() == 4429)
                #expect(greedy.answers.contains { $0.failure.code == .requestRateLimited })
            }
        }
    }

    // MARK: Beginning and end

    @Test func `a server that stops answers what runs and closes with 1001`() async throws {
        try await withLiveWorld { world in
            let server = try await Server.start(world.configuration)
            let client = try await world.enter(server: server)
            try await client.makeZone("notes")
            let id = client.post(.modifyRecords(try client.saving(["a"], in: "notes")))
            _ = try await client.answer(to: id)
            await server.stop()
            #expect(try await client.closeCode() == 1001)
            #expect(server.connectionCount == 0)
            await server.stop()
        }
    }

    @Test func `certificates are read again without cutting anybody off`() async throws {
        try await withLiveWorld { world in
            try await world.withServer { server in
                let client = try await world.enter(server: server)
                try server.reloadCertificates()
                let second = try await world.enter(device: 2, server: server)
                try await client.makeZone("notes")
                try await second.save(["a"], in: "notes")
            }
        }
    }

    @Test func `a server that cannot start says why`() async throws {
        try await withLiveWorld { world in
            func code(_ change: (inout ServerConfiguration) -> Void) async -> ServerError.Code? {
                var configuration = world.configuration
                change(&configuration)
                do throws(ServerError) {
                    let server = try await Server.start(configuration)
                    await server.stop()
                    return nil
                } catch {
                    return error.code
                }
            }
            let everywhere = try SocketAddress(parsing: "0.0.0.0:0")
            #expect(
                await code {
                    $0.certificate = nil
                    $0.addresses = [everywhere]
                } == .plainBeyondLoopback)
            #expect(await code { $0.certificate?.certificateFile = "/nowhere" } == .certificateUnusable)
            #expect(
                await code { $0.databaseURL = "postgresql:///none?host=/nowhere&connect_timeout=1" }
                    == .databaseUnreachable)
            let empty = try await TestPostgres.database()
            #expect(await code { $0.databaseURL = empty.url } == .databaseNotMigrated)
            #expect(await code { $0.certificate = nil } == nil)
        }
    }

    @Test func `R-964: whatever keeps a server from starting is told with what to do`() async throws {
        try await withLiveWorld { world in
            func text(_ change: (inout ServerConfiguration) -> Void) async -> String {
                var configuration = world.configuration
                change(&configuration)
                do throws(ServerError) {
                    let server = try await Server.start(configuration)
                    await server.stop()
                    return "it started"
                } catch {
                    return error.description
                }
            }
            func expect(_ advice: String, _ change: (inout ServerConfiguration) -> Void) async {
                let text = await text(change)
                #expect(text.contains(advice), "\(text)")
            }
            let wrong = try world.write("no key", to: "wrong")
            await expect("Put back the copy") { $0.masterKeyFile = wrong }
            await expect("Let the user of the server write") { $0.masterKeyFile = "/nowhere/master.key" }
            await expect("openssl rand") { $0.admin.tokenFile = "/nowhere" }
            await expect("openssl rand") { $0.admin.tokenFile = wrong }
            await expect("Check the PEM files") { $0.certificate?.privateKeyFile = "/nowhere" }
            await expect("Check who may write to it") { $0.assetDirectory = "/proc/nowhere" }
            await expect("Check its URL") { $0.databaseURL = "postgresql:///none?host=/nowhere&connect_timeout=1" }
            let provider = #"[{"issuer": "https://login.example.org", "audience": "notes", "ca": "/nowhere"}]"#
            let issuers = try IssuersFile.read(Array(provider.utf8))
            await expect("must be a PEM file") { $0.issuers = issuers }
            let empty = try await TestPostgres.database()
            await expect("Run `tidemark migrate`") { $0.databaseURL = empty.url }
            // With a master key file the database is looked at before.
            let restored = try await TestPostgres.database(LiveWorld.template)
            try PostgresAdministration.execute(["CREATE TABLE tidemark_restore_under_way ()"], url: restored.url)
            for file in [nil, "\(world.directory.path)/new.key"] {
                await expect("tidemark admin backup restore") {
                    $0.databaseURL = restored.url
                    $0.masterKeyFile = file
                }
            }
            try await world.withServer({ $0.admin.addresses = [.loopback(port: 0)] }) { server in
                let taken = server.adminAddresses
                await expect("Choose another address") { $0.admin.addresses = taken }
            }
        }
    }
}
