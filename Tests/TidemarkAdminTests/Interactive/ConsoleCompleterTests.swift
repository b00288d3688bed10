// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing

@testable import TidemarkAdmin

/// What pressing Tab puts in, with names that stand still.
@Suite struct ConsoleCompleterTests {
    /// Each kind has two names, so that one letter decides.
    private static func names(_ kind: LiveName, _ expectation: CompletionExpectation, _ prefix: String) -> [String] {
        switch kind {
        case .accounts: ["alice", "bob"]
        case .containers: ["iCloud.a", "iCloud.b"]
        case .contexts: ["dev", "home"]
        case .databases: ["public", "alice"]
        case .zones: expectation.account == "alice" ? ["My Notes", "Lists"] : []
        }
    }

    private static func completion(_ text: String) -> ConsoleCompletion {
        ConsoleCompleter.completion(of: text, names)
    }

    @Test(
        arguments: [
            ("acc", "ounts "), ("zones sh", "ow "), ("zones list al", "ice "), ("zones show alice L", "ists "),
            ("zones show alice M", #"y\ Notes "#), ("zones show alice 'M", "y Notes' "),
            ("records list alice L", "ists "), ("tail pu", "blic "), ("tail alice --zone L", "ists "),
            ("zones list alice --conta", "iner "), ("zones list alice --container iCloud.a", " "),
            ("zones list alice --container iCl", "oud."), ("zones list alice --container=iCloud.b", " "),
            ("zones list alice --container x --environment pro", "duction "), ("accounts list -o ya", "ml "),
            ("accounts list --output ya", "ml "), ("use iCl", "oud."), ("use iCloud.a pro", "duction "),
            ("context h", "ome "), ("context select h", "ome "), ("help zon", "es "), ("help zones sh", "ow "),
            (".out", "put "), (".output js", "on "), (".timer of", "f "), ("tidemark admin acc", "ounts "),
            ("zones list nob", ""), ("zones show bob L", ""), ("nonsense al", ""), ("use iCloud.a production x", ""),
        ])
    func `R-902: a word is completed as far as it is certain`(_ text: String, _ insertion: String) {
        #expect(Self.completion(text).insertion == insertion)
    }

    @Test(arguments: [
        ("zones list ", ["alice", "bob"]), ("tail ", ["alice", "public"]), ("use iCloud.", ["iCloud.a", "iCloud.b"]),
    ])
    func `R-902: what may be meant is shown if nothing is certain`(_ text: String, _ choices: [String]) {
        #expect(Self.completion(text).choices == choices)
        #expect(Self.completion(text).insertion.isEmpty)
    }

    @Test func `R-902: an empty line has all nouns, and the words of the console`() {
        let choices = Self.completion("").choices
        for name in ["accounts", "zones", "tail", "use", "exit", ".timer", "help"] { #expect(choices.contains(name)) }
        #expect(!Self.completion("zones ").choices.isEmpty)
    }

    /// An argument whose names are in the store must be completed in the console and by shells.
    @Test func `R-902: each argument that names something is completed with live names`() throws {
        let help = try JSONSerialization.jsonObject(with: Data(Admin._dumpHelp().utf8))
        let root = try #require((help as? [String: Any])?["command"] as? [String: Any])
        var seen = 0
        func check(_ command: [String: Any], _ path: [String]) {
            for argument in command["arguments"] as? [[String: Any]] ?? [] {
                let name = argument["valueName"] as? String ?? ""
                let isNew = path.last == "create" || path.last == "add"
                guard ["account", "database", "zone", "identifier"].contains(name), !isNew, path.first != "help"
                else { continue }
                // `subscriptions` has a database that is one of three words.
                if argument["allValues"] is [Any] { continue }
                seen += 1
                let kind = argument["completionKind"] as? [String: Any]
                #expect(kind?.keys.contains("custom") == true, "\(path.joined(separator: " ")): \(name)")
            }
            for next in command["subcommands"] as? [[String: Any]] ?? [] {
                check(next, path + [next["commandName"] as? String ?? ""])
            }
        }
        check(root, [])
        #expect(seen > 60)
    }
}
