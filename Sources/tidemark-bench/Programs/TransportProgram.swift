// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkTLS

/// A server that runs on the servers' core.
struct TransportProgram {
    private let child: ChildProgram
    let port: UInt16

    var id: Int32 { child.id }

    /// `tidemark-echo`: our transport, without a store.
    static func echo(_ bench: Bench) throws -> TransportProgram {
        try TransportProgram(
            bench, "tidemark-echo",
            [
                "--port", "0", "--certificate", bench.certificates.certificateFile, "--private-key",
                bench.certificates.privateKeyFile,
            ], marker: "listening on ")
    }

    /// The same service in C, with as little work as possible.
    static func reference(_ bench: Bench) throws -> TransportProgram {
        try TransportProgram(
            bench, Yardstick.program,
            [
                "server", "--port", "0", "--certificate", bench.certificates.certificateFile, "--private-key",
                bench.certificates.privateKeyFile,
            ], marker: "listening on ")
    }

    /// `tidemark serve` on the benchmark's database.
    ///
    /// - Parameters:
    ///   - core: nil: any.
    ///   - options: further ones of `serve`.
    static func tidemark(_ bench: Bench, core: Int? = nil, options: [String] = []) throws -> TransportProgram {
        try TransportProgram(
            bench, "tidemark",
            [
                "serve", "--listen", "127.0.0.1:0", "--database-url", try bench.database().url, "--certificate",
                bench.certificates.certificateFile, "--private-key", bench.certificates.privateKeyFile,
                "--asset-directory", "\(bench.filesDirectory)/assets",
            ] + options, marker: "serving address=", core: core)
    }

    private init(
        _ bench: Bench, _ program: String, _ arguments: [String], marker: String, core: Int? = Bench.serverCore
    ) throws {
        // Two servers may run at once.
        let log = "\(bench.directory)/\(program)-server-\(UUID().uuidString).log"
        child = try ChildProgram(program, arguments, core: core, log: log)
        do {
            port = try child.port(after: marker)
        } catch {
            child.stop()
            throw error
        }
    }

    func stop() {
        child.stop()
    }
}
