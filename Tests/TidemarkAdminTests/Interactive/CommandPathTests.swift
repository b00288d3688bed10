// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import TidemarkAdmin

/// Words that are no command, in each program that has commands.
@Suite struct CommandPathTests {
    private struct Tidemark: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "tidemark", subcommands: [Serve.self, Admin.self, CKTool.self, Hidden.self])
    }

    private struct Serve: ParsableCommand {}

    private struct Hidden: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "hidden", shouldDisplay: false)
    }

    private static func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

    @Test(
        arguments: [
            ("admin devcies list", "There is no command devcies. Did you mean devices?"),
            ("admin devices lsit", "There is no command devices lsit. Did you mean devices list?"),
            ("admni accounts list", "There is no command admni. Did you mean admin?"),
            // The singular, and a plural that is more than one letter away.
            ("admin account list", "There is no command account. Did you mean accounts?"),
            ("admin index list", "There is no command index. Did you mean indexes?"),
            ("admin identity list", "There is no command identity. Did you mean identities?"),
            ("admin stat tables", "There is no command stat. Did you mean stats?"),
            // A word too few, or the wrong way round.
            ("accounts list", "There is no command accounts. Did you mean admin accounts?"),
            ("xray alice", "There is no command xray. Did you mean admin xray?"),
            ("export-schema", "There is no command export-schema. Did you mean cktool export-schema?"),
            ("admin list accounts", "There is no command list. Did you mean accounts list?"),
            ("admin verify", "There is no command verify. Did you mean backup verify or store verify?"),
            ("cktool exprot-schema", "There is no command cktool exprot-schema. Did you mean cktool export-schema?"),
            // Nothing is near.
            ("dance", "There is no command dance. There is: admin, cktool, serve"),
            ("admin dance", "There is no command dance. See what there is: tidemark admin --help"),
            ("admin list", "There is no command list. See what there is: tidemark admin --help"),
            ("admin devices dance", "There is no command devices dance. After devices comes: delete, list, revoke"),
            ("help admin devcies", "There is no command devcies. Did you mean devices?"),
            ("admin devcies --help", "There is no command devcies. Did you mean devices?"),
            ("admin help devices", "Help is an option: tidemark admin --help"),
            ("admin devices help", "Help is an option: tidemark admin devices --help"),
            // One of before.
            (
                "admin credentials issue alice",
                "There is no command credentials issue. Use: tidemark admin credentials create"
            ),
        ])
    func `R-834: a word that is no command names the one that is meant`(_ line: String, _ text: String) {
        #expect(CommandPath.mistake(in: Self.words(line), of: Tidemark.self) == text)
    }

    @Test func `R-834: the same words are said in the console and by cktool, from where they begin`() {
        func mistake(_ line: String, _ root: any ParsableCommand.Type) -> String? {
            CommandPath.mistake(in: Self.words(line), of: root)
        }
        #expect(mistake("devices lsit", Admin.self) == "There is no command devices lsit. Did you mean devices list?")
        #expect(mistake("dance", Admin.self) == "There is no command dance. See what there is: tidemark admin --help")
        #expect(mistake("get-team", CKTool.self) == "There is no command get-team. Did you mean get-teams?")
        #expect(
            mistake("dance", CKTool.self)?.hasPrefix("There is no command dance. There is: create-record, ") == true)
        #expect(mistake("a\u{1B}[2Jb", Admin.self)?.contains("\u{1B}") == false)
    }

    @Test(arguments: [
        "", "serve", "serve more", "admin", "admin devices", "admin devices list devcies", "admin xray alice", "hidden",
        "cktool get-teams", "help", "help admin devices list", "--version", "admin --nonsense devcies",
        "---completion admin devcies", "admin devices -o json lsit", "admin console",
    ])
    func `R-834: what is a command, or begins with an option, is no mistyped one`(_ line: String) {
        #expect(CommandPath.mistake(in: Self.words(line), of: Tidemark.self) == nil)
    }

    @Test(
        arguments: [
            ("admin --context dev accounts list", "Options come after the command: tidemark admin accounts …"),
            ("admin devices -o json list alice", "Options come after the command: tidemark admin devices list …"),
            ("--verbose serve", "Options come after the command: tidemark serve …"),
            ("admin devices list alice -o json", nil), ("admin --context dev", nil),
            ("admin import f --field x list", nil),
            ("dance --x serve", nil), ("", nil),
        ] as [(String, String?)])
    func `R-834: an option that stands before the command is told its place`(_ line: String, _ text: String?) {
        #expect(CommandPath.misplacedOption(in: Self.words(line), of: Tidemark.self) == text)
    }
}
