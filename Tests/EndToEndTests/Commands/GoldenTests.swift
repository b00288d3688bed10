// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing
import TidemarkAdmin
import TidemarkDomain
import TidemarkTestSupport

/// What each command of `tidemark admin` says, compared with the files in `Commands/Golden`.
@Suite struct GoldenTests {
    private static let isRecording = ProcessInfo.processInfo.environment["TIDEMARK_RECORD_GOLDEN"] == "1"
    private static let advice =
        "TIDEMARK_RECORD_GOLDEN=1 swift test -c release --filter GoldenTests writes it. Read it before you commit it"

    /// The commands of the tree, without the nouns.
    private static func leaves(
        _ type: any ParsableCommand.Type = Admin.self, _ path: [String] = []
    ) -> [(path: String, type: any ParsableCommand.Type)] {
        guard !type.configuration.subcommands.isEmpty else { return [(path.joined(separator: " "), type)] }
        return type.configuration.subcommands.flatMap { leaves($0, path + [$0._commandName]) }
    }

    /// Those that a server runs too.
    private static var commands: [(path: String, type: any AdminCommand.Type)] {
        leaves().compactMap { path, type in (type as? any AdminCommand.Type).map { (path, $0) } }
    }

    @Test func `R-834: each command of the tree has golden lines, with a table and with JSON`() throws {
        let (paths, golden) = (Self.leaves().map(\.path), GoldenCommand.all)
        #expect(paths.count > 80)
        for path in paths { #expect(golden.contains { $0.path == path }, "\(path) is not in GoldenCommand.all") }
        for command in golden {
            #expect(paths.contains(command.path), "there is no command \(command.path)")
            #expect(golden.count { $0.path == command.path } == 1, "\(command.path)")
            let json = command.lines.count { $0.hasSuffix("-o json") }
            #expect(json > 0 && json < command.lines.count, "\(command.path) is not run in both forms")
            // Otherwise two blocks of a file have one head.
            #expect(Set(command.lines).count == command.lines.count || command.changes, "\(command.path)")
            for line in command.lines {
                let words = GoldenRun.words(of: "\(command.path) \(line)", directory: "/nowhere")
                #expect(throws: Never.self, "\(words)") { try Admin.parseAsRoot(words) }
            }
        }
        #expect(try GoldenFiles.unknown(golden) == [], "no command has these files: remove them")
    }

    /// The lines after it show that it has changed nothing: they say the same as before there was one.
    @Test func `R-839: each command that changes something is run with --dry-run first`() throws {
        let golden = GoldenCommand.all
        // One changes nothing, and stands behind the backup that it looks at. The other one wants an empty database.
        let exceptions = ["backup verify", "backup restore"]
        for command in golden where command.changes && !exceptions.contains(command.path) {
            #expect(command.lines.contains { $0.contains("--dry-run") }, "\(command.path)")
        }
        for (path, type) in Self.commands where type.role > .viewer {
            #expect(
                golden.contains { $0.path == path && $0.changes }, "\(path) changes something, and is none of these")
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `R-830, R-833, R-883: each command says what its file has, over the database and over a server`() async throws
    {
        let local = Set(Self.leaves().map(\.path)).subtracting(Self.commands.map(\.path))
        try await GoldenPlace.with { place in
            // Nothing is changed yet.
            let programs = try await runPrograms(place)
            // Two databases that are alike, so that both runs change the same.
            async let direct = place.blocks(.database)
            async let served = place.blocks(.server, without: local)
            let (overDatabase, overServer) = try await (direct, served)
            for command in GoldenCommand.all {
                let blocks = merged(command, overDatabase[command.path] ?? [], overServer[command.path] ?? [])
                if Self.isRecording {
                    try GoldenFiles.record(blocks, of: command)
                } else {
                    compare(blocks, of: command)
                }
            }
            try compare(programs, with: overDatabase.values.flatMap(\.self))
        }
    }

    /// Where the server says something else, its block follows that of the database.
    private func merged(
        _ command: GoldenCommand, _ direct: [GoldenBlock], _ served: [GoldenBlock]
    ) -> [String] {
        guard !served.isEmpty else { return direct.map(\.text) }
        #expect(served.map(\.title) == direct.map(\.title), "\(command.path)")
        let isDifferent = zip(direct, served).contains { $0 != $1 }
        #expect(
            isDifferent == (command.difference != nil),
            "\(command.path) says \(isDifferent ? "something else" : "the same") over a server")
        return zip(direct, served).flatMap { direct, served in
            guard direct != served else { return [direct.text] }
            if command.difference == nil { #expect(direct.text == served.text) }
            let head = served.text.replacing("\nstatus ", with: " (over a server)\nstatus ", maxReplacements: 1)
            return [direct.text, head]
        }
    }

    private func compare(_ blocks: [String], of command: GoldenCommand) {
        guard let golden = GoldenFiles.blocks(of: command) else {
            Issue.record("Commands/Golden/\(command.fileName) is missing. \(Self.advice)")
            return
        }
        #expect(blocks.count == golden.count, "\(command.fileName) has other lines than the command. \(Self.advice)")
        for (block, golden) in zip(blocks, golden) {
            #expect(block == golden, "\(command.fileName) has something else. If that is right: \(Self.advice)")
        }
    }

    // MARK: The program

    /// These lines run as processes too. They only look, and are in no audit.
    private static let programLines = [
        "accounts list", "accounts list -o json", "records get alice Notes none", "zones show alice Nowhere",
    ]

    private func runPrograms(_ place: GoldenPlace) async throws -> [String: [GoldenPlace.Ended]] {
        var ended: [String: [GoldenPlace.Ended]] = [:]
        for line in Self.programLines {
            for way in GoldenPlace.Way.allCases {
                ended[line, default: []].append(try await place.runProgram(line, way))
            }
        }
        return ended
    }

    private func compare(_ programs: [String: [GoldenPlace.Ended]], with blocks: [GoldenBlock]) throws {
        for (line, ends) in programs {
            let block = try #require(blocks.first { $0.title == line }, "no golden command has the line \(line)")
            for end in ends { #expect(end.status == block.status && end.output == block.bothTexts, "\(line)") }
        }
    }
}
