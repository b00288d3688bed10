// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@Suite struct DevCommandTests {
    private struct Ready: Decodable, Equatable {
        struct Account: Decodable, Equatable {
            let name: String
            let token: String
        }
        let url: String
        let ca: String
        let container: String
        let accounts: [Account]
    }

    private func start(in directory: String) async throws -> (CommandRun, Ready) {
        let file = directory + "/ready.json"
        let run = try CommandRun(["dev", "--data-directory", directory + "/data", "--port", "0", "--ready-file", file])
        try await run.wait(for: "the ready file") { run in
            FileManager.default.fileExists(atPath: file) || !run.errors.isEmpty
        }
        let data = try #require(FileManager.default.contents(atPath: file), "\(run.errors)")
        return (run, try JSONDecoder().decode(Ready.self, from: data))
    }

    private func postgres(in directory: String) throws -> Int32 {
        let text = try String(contentsOfFile: directory + "/data/postgres/data/postmaster.pid", encoding: .utf8)
        return try #require(text.split(separator: "\n").first.flatMap { Int32($0) })
    }

    @Test func `dev serves, survives the death of its PostgreSQL, stops on Ctrl-C and starts again as it was`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let (run, ready) = try await start(in: directory.path)
        #expect(ready.url.hasPrefix("wss://127.0.0.1:"))
        #expect(ready.container == "iCloud.dev.tidemark")
        #expect(ready.accounts.map(\.name) == ["alice", "bob"])
        for text in [ready.url, ready.ca, ready.container] + ready.accounts.map(\.token) {
            #expect(run.output.contains(text))
        }
        let authority = FileManager.default.contents(atPath: ready.ca)
        #expect(authority != nil)
        for secret in ["credentials.json", "certificates/ca-key.pem", "certificates/server-key.pem"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.path + "/data/" + secret)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(secret)")
        }

        kill(try postgres(in: directory.path), SIGKILL)
        try await run.wait(for: "PostgreSQL to be started again") { $0.errors.contains("PostgreSQL runs again.") }
        let second = try postgres(in: directory.path)

        run.signal(SIGINT)
        #expect(await run.status() == 0)
        #expect(kill(second, 0) != 0)
        #expect(!FileManager.default.fileExists(atPath: directory.path + "/ready.json"))

        let (again, readyAgain) = try await start(in: directory.path)
        #expect(readyAgain.accounts == ready.accounts)
        #expect(FileManager.default.contents(atPath: readyAgain.ca) == authority)
        again.signal(SIGTERM)
        #expect(await again.status() == 0)
    }

    @Test func `a PostgreSQL does not outlive a dev that is killed`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let (run, _) = try await start(in: directory.path)
        let server = try postgres(in: directory.path)
        run.signal(SIGKILL)
        #expect(await run.status() == -SIGKILL)
        try await run.wait(for: "the end of PostgreSQL") { _ in kill(server, 0) != 0 }
    }
}
