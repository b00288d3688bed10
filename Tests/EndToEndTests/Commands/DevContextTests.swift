// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// `tidemark dev` in one terminal, and `tidemark admin` in the next.
@Suite struct DevContextTests {
    private func admin(
        _ directory: TestDirectory, _ arguments: String...
    ) async throws -> (status: Int32, output: String) {
        try await Program.run("tidemark", ["admin"] + arguments, directory: directory.path)
    }

    @Test func `R-838: commands find a running dev without an option, and say how to start one that does not run`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let server = try await DevServer.start(in: directory)
        #expect(server.program.output.contains("The context dev names this server"), "\(server.program.output)")
        let accounts = try await admin(directory, "accounts", "list")
        #expect(accounts.status == 0 && accounts.output.contains("alice"), "\(accounts.output)")
        // The container is the context's, too.
        _ = try await server.site.makeContainer().privateCloudDatabase.allRecordZones()
        let zones = try await admin(directory, "zones", "list", "alice", "-o", "name")
        #expect(zones.output == "_defaultZone\n", "\(zones.output)")
        let permissions = try FileManager.default.attributesOfItem(
            atPath: "\(directory.path)/config/tidemark/contexts.json")[.posixPermissions]
        #expect(permissions as? Int == 0o600)
        #expect(try await server.program.stop() == 0)

        let stopped = try await admin(directory, "accounts", "list")
        #expect(stopped.status == 3, "\(stopped.output)")
        #expect(stopped.output.contains("does not run. Start it: tidemark dev --data-directory "), "\(stopped.output)")
        #expect(stopped.output.contains("\(directory.path)/data"), "\(stopped.output)")
    }

    @Test func `R-838: dev does not take the place of the context that is selected`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let added = try await admin(
            directory, "context", "add", "home", "--database-url", "postgresql://127.0.0.1:1/none")
        #expect(added.status == 0, "\(added.output)")
        let server = try await DevServer.start(in: directory)
        #expect(server.program.output.contains("accounts list --context dev"), "\(server.program.output)")
        let list = try await admin(directory, "context", "list", "-o", "json")
        #expect(list.output.contains(#"{"context":"dev","selected":false"#), "\(list.output)")
        #expect(list.output.contains(#"{"context":"home","selected":true"#), "\(list.output)")
        #expect(try await admin(directory, "accounts", "list", "--context", "dev").status == 0)
        #expect(try await server.program.stop() == 0)
    }
}
