// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import TidemarkDomain
import TidemarkLocalPostgres
import TidemarkPostgres
import TidemarkServer
import TidemarkSockets
import TidemarkStore
import TidemarkTLS
import TidemarkTestSupport

/// What operators ask a server, over real sockets.
@Suite(.serialized) struct AdminListenerTests {
    /// Beyond loopback.
    private func listenEverywhere(_ configuration: inout ServerConfiguration) {
        configuration.admin.addresses = SocketAddress(numericHost: "0.0.0.0", port: 0).map { [$0] } ?? []
    }

    @Test func `R-806: on loopback anybody gets metrics, health and readiness, and nothing else`() async throws {
        try await withLiveWorld { world in
            try await world.withServer({ $0.admin.addresses = [.loopback(port: 0)] }) { (server: Server) async throws in
                _ = try await world.enter(server: server)
                let metrics = try await world.ask(server, "/metrics")
                #expect(metrics.status == "200")
                #expect(metrics.text.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
                #expect(metrics.text.contains("\n# TYPE tidemark_"))
                #expect(try await world.ask(server, "/healthz").text.hasSuffix("\r\n\r\nok\n"))
                #expect(try await world.ask(server, "/readyz").text.hasSuffix("\r\n\r\nready\n"))
                for (target, method, fields, status) in [
                    ("/", "GET", "", "404"), ("/metrics/", "GET", "", "404"), ("/metrics", "POST", "", "405"),
                    ("/metrics", "HEAD", "", "200"), ("/metrics", "GET", "Content-Length: 1\r\n", "413"),
                    ("/metrics", "BREW", "", "501"), ("/metrics", "GET", "X: y\r\n z\r\n", "400"),
                ] {
                    let answer = try await world.ask(server, target, method: method, fields: fields)
                    #expect(answer.status == status, "\(method) \(target)")
                }
            }
        }
    }

    @Test func `R-806: a page that leads its own name to this machine reads nothing`() async throws {
        try await withLiveWorld { world in
            try await world.withServer({ $0.admin.addresses = [.loopback(port: 0)] }) { (server: Server) async throws in
                for host in ["evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example"] {
                    #expect(try await world.ask(server, "/metrics", host: host).status == "403", "\(host)")
                    #expect(try await world.ask(server, "/readyz", host: host).status == "403", "\(host)")
                }
                for host in ["127.0.0.1", "LOCALHOST:9464", "[::1]", "[::1]:9464", "10.0.0.1:1"] {
                    #expect(try await world.ask(server, "/metrics", host: host).status == "200", "\(host)")
                }
            }
        }
    }

    @Test func `R-806: two servers never share an admin address`() async throws {
        try await withLiveWorld { world in
            try await world.withServer({ $0.admin.addresses = [.loopback(port: 0)] }) { (server: Server) async throws in
                var configuration = world.configuration
                configuration.admin.addresses = server.adminAddresses
                do throws(ServerError) {
                    let second = try await Server.start(configuration)
                    await second.stop(patience: .zero)
                    Issue.record("the address is shared")
                } catch {
                    #expect(error.code == .cannotListen)
                }
                #expect(try await world.ask(server, "/readyz").status == "200")
            }
        }
    }

    @Test func `R-807: beyond loopback, metrics want TLS and the token, and load balancers only TLS`() async throws {
        try await withLiveWorld { world in
            let file = try world.writeToken()
            try await world.withServer({
                listenEverywhere(&$0)
                $0.admin.tokenFile = file
            }) { (server: Server) async throws in
                let bearer = "Authorization: Bearer \(LiveWorld.token)\r\n"
                // In the clear it is no TLS.
                #expect(try await !world.ask(server, "/metrics", fields: bearer).text.contains("HTTP/"))
                for (fields, status) in [
                    (bearer, "200"), ("authorization: bearer  \(LiveWorld.token)\r\n", "200"), ("", "401"),
                    ("Authorization: Bearer \(LiveWorld.token)x\r\n", "401"),
                    ("Authorization: Bearer \(LiveWorld.token.dropLast())\r\n", "401"),
                    ("Authorization: Basic \(LiveWorld.token)\r\n", "401"), ("Authorization: Bearer\r\n", "401"),
                    (bearer + bearer, "401"),
                ] {
                    let answer = try await world.ask(server, "/metrics", fields: fields, tls: world.tls)
                    #expect(answer.status == status, "\(fields)")
                    #expect(answer.text.contains("WWW-Authenticate: Bearer") == (status == "401"))
                    #expect(answer.text.contains("tidemark_") == (status == "200"))
                }
                #expect(try await world.ask(server, "/readyz", tls: world.tls).status == "200")
                #expect(try await world.ask(server, "/healthz", tls: world.tls).status == "200")

                // SIGHUP reads the file again.
                _ = try world.writeToken("another-0123456789")
                try server.reloadCertificates()
                #expect(try await world.ask(server, "/metrics", fields: bearer, tls: world.tls).status == "401")
                let new = "Authorization: Bearer another-0123456789\r\n"
                #expect(try await world.ask(server, "/metrics", fields: new, tls: world.tls).status == "200")
                // One that cannot be used leaves the last one.
                _ = try world.writeToken("short")
                #expect(throws: ServerError.self) { try server.reloadCertificates() }
                #expect(try await world.ask(server, "/metrics", fields: new, tls: world.tls).status == "200")
            }
        }
    }

    @Test func `R-807: a token that is given is asked for on loopback too`() async throws {
        try await withLiveWorld { world in
            let file = try world.writeToken()
            try await world.withServer({
                $0.admin.addresses = [.loopback(port: 0)]
                $0.admin.tokenFile = file
            }) { (server: Server) async throws in
                #expect(try await world.ask(server, "/metrics").status == "401")
                let bearer = "Authorization: Bearer \(LiveWorld.token)\r\n"
                #expect(try await world.ask(server, "/metrics", fields: bearer).status == "200")
                #expect(try await world.ask(server, "/readyz").status == "200")
            }
        }
    }

    @Test func `R-807: with an authority of clients, whoever has no certificate of it hears nothing`() async throws {
        try await withLiveWorld { world in
            let now = Int64(time(nil))
            let operators = try CertificateAuthority(commonName: "Operators", now: now)
            let strangers = try CertificateAuthority(commonName: "Strangers", now: now)
            let file = try world.write(operators.identity.certificatePEM, to: "operators.pem")
            try await world.withServer({
                listenEverywhere(&$0)
                $0.admin.clientAuthorityFile = file
            }) { (server: Server) async throws in
                let friend = try world.client(of: operators)
                for target in ["/metrics", "/readyz"] {
                    #expect(try await world.ask(server, target, tls: friend).status == "200")
                    for tls in [world.tls, try world.client(of: strangers)] {
                        #expect(try await world.ask(server, target, tls: tls).text.isEmpty)
                    }
                }
                // Devices need none.
                _ = try await world.enter(server: server)
            }
        }
    }

    /// A configuration that listens for operators at every address.
    private func exposed(
        _ world: LiveWorld, _ change: (inout ServerConfiguration) -> Void = { _ in }
    ) -> ServerConfiguration {
        var configuration = world.configuration
        listenEverywhere(&configuration)
        change(&configuration)
        return configuration
    }

    /// Why a server does not start; nil if it does.
    private static func refusal(_ configuration: ServerConfiguration) async -> ServerError? {
        do throws(ServerError) {
            try await Server.start(configuration).stop(patience: .zero)
            return nil
        } catch {
            return error
        }
    }

    @Test func `R-807: beyond loopback, a server without TLS, or without token and certificates, does not start`()
        async throws
    {
        try await withLiveWorld { world in
            let token = try world.writeToken()
            let open = try #require(await Self.refusal(exposed(world)))
            #expect(open.code == .adminUnprotected && open.description.contains("--admin-token-file"))
            let plain = await Self.refusal(
                exposed(world) {
                    $0.certificate = nil
                    $0.admin.tokenFile = token
                })
            #expect(plain?.code == .adminUnprotected)
            for text in ["", "short\n", "with spaces in its middle", "0123456789abcdef\u{e9}"] {
                let bad = try world.write(text, to: "bad")
                #expect(
                    await Self.refusal(
                        exposed(world) { $0.admin.tokenFile = bad })?.code == .adminTokenUnusable, "\(text)")
            }
            #expect(
                await Self.refusal(
                    exposed(world) { $0.admin.tokenFile = "/nowhere" })?.code == .adminTokenUnusable)
            #expect(
                await Self.refusal(
                    exposed(world) { $0.admin.clientAuthorityFile = token })?.code == .certificateUnusable)
        }
    }

    @Test func `R-808: a server that is to stop is not ready at once, and serves on`() async throws {
        try await withLiveWorld { world in
            try await world.withServer({ $0.admin.addresses = [.loopback(port: 0)] }) { (server: Server) async throws in
                let client = try await world.enter(server: server)
                #expect(try await world.ask(server, "/readyz").status == "200")
                server.beginDraining()
                let answer = try await world.ask(server, "/readyz")
                #expect(answer.status == "503" && answer.text.hasSuffix("\r\n\r\nthe server stops\n"))
                #expect(try await world.ask(server, "/healthz").status == "200")
                try await client.makeZone("notes")
                let late = try await world.enter(device: 2, server: server)
                try await late.save(["a"], in: "notes")
                #expect(try await client.names(in: "notes") == ["a"])
            }
        }
    }

    @Test func `R-804, R-808: 32 connections that ask for nothing shut out no load balancer`() async throws {
        try await withLiveWorld { world in
            try await world.withServer({ $0.admin.addresses = [.loopback(port: 0)] }) { server in
                let address = try #require(server.adminAddresses.first)
                let request = Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
                var idle: [RawPeer] = []
                for _ in 0..<32 {
                    let peer = try await RawPeer.connect(
                        to: .loopback(port: address.port), on: world.loop, tls: nil, .none, sending: request)
                    await peer.receive { $0.suffix(3) == Array("ok\n".utf8)[...] }
                    idle.append(peer)
                }
                #expect(try await world.ask(server, "/readyz").status == "200")
                await idle[0].receiveAll()
                for peer in idle { await peer.close() }
            }
        }
    }

    @Test func `R-808: a server is not ready without its tables, or without its store, and newer tables do no harm`()
        async throws
    {
        try await withLiveWorld { world in
            let change = { (configuration: inout ServerConfiguration) in
                configuration.admin.addresses = [.loopback(port: 0)]
                configuration.admin.tablesInterval = .milliseconds(20)
            }
            try await world.withServer(change) { (server: Server) async throws in
                func becomes(_ text: String) async throws {
                    try await eventually { try await world.ask(server, "/readyz").text.hasSuffix("\r\n\r\n\(text)\n") }
                }
                func execute(_ statement: String) throws {
                    try PostgresAdministration.execute([statement], url: world.database.url)
                }
                try execute(
                    "INSERT INTO schema_migration (number, name, checksum) SELECT max(number) + 1, 'newer', 'x' FROM schema_migration"
                )
                #expect(try await world.storage.hasMigrations())
                try execute("UPDATE schema_migration SET checksum = 'x' || checksum WHERE number = 1")
                #expect(try await !world.storage.hasMigrations())
                try await becomes("the database does not have this version's tables")
                try execute("UPDATE schema_migration SET checksum = substr(checksum, 2) WHERE number = 1")
                try await becomes("ready")
                try PostgresAdministration.execute(
                    ["DROP DATABASE \(world.database.name) WITH (FORCE)"],
                    url: TestPostgres.shared.databaseURL("postgres"))
                try await becomes("the store does not answer")
                #expect(try await world.ask(server, "/metrics").status == "200")
            }
        }
    }
}
