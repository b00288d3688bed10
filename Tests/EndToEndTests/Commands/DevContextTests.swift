// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
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

    /// A device of alice that fetched once, and one that has written since.
    private func leaveBehind(_ site: Site) async throws {
        let zoneID = CKRecordZone.ID(zoneName: "Notes")
        let laptop = Device(site.makeContainer(), automatically: false)
        laptop.makeZone(zoneID)
        laptop.write("1", to: "a", in: zoneID)
        try await laptop.engine?.sendChanges()
        let container = site.makeContainer()
        let phone = Device(container, automatically: false)
        try await phone.engine?.fetchChanges()
        #expect(phone.texts == ["a": "1"])
        // The app ends. So no push of what follows is acknowledged.
        phone.quit()
        container.signOut()
        for name in ["b", "c", "d"] { laptop.write("2", to: name, in: zoneID) }
        try await laptop.engine?.sendChanges()
    }

    @Test func `R-838, R-854, R-855: a newcomer reads what to type, and which device of alice is behind and why`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let server = try await DevServer.start(in: directory)
        // The program says both commands. There is no manual.
        let commands = server.program.output.matches(of: /tidemark (admin (?:accounts list|xray alice))\n/)
            .map { $0.1.split(separator: " ").map(String.init) }
        #expect(commands == [["admin", "accounts", "list"], ["admin", "xray", "alice"]], "\(server.program.output)")
        try await leaveBehind(server.site)
        let look = try #require(commands.last)
        var screen = ""
        // The finding, why, and what to do.
        var why = ""
        try await eventually("the screen tells of the phone", within: .seconds(60)) {
            screen = try await Program.run("tidemark", look, directory: directory.path).output
            let lines = screen.split(separator: "\n")
            guard let finding = lines.firstIndex(where: { $0.hasSuffix("not-connected") }) else { return false }
            why = lines[finding...].prefix(3).joined(separator: "\n")
            return true
        }
        #expect(why.contains("It is behind by 3 changes") && why.contains("Open the app on the device"), "\(screen)")
        #expect(try await server.program.stop() == 0)
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
