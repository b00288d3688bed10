// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Glibc
internal import TidemarkSockets
internal import TidemarkTLS
internal import TidemarkTransport

/// A WebSocket server for conformance suites and benchmarks, on the transport of `tidemark`.
@main
struct TidemarkEcho: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark-echo",
        abstract: "WebSocket echo on Tidemark's transport, for conformance suites and benchmarks.",
        discussion: """
            / and /echo send every message back; what is published at /pub goes to everybody at /sub; /healthz answers \
            200; anything else is answered as the server answers HTTP.
            """)

    @Option(help: "The port; 0 for any free one.")
    var port: UInt16 = 0

    @Option(help: "The address to listen on, in digits.")
    var host = "127.0.0.1"

    @Flag(help: "Serve without TLS; on loopback only.")
    var plain = false

    @Option(help: "PEM file with the certificate and its intermediates.")
    var certificate: String?

    @Option(help: "PEM file with the certificate's private key.")
    var privateKey: String?

    @Option(help: "File to write the port to, as JSON, once connections are accepted.")
    var readyFile: String?

    @Option(help: "Threads that serve.")
    var loops = 1

    @Option(help: "Run as a client against Autobahn's fuzzing server at this URL (ws://HOST:PORT) instead.")
    var autobahnClient: String?

    @Option(help: "The name under which that server reports.")
    var agent = "tidemark"

    func validate() throws {
        guard autobahnClient == nil else { return }
        guard (1...64).contains(loops) else { throw ValidationError("--loops is 1 to 64.") }
        guard let address = SocketAddress(numericHost: host, port: port) else {
            throw ValidationError("--host is an address in digits.")
        }
        if plain, !address.isLoopback { throw ValidationError("--plain is for loopback addresses only.") }
        if !plain, certificate == nil || privateKey == nil {
            throw ValidationError("Give --certificate and --private-key, or --plain.")
        }
    }

    func run() async throws {
        Self.raiseDescriptorLimit()
        if let autobahnClient {
            try await AutobahnClient(url: autobahnClient, agent: agent).run()
        } else {
            try await serve()
        }
    }

    private func serve() async throws {
        var tls: TLSContext?
        if !plain, let certificate, let privateKey {
            tls = try TLSContext(server: .init(certificateFile: certificate, privateKeyFile: privateKey))
        }
        guard let address = SocketAddress(numericHost: host, port: port) else { return }
        let loops = try (0..<loops).map { try EventLoop(name: "echo-\($0)") }
        let service = EchoService(loops: loops)
        let server = try await TransportServer.start(
            on: loops, .init(addresses: [address], tls: tls, limits: EchoService.limits)
        ) { head, _ in service.decide(head) }
        let port = server.localAddresses[0].port
        print("listening on \(server.localAddresses[0])")
        fflush(nil)
        if let readyFile { try ReadyFile.write(port: port, to: readyFile) }
        // Until a signal ends the process.
        while true { try await Task.sleep(for: .seconds(3600)) }
    }

    /// Thousands of connections need thousands of descriptors; the usual soft limit is 1024.
    private static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
