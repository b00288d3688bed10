// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkPostgres
import TidemarkTestSupport

/// Tab in real shells. Where zsh or fish is not installed, its test says that it was skipped.
@Suite struct CompletionTests {
    enum Shell: String, CaseIterable {
        case bash, zsh, fish

        var path: String { "/usr/bin/\(rawValue)" }
        var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }

        var command: String {
            switch self {
            case .bash: "exec bash --norc --noprofile -i"
            case .zsh: "exec zsh -f -i"
            case .fish: "exec fish --no-config -i"
            }
        }

        /// What makes the shell read the completions in `directory`.
        func start(_ directory: String) -> String {
            switch self {
            case .bash: "source '\(directory)/tidemark'"
            case .zsh: "fpath=('\(directory)' $fpath); autoload -U compinit; compinit -u -D"
            case .fish: "source '\(directory)/tidemark.fish'"
            }
        }

        /// Under `share`, where `deploy/shell` puts it.
        var folder: String {
            switch self {
            case .bash: "bash-completion/completions"
            case .zsh: "zsh/site-functions"
            case .fish: "fish/vendor_completions.d"
            }
        }
    }

    private func with(_ body: (TestDirectory, TestDatabase) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let database = try await TestPostgres.database(OperatorPlace.template)
        try PostgresAdministration.execute(
            ["INSERT INTO account (name) VALUES ('alice'), ('bob')"], url: database.url)
        try await body(directory, database)
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").path

    private func install(_ directory: TestDirectory) async throws {
        let ended = try await Program.run(
            "tidemark", ["\(Self.root)/deploy/setup", "--shell", "\(Program.directory)/tidemark", directory.path],
            directory: directory.path, path: "/bin/sh")
        #expect(ended.status == 0, "\(ended.output)")
    }

    @Test func `R-902, R-904, bash: Tab completes names of the store`() async throws { try await check(.bash) }

    @Test(.enabled(if: Shell.zsh.isInstalled, "zsh is not installed: deploy/setup zsh"))
    func `R-902, R-904, zsh: Tab completes names of the store`() async throws { try await check(.zsh) }

    @Test(.enabled(if: Shell.fish.isInstalled, "fish is not installed: deploy/setup fish"))
    func `R-902, R-904, fish: Tab completes names of the store`() async throws { try await check(.fish) }

    private func check(_ shell: Shell) async throws {
        try await with { directory, database in
            try await complete("bo", of: shell, in: directory, ["TIDEMARK_DATABASE_URL": database.url]) {
                $0.hasSuffix("bob\r\n")
            }
        }
    }

    /// Presses Tab after a part of an account's name until a command with the whole of it has been carried out.
    private func complete(
        _ prefix: String, of shell: Shell, in directory: TestDirectory, _ environment: [String: String],
        _ isDone: (String) -> Bool
    ) async throws {
        try await install(directory)
        let terminal = try TerminalProgram(shell.command, environment: environment, directory: directory.path)
        try terminal.type("\(shell.start("\(directory.path)/share/\(shell.folder)")); printf 're%s\\n' ady\n")
        try await terminal.see("ready\r\n")
        // A name that is told too late is not there. Somebody who types would press Tab again.
        for _ in 0..<20 {
            try terminal.type("tidemark admin acc\t show \(prefix)\t -o name; printf 'e%s\\n' nd\n")
            if isDone(try await terminal.see("end\r\n")) {
                try terminal.type("exit\n")
                #expect(try await terminal.exit() == 0)
                return
            }
        }
        Issue.record("nothing was completed: \(terminal.screen)")
    }

    @Test(arguments: Shell.allCases.filter(\.isInstalled))
    func `R-902: over a server, Tab completes names of its database for a viewer, and the audit has none of it`(
        _ shell: Shell
    ) async throws {
        try await OperatorPlace.with(["--operators-listen", "127.0.0.1:0"], isEncrypted: true) { place in
            _ = try await OperatorSeat.take(place, "vera", role: "viewer")
            let before = try await place.admin("audit", "list", "-o", "json").output
            // The context is the only way to a database.
            try await complete("al", of: shell, in: place.directory, ["TIDEMARK_CONTEXT": "vera"]) {
                $0.hasSuffix("alice\r\n")
            }
            #expect(try await place.admin("audit", "list", "-o", "json").output == before)
        }
    }

    @Test func `R-902: over a server, Tab completes names in the console`() async throws {
        try await OperatorPlace.with(["--operators-listen", "127.0.0.1:0"], isEncrypted: true) { place in
            _ = try await OperatorSeat.take(place, "vera", role: "viewer")
            let console = try TerminalProgram(
                "exec '\(Program.directory)/tidemark' admin console --context vera", environment: [:],
                directory: place.directory.path)
            try await console.see("> ")
            try console.type("accounts show al")
            try await console.complete("ice ")
            try console.type("-o name\n")
            try await console.see("alice\r\n")
            try console.type("exit\n")
            #expect(try await console.exit() == 0)
        }
    }

    @Test func `R-902: a shell hears nothing of a server that is not there, or does not know the credential`()
        async throws
    {
        try await OperatorPlace.with(["--operators-listen", "127.0.0.1:0"], isEncrypted: true) { place in
            _ = try await OperatorSeat.take(place, "eve", role: "", credential: "tidemark_wrong")
            _ = try await OperatorSeat.take(place, "lea", role: "viewer", port: 1)
            for context in ["eve", "lea"] {
                let ended = try await Program.run(
                    "tidemark",
                    [
                        "---completion", "admin", "accounts", "show", "--", "positional@0", "4", "0", "tidemark",
                        "admin", "accounts", "show", "",
                    ], environment: ["TIDEMARK_CONTEXT": context], directory: place.directory.path)
                #expect(ended.status == 0)
                #expect(ended.output.trimmingCharacters(in: .whitespacesAndNewlines) == "", "\(context)")
            }
        }
    }

    /// What ArgumentParser's script leaves in COMPREPLY. Slow answers are asked for again.
    private static let replies = """
        source share/bash-completion/completions/tidemark
        COMP_WORDS=(tidemark admin accounts show ''); COMP_CWORD=4
        COMP_LINE='tidemark admin accounts show '; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
        for _ in {1..20}; do
            _tidemark tidemark '' show
            [ ${#COMPREPLY[@]} -gt 0 ] && break
        done
        printf '%s\\n' "${COMPREPLY[@]}"
        """

    @Test func `R-902: bash carries out nothing of a name that somebody has chosen`() async throws {
        try await with { directory, database in
            try await install(directory)
            let names = ["$(touch${IFS}harm)", "`touch${IFS}harm`", "it's"]
            try PostgresAdministration.execute(
                ["INSERT INTO account (name) VALUES ('$(touch${IFS}harm)'), ('`touch${IFS}harm`'), ('it''s')"],
                url: database.url)
            let ended = try await Program.run(
                "tidemark", ["-c", Self.replies],
                environment: ["TIDEMARK_DATABASE_URL": database.url, "PATH": "\(Program.directory):/usr/bin:/bin"],
                directory: directory.path, path: "/bin/bash", workingDirectory: directory.path)
            #expect(
                Set(ended.output.split(separator: "\n").map(String.init)) == Set(names + ["alice", "bob"]),
                "\(ended.output)")
            #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/harm"))
        }
    }

    @Test func `R-902: a shell hears nothing of a database that cannot be reached`() async throws {
        try await with { directory, _ in
            let ended = try await Program.run(
                "tidemark",
                [
                    "---completion", "admin", "accounts", "show", "--", "positional@0", "4", "0", "tidemark", "admin",
                    "accounts", "show", "",
                ], environment: ["TIDEMARK_DATABASE_URL": "postgresql://tidemark@127.0.0.1:1/tidemark"],
                directory: directory.path)
            #expect(ended.output.trimmingCharacters(in: .whitespacesAndNewlines) == "")
        }
    }

    private static let archive = """
        {"container":{"container":"iCloud.test.one","environment":"development","user":"_x"}}
        {"zone":{"zone":"Notes","isPerZone":false}}
        {"zone":{"zone":"Drafts","isPerZone":false}}
        {"end":{"zones":2,"records":0,"assets":0,"shares":0,"lacks":{"encryptedValues":0,"assets":0}}}

        """

    /// Zones of alice's private database.
    private func makeZones(_ database: TestDatabase, _ directory: TestDirectory) async throws {
        let path = "\(directory.path)/archive.jsonl"
        try Self.archive.write(toFile: path, atomically: true, encoding: .utf8)
        for words in [["containers", "create", "iCloud.test.one"], ["accounts", "import", "alice", path]] {
            let ended = try await Program.run(
                "tidemark", ["admin"] + words, environment: ["TIDEMARK_DATABASE_URL": database.url],
                directory: directory.path)
            #expect(ended.status == 0, "\(ended.output)")
        }
    }

    @Test func `R-902: a shell gets the names that begin as what is typed`() async throws {
        try await with { directory, database in
            func complete(_ position: Int, _ words: String...) async throws -> [Substring] {
                let words = ["tidemark", "admin"] + words
                let call = ["---completion", "admin", words[2], words[3], "--", "positional@\(position)"]
                let place = ["\(words.count - 1)", "\(words.last?.count ?? 0)"]
                // The database may be slower than Tab waits.
                for _ in 0..<20 {
                    let ended = try await Program.run(
                        "tidemark", call + place + words,
                        environment: ["TIDEMARK_DATABASE_URL": database.url, "TIDEMARK_CONTAINER": "iCloud.test.one"],
                        directory: directory.path)
                    #expect(ended.status == 0)
                    let names = ended.output.split(separator: "\n")
                    if !names.isEmpty { return names }
                }
                return []
            }
            let all = try await complete(0, "accounts", "show", "")
            #expect(all == ["alice", "bob"])
            let some = try await complete(0, "accounts", "show", "b")
            #expect(some == ["bob"])
            try await makeZones(database, directory)
            let containers = try await complete(0, "containers", "show", "")
            #expect(containers == ["iCloud.test.one"])
            // Of the account that is typed, in the container of the place.
            let zones = try await complete(1, "zones", "show", "alice", "N")
            #expect(zones == ["Notes"])
        }
    }
}
