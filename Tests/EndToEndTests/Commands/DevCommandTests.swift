// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

/// `tidemark dev`, as a developer uses it.
@Suite struct DevCommandTests {
    @Test func `Ctrl-C stops everything that was started, and a second start finds it again`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let first = try await DevServer.start(in: directory)
        #expect(first.site.url.hasPrefix("wss://127.0.0.1:"))
        #expect(first.site.container == "iCloud.dev.tidemark")
        #expect(first.site.tokens.keys.sorted() == ["alice", "bob"])
        for text in [first.site.url, first.site.authorityFile, "TIDEMARK_TOKEN="] + Array(first.site.tokens.values) {
            #expect(first.program.output.contains(text))
        }
        let admin = try #require(first.program.output.firstMatch(of: /curl http:\/\/127\.0\.0\.1:(\d+)\/metrics/)).1
        let readiness = try await AdminPeer.ask("/readyz", port: try #require(UInt16(admin)))
        #expect(readiness.hasPrefix("HTTP/1.1 200 ") && readiness.hasSuffix("ready\n"))
        for secret in ["credentials.json", "certificates/ca-key.pem", "certificates/server-key.pem"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory.path)/data/\(secret)")
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(secret)")
        }
        let authority = FileManager.default.contents(atPath: first.site.authorityFile)
        #expect(authority != nil)
        let zoneID = CKRecordZone.ID(zoneName: "Kept")
        try await first.site.makeContainer().privateCloudDatabase.save(CKRecordZone(zoneID: zoneID))
        #expect(!postgresProcesses(of: directory).isEmpty)
        #expect(try await first.program.stop() == 0)
        try await eventually("PostgreSQL has ended") { postgresProcesses(of: directory).isEmpty }
        #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/ready.json"))

        let second = try await DevServer.start(in: directory)
        #expect(second.site.tokens == first.site.tokens)
        #expect(FileManager.default.contents(atPath: second.site.authorityFile) == authority)
        #expect(try await second.site.makeContainer().privateCloudDatabase.recordZone(for: zoneID).zoneID == zoneID)
        // Also when it cannot say goodbye.
        try await second.program.killNow()
        try await eventually("PostgreSQL has ended with its parent") { postgresProcesses(of: directory).isEmpty }
    }

    @Test func `a port that is in use is refused, not shared`() async throws {
        try await DevServer.with { server in
            let second = try await Program.run(
                "tidemark",
                ["dev", "--port", "\(server.site.port)", "--data-directory", "\(server.directory.path)/second"],
                directory: server.directory.path)
            #expect(second.status != 0)
            #expect(second.output.contains("Port \(server.site.port) is in use."), "\(second.output)")
        }
    }

    @Test func `the lines that it prints can be typed as they are`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let server = try await DevServer.start(in: directory, dataName: "it's data")
        let lines = server.program.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        /// Types the line that ends so, with `program` in place of what would be built.
        func type(
            _ ending: String, _ program: String, _ arguments: String = "", link: String = ""
        ) async throws -> String {
            let line = try #require(lines.first { $0.hasSuffix(ending) }).replacing(" LINK ", with: " \(link) ")
            let build = try #require(line.range(of: "swift run( -c release foldersync)?", options: .regularExpression))
            let result = try await Program.run(
                "sh", ["-c", line.replacingCharacters(in: build, with: program) + arguments],
                directory: directory.path, path: "/bin/sh", workingDirectory: directory.path)
            #expect(result.status == 0, "\(result.output)")
            return result.output
        }
        try FileManager.default.createDirectory(atPath: "\(directory.path)/a", withIntermediateDirectories: true)
        try Data("content".utf8).write(to: URL(fileURLWithPath: "\(directory.path)/a/file"))
        let foldersync = "\(Program.directory)/foldersync"
        #expect(try await type("foldersync a --zone files", foldersync, " --once").contains("1 sent"))
        #expect(try await type("foldersync b --zone files", foldersync, " --once").contains("1 received"))
        #expect(FileManager.default.contents(atPath: "\(directory.path)/b/file") == Data("content".utf8))
        let link = try await type("foldersync share a --public write", foldersync).split(separator: "\n").joined()
        #expect(link.hasPrefix("https://"))
        let joined = try await type("foldersync accept LINK c", foldersync, " --once", link: link)
        #expect(joined.contains("1 received"))
        #expect(FileManager.default.contents(atPath: "\(directory.path)/c/file") == Data("content".utf8))
        let environment = Set(try await type(" swift run", "env").split(separator: "\n"))
        for (name, value) in server.site.environment() {
            #expect(environment.contains("\(name)=\(value)"))
        }
        try await server.program.stop()
    }

    @Test func `a PostgreSQL that dies is started again, and devices go on`() async throws {
        try await DevServer.with { server in
            let zoneID = CKRecordZone.ID(zoneName: "Notes")
            let (a, b) = (Device(server.site.makeContainer()), Device(server.site.makeContainer()))
            a.makeZone(zoneID)
            a.write("before", to: "n1", in: zoneID)
            try await eventually("b has it") { b.texts == ["n1": "before"] }
            for id in postgresProcesses(of: server.directory) { kill(id, SIGKILL) }
            a.write("after", to: "n1", in: zoneID)
            try await eventually("b has what was saved after the crash") { b.texts == ["n1": "after"] }
            #expect(server.program.output.contains("PostgreSQL runs again."))
        }
    }

    @Test func `a host that is named stands in the URL and in the certificate, and others reach it`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let open = try await DevServer.start(in: directory, hosts: ["127.0.0.2", "device.test"])
        #expect(open.site.url == "wss://127.0.0.2:\(open.site.port)")
        #expect(open.program.output.contains("TIDEMARK_URL=\(open.site.url) "))
        func site(_ host: String) -> Site {
            Site(
                url: "wss://\(host):\(open.site.port)", authorityFile: open.site.authorityFile,
                tokens: open.site.tokens, container: open.site.container)
        }
        for host in ["127.0.0.2", "127.0.0.1", "localhost"] {
            let zone = CKRecordZone(zoneName: host)
            let saved = try await site(host).makeContainer().privateCloudDatabase.save(zone)
            #expect(saved.zoneID == zone.zoneID)
        }
        // It listens there as well, but nobody said that this is its name.
        let error = try await failure {
            try await site("127.0.0.3").makeContainer().privateCloudDatabase.allRecordZones()
        }
        #expect(error.localizedDescription.contains("not trusted"))
        let certificate = try String(contentsOfFile: "\(directory.path)/data/certificates/server.pem", encoding: .utf8)
        let lines = certificate.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        let bytes = try #require(Data(base64Encoded: lines.joined()))
        #expect(bytes.range(of: Data("device.test".utf8)) != nil)
        #expect(try await open.program.stop() == 0)

        let closed = try await DevServer.start(in: directory)
        #expect(closed.site.url == "wss://127.0.0.1:\(closed.site.port)")
        #expect(accepts("127.0.0.1", closed.site.port) && !accepts("127.0.0.2", closed.site.port))
        #expect(try await closed.program.stop() == 0)
    }

    /// Whether somebody listens at this address.
    private func accepts(_ host: String, _ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr(host)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// PostgreSQL's processes whose data is in the directory.
    private func postgresProcesses(of directory: TestDirectory) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        func link(_ path: String) -> String? { try? FileManager.default.destinationOfSymbolicLink(atPath: path) }
        return names.compactMap { name in
            guard let id = pid_t(name), link("/proc/\(name)/exe")?.hasSuffix("postgres") == true,
                link("/proc/\(name)/cwd")?.hasPrefix(directory.path) == true
            else { return nil }
            return id
        }
    }
}
