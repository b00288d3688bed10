// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// Programs whose source nobody may touch, and that find their server by a file.
@Suite struct ConfigurationTests {
    private func place(_ object: [String: Any], in directory: String) throws {
        let data = try JSONSerialization.data(withJSONObject: object)
        try data.write(to: URL(fileURLWithPath: "\(directory)/tidemark.json"))
    }

    private func settings(_ site: Site) -> [String: Any] {
        ["url": site.url, "ca": site.authorityFile, "container": site.container, "token": site.tokens["alice"] ?? ""]
    }

    /// Syncs a folder once.
    private func sync(
        _ folder: String, in directory: String, program: String? = nil, environment: [String: String] = [:]
    ) async throws -> (status: Int32, output: String) {
        try FileManager.default.createDirectory(
            atPath: "\(directory)/\(folder)", withIntermediateDirectories: true)
        return try await Program.run(
            "foldersync", ["\(directory)/\(folder)", "--zone", "Files", "--device", folder, "--once"],
            environment: environment, directory: directory, path: program, workingDirectory: directory)
    }

    @Test func `R-002: a program is configured by tidemark.json in the working directory, or beside it`() async throws {
        let site = try await DevServer.shared()
        let (one, two) = (try TestDirectory(), try TestDirectory())
        defer {
            one.remove()
            two.remove()
        }
        try place(settings(site), in: one.path)
        try FileManager.default.createDirectory(atPath: "\(one.path)/a", withIntermediateDirectories: true)
        try Data("hello".utf8).write(to: URL(fileURLWithPath: "\(one.path)/a/note.txt"))
        let sent = try await sync("a", in: one.path)
        #expect(sent.status == 0, "\(sent.output)")

        // The program's own directory counts more than the one that it is started in.
        try FileManager.default.createDirectory(atPath: "\(two.path)/bin", withIntermediateDirectories: true)
        let program = "\(two.path)/bin/foldersync"
        // Not by this process: another test may start a program meanwhile, which has the copy open and keeps it from running.
        let copied = try await Program.run(
            "cp", ["\(Program.directory)/foldersync", program], directory: two.path, path: "/bin/cp")
        #expect(copied.status == 0, "\(copied.output)")
        try place(settings(site), in: "\(two.path)/bin")
        try place(["url": "wss://127.0.0.1:1", "token": "none"], in: two.path)
        let received = try await sync("b", in: two.path, program: program)
        #expect(received.status == 0, "\(received.output)")
        let text = FileManager.default.contents(atPath: "\(two.path)/b/note.txt")
        #expect(text.map { String(decoding: $0, as: UTF8.self) } == "hello")

        // The environment counts more than any file.
        let nobody = try await sync(
            "b", in: two.path, program: program, environment: ["TIDEMARK_TOKEN": "tm_nobody"])
        #expect(nobody.status != 0)
    }

    @Test func `R-002: a mistake in the file is told where the program tells its errors`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try place(["ulr": "wss://127.0.0.1:1"], in: directory.path)
        let result = try await sync("a", in: directory.path)
        #expect(result.status != 0)
        #expect(result.output.contains("the key ulr is not known"), "\(result.output)")
    }
}
