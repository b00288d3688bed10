// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing
import TidemarkDomain

@testable import TidemarkAdmin

/// The tree of commands.
@Suite struct AdminTests {
    private struct Leaf {
        /// Without `tidemark admin`.
        let path: String
        let type: any ParsableCommand.Type

        /// As docs/admin.md has it.
        var roleText: String? {
            if let type = type as? any AdminCommand.Type { return type.role.name }
            return type is any ContextCommand.Type || type is any LocalCommand.Type ? "local" : nil
        }
    }

    private static func leaves(_ type: any ParsableCommand.Type = Admin.self, _ path: [String] = []) -> [Leaf] {
        guard !type.configuration.subcommands.isEmpty else {
            return [Leaf(path: path.joined(separator: " "), type: type)]
        }
        return type.configuration.subcommands.flatMap { leaves($0, path + [$0._commandName]) }
    }

    @Test func `R-834: each command has an example in its help, and a role or no need of one`() {
        let leaves = Self.leaves()
        #expect(leaves.count > 40)
        for leaf in leaves {
            #expect(leaf.roleText != nil, "\(leaf.path)")
            #expect(
                leaf.type.configuration.discussion.contains("  tidemark admin \(leaf.path)")
                    || leaf.type.configuration.discussion.contains("(tidemark admin \(leaf.path)"), "\(leaf.path)")
        }
    }

    /// An example that does not parse misleads.
    @Test func `R-834: the examples are commands`() throws {
        for leaf in Self.leaves() {
            for line in leaf.type.configuration.discussion.split(separator: "\n")
            where line.hasPrefix("  tidemark admin ") {
                let words = Self.words(line.split(separator: " > ")[0].dropFirst("  tidemark admin ".count))
                #expect(throws: Never.self, "\(line)") { try Admin.parseAsRoot(words) }
            }
        }
    }

    /// As a shell splits them: quotation marks keep words together.
    private static func words(_ line: Substring) -> [String] {
        var words = [""]
        var isQuoted = false
        for character in line {
            switch character {
            case "'": isQuoted.toggle()
            case " " where !isQuoted: words.append("")
            default: words[words.count - 1].append(character)
            }
        }
        return words.filter { !$0.isEmpty }
    }

    @Test func `R-834: docs/admin.md has a row for each command, with its role`() throws {
        let document = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/admin.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        for leaf in Self.leaves() {
            #expect(text.contains("| `\(leaf.path)` | \(leaf.roleText ?? "") |"), "\(leaf.path)")
        }
        for status in TidemarkAdmin.ExitStatus.allCases { #expect(text.contains("\n| \(status.rawValue) | ")) }
    }

    @Test(
        arguments: [
            (["admin", "credentials", "issue", "alice"], "tidemark admin credentials create"),
            (["admin", "accounts", "add-address", "a", "b"], "tidemark admin addresses create"),
            (["admin", "records", "query", "Note", "--json"], "-o json"),
            (["admin", "zones", "list", "--account", "alice"], "tidemark admin zones list ACCOUNT"),
            (["admin", "accounts", "list"], nil), (["admin", "import", "public", "f", "--account", "a"], nil),
            (["admin", "xray", "--account", "alice"], "tidemark admin xray ACCOUNT"),
            (["admin", "limits", "show", "--account", "alice", "--nonsense"], nil),
            (["admin", "accounts", "list", "--account", "alice"], nil),
            (["admin", "--context", "dev", "zones", "list"], "Options come after the command"),
            (["admin", "nonsense"], "There is no command nonsense."), (["admin", "--nonsense"], nil),
            (["serve", "--json"], nil), (["admin"], nil), ([], nil),
        ] as [([String], String?)])
    func `R-834: whoever types a spelling of before is told the new one`(_ arguments: [String], _ text: String?) {
        let hint = Admin.hint(for: arguments)
        #expect(text.map { hint?.contains($0) == true } ?? (hint == nil), "\(hint ?? "-")")
    }
}
