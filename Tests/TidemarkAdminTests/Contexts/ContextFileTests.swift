// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct ContextFileTests {
    private func with(_ body: (ContextFile, String) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let file = ContextFile(variables: ["XDG_CONFIG_HOME": directory.path])
        try await body(file, "\(directory.path)/tidemark/contexts.json")
    }

    private func context(_ name: String) -> AdminContext {
        AdminContext(
            name: name, target: .database(url: "postgresql://tidemark:geheim@db/tidemark"), container: "iCloud.\(name)",
            environment: .production)
    }

    @Test func `R-837: contexts are kept by name, in a file that its owner alone can read`() async throws {
        try await with { file, path in
            #expect(try file.read() == ContextList())
            for name in ["work", "home", "work"] {
                try file.change { list throws(AdminFailure) in list.set(context(name)) }
            }
            #expect(try file.read().contexts == [context("home"), context("work")])
            let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
            #expect(permissions as? Int == 0o600)
            #expect(try file.change { list throws(AdminFailure) in list.select("home") })
            #expect(try file.read().selected == "home")
            #expect(try !file.change { list throws(AdminFailure) in list.select("none") })
            #expect(try file.change { list throws(AdminFailure) in list.remove("home") })
            #expect(try file.read().selected == nil, "what is removed is not selected")
            let left = try FileManager.default.contentsOfDirectory(atPath: (path as NSString).deletingLastPathComponent)
            #expect(left.sorted() == ["contexts.json", "contexts.json.lock"])
        }
    }

    @Test func `R-837: a file of something else is refused and not overwritten`() async throws {
        try await with { file, path in
            try file.change { list throws(AdminFailure) in list.set(context("home")) }
            try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
            let failure = #expect(throws: AdminFailure.self) {
                try file.change { list throws(AdminFailure) in list.set(context("home")) }
            }
            #expect(failure?.status == .refused && failure?.description.contains(path) == true)
            #expect(FileManager.default.contents(atPath: path) == Data("{}".utf8))
        }
    }

    @Test(
        arguments: [
            (["XDG_CONFIG_HOME": "/x", "HOME": "/h"], "/x/tidemark/contexts.json"),
            (["XDG_CONFIG_HOME": "x", "HOME": "/h"], "/h/.config/tidemark/contexts.json"),
            (["HOME": "/h"], "/h/.config/tidemark/contexts.json"), ([:], nil),
        ] as [([String: String], String?)])
    func `R-837: the file is in the place of the XDG specification`(_ variables: [String: String], _ path: String?) {
        #expect(ContextFile(variables: variables).path == path)
    }

    @Test func `R-837: no command prints a password or a credential`() async throws {
        try await with { file, path in
            let folder = (path as NSString).deletingLastPathComponent as NSString
            let key = "\(folder.deletingLastPathComponent)/token"
            try Data("tidemark_secret\nmore\n".utf8).write(to: URL(fileURLWithPath: key))
            let lines = [
                ["add", "db", "--database-url", "postgresql://tidemark:geheim@db/tidemark?sslmode=require"],
                ["add", "server", "--server", "wss://cloud.test", "--credential-file", key],
                ["show", "db"], ["show", "server"], ["list"], ["list", "-o", "json"], ["show", "-o", "yaml"],
            ]
            for line in lines {
                let parsed = try Admin.parseAsRoot(["context"] + line)
                let command = try #require(parsed as? any ContextCommand)
                let terminal = RecordingTerminal()
                let screen = Screen(output: command.options.output, terminal: terminal)
                try await command.run(screen, file)
                let said = terminal.data + terminal.messages.joined()
                #expect(!said.contains("geheim") && !said.contains("tidemark_secret"), "\(line): \(said)")
                if line == ["show", "db"] {
                    #expect(
                        said.contains("dbname=tidemark host=db password=*** sslmode=require user=tidemark"), "\(said)")
                }
            }
            #expect(
                try file.read()["server"]?.target == .server(url: "wss://cloud.test", credential: "tidemark_secret"))
            #expect(try file.read().selected == "db", "the first one is selected")
        }
    }

    @Test func `R-839: a dry run says whether a context is added or replaced, and whether its file can be read`()
        async throws
    {
        try await with { file, path in
            let home = URL(fileURLWithPath: path).deletingLastPathComponent().deletingLastPathComponent().path
            func add(_ name: String, _ more: String...) async throws -> (TidemarkAdmin.ExitStatus, String?) {
                let terminal = RecordingTerminal()
                let words = ["context", "add", name, "--database-url", "postgresql:///\(name)"] + more
                let command = try #require(try Admin.parseAsRoot(words) as? any ContextCommand)
                let status = await AdminProgram.run(
                    command, terminal: terminal, variables: ["XDG_CONFIG_HOME": home])
                return (status, terminal.messages.last)
            }
            let first = try await add("one", "--dry-run")
            #expect(first == (.ok, "Would add the context one."))
            #expect(try file.read() == ContextList())
            #expect(try await add("one").1 == "Added one. It is selected.")
            let second = try await add("one", "--dry-run")
            #expect(second == (.ok, "Would replace the context one."))
            #expect(try await add("one").1 == "Replaced one. It is selected.")
            try Data("{}".utf8).write(to: URL(fileURLWithPath: path))
            let (planned, plan) = try await add("two", "--dry-run")
            let (done, act) = try await add("two")
            #expect(planned == .refused && done == .refused && plan == act)
        }
    }
}
