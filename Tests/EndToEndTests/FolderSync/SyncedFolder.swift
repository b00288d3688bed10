// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import foldersync

/// A folder and who keeps it.
final class SyncedFolder {
    let path: String
    let name: String
    let site: Site
    let directory: TestDirectory
    var program: Program?
    var account = "alice"

    init(_ name: String, _ site: Site, _ directory: TestDirectory) throws {
        self.name = name
        self.site = site
        self.directory = directory
        path = "\(directory.path)/\(name)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    private var arguments: [String] { [path, "--zone", "Files", "--device", name] }

    func start() async throws {
        let program = try Program(
            "foldersync", arguments, environment: site.environment(account), directory: directory.path)
        self.program = program
        try await eventually("\(name) watches") {
            guard program.isRunning else { throw NeverHappened(description: program.output) }
            return program.output.contains("watching")
        }
    }

    @discardableResult
    func once() async throws -> String {
        let result = try await Program.run(
            "foldersync", arguments + ["--once"], environment: site.environment(account),
            directory: directory.path)
        #expect(result.status == 0, "\(result.output)")
        return result.output
    }

    /// What the program makes of the folder when it starts, here in this process.
    func open() throws -> (journal: Journal, syncer: Syncer) {
        let tree = try FileTree(root: path)
        let journal = try Journal(directory: tree.stateDirectory, zoneName: "Files")
        let syncer = Syncer(
            tree: tree, journal: journal, zoneName: "Files", deviceName: name, report: TerminalReport(isVerbose: false))
        return (journal, syncer)
    }

    func write(_ text: String, to name: String) throws { try write(Data(text.utf8), to: name) }

    func write(_ data: Data, to name: String) throws {
        let url = URL(fileURLWithPath: "\(path)/\(name)")
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: url)
    }

    /// Whether the server has the file.
    func has(_ name: String) async throws -> Bool {
        try await once()
        return text(name) != nil
    }

    /// Runs it once in a shell, so that the shell can say what it may do and where it writes.
    ///
    /// - Parameter line: "$@" stands for the program and its arguments.
    func once(in line: String, _ more: String...) async throws -> (status: Int32, output: String) {
        try await Program.run(
            "sh", ["-c", line, "sh", "\(Program.directory)/foldersync"] + arguments + ["--once"] + more,
            environment: site.environment(account), directory: directory.path, path: "/bin/sh")
    }

    func delete(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(path)/\(name)") }

    func text(_ name: String) -> String? {
        FileManager.default.contents(atPath: "\(path)/\(name)").map { String(decoding: $0, as: UTF8.self) }
    }

    /// Path → version, as the program itself sees the folder.
    var files: [RelativePath: String] {
        get throws {
            let tree = try FileTree(root: path)
            var files: [RelativePath: String] = [:]
            for path in try tree.files() { files[path] = tree.look(at: path).version ?? "?" }
            return files
        }
    }
}

/// Two that are kept equal by the same account, on the server of all tests.
func withFolders(_ body: (SyncedFolder, SyncedFolder) async throws -> Void) async throws {
    let site = try await DevServer.shared()
    let directory = try TestDirectory()
    defer { directory.remove() }
    let (a, b) = (try SyncedFolder("a", site, directory), try SyncedFolder("b", site, directory))
    try await body(a, b)
    for folder in [a, b] {
        guard let program = folder.program else { continue }
        #expect(try await program.stop() == 0, "\(program.output)")
    }
}

func equal(_ a: SyncedFolder, _ b: SyncedFolder, _ expected: Set<RelativePath>) async throws {
    try await eventually("the folders are equal") {
        let (left, right) = (try a.files, try b.files)
        return left == right && Set(left.keys) == expected
    }
}

/// Ends the programs of these folders and finds nothing that is still to be sent or received, or that is refused.
func expectSettled(_ folders: [SyncedFolder]) async throws {
    for folder in folders {
        let program = try #require(folder.program)
        #expect(try await program.stop() == 0, "\(folder.name): \(program.output)")
    }
    // They may have been ended before they heard how the others took their last changes.
    for folder in folders + folders { try await folder.once() }
    for folder in folders { #expect(try await folder.once() == "", "\(folder.name)") }
    for folder in folders { #expect(try folder.files == folders[0].files, "\(folder.name)") }
}
