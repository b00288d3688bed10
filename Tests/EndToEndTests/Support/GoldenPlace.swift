// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkAdmin
import TidemarkServer
import TidemarkTestSupport

/// Two copies of the golden store. Commands reach one directly, and the other over a server.
struct GoldenPlace: Sendable {
    /// How commands reach a store.
    enum Way: CaseIterable, Sendable {
        case database, server
    }

    /// How a process of a line has ended.
    struct Ended: Sendable {
        let status: Int32
        /// Standard output first.
        let output: String
    }

    private let directory: TestDirectory
    private let variables: [Way: [String: String]]

    static func with(_ body: (GoldenPlace) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try GoldenFiles.write(to: directory)
        let (direct, served) = (
            try await TestPostgres.database(GoldenStore.template), try await TestPostgres.database(GoldenStore.template)
        )
        let server = try await OperatorPlace.serve(
            // It notes no devices, so that it is not asked, as nobody is over the database.
            [
                "--plain", "--operators-listen", "127.0.0.1:0", "--master-key-file", "\(directory.path)/master.key",
                "--device-seconds", "0",
            ],
            on: served.url, in: directory
        ).server
        let contexts = "\(directory.path)/contexts"
        let place = GoldenPlace(
            directory: directory,
            variables: [
                .database: [
                    "TIDEMARK_DATABASE_URL": direct.url, "TIDEMARK_CONTAINER": GoldenStore.container,
                    "XDG_CONFIG_HOME": contexts,
                ],
                .server: ["TIDEMARK_CONTEXT": "work", "XDG_CONFIG_HOME": contexts],
            ])
        try await place.addContexts(port: try OperatorSeat.port(of: server))
        try await body(place)
        guard try await server.stop() == 0 else { throw NeverHappened(description: server.output) }
    }

    /// One of a database that nobody asks, and the one of the server.
    private func addContexts(port: Int) async throws {
        try Data((GoldenStore.operatorCredential.text + "\n").utf8).write(
            to: URL(fileURLWithPath: "\(directory.path)/olga.token"))
        let run = run(.database)
        for line in [
            "context add home --database-url postgresql:///notes --container \(GoldenStore.container)",
            "context add work --server ws://127.0.0.1:\(port) --credential-file @olga.token --container "
                + GoldenStore.container,
        ] {
            let block = try await run.block(of: line, title: line)
            guard block.status == 0 else { throw NeverHappened(description: block.text) }
        }
    }

    private func run(_ way: Way, over connection: KeptConnection? = nil) -> GoldenRun {
        GoldenRun(directory: directory, variables: variables[way] ?? [:], connection: connection)
    }

    /// What each command says, by its path.
    ///
    /// - Parameter left: paths of commands that are not run.
    func blocks(_ way: Way, without left: Set<String> = []) async throws -> [String: [GoldenBlock]] {
        let connection = KeptConnection()
        let run = run(way, over: way == .database ? connection : nil)
        var blocks: [String: [GoldenBlock]] = [:]
        do {
            for command in GoldenCommand.all where !left.contains(command.path) {
                blocks[command.path] = try await run.blocks(of: command)
            }
        } catch {
            await connection.close()
            throw error
        }
        await connection.close()
        return blocks
    }

    /// Runs a line as a process of its own.
    func runProgram(_ line: String, _ way: Way) async throws -> Ended {
        let (status, output) = try await Program.run(
            "tidemark", ["admin"] + run(way).words(of: line), environment: variables[way] ?? [:],
            directory: directory.path)
        return Ended(status: status, output: GoldenNormalizer.text(output, directory: directory.path))
    }
}
