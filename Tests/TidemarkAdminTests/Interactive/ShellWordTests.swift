// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct ShellWordTests {
    private static let names = [
        "alice", "bob@example.org", "iCloud.org.example", "My Notes", "it's", #"a "b""#, #"back\slash"#, "$HOME",
        "$(touch harm)", "`touch harm`", "${IFS}", "~", "*", "{a,b}", "a:b", "#c", "!d", "e;f", "-g", "Größe", "$'\\n'",
    ]

    @Test func `R-902: bash makes each name again, and carries nothing of it out`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.currentDirectoryURL = URL(fileURLWithPath: directory.path)
        // As ArgumentParser's script does it.
        process.arguments = ["-c", #"IFS=$'\n' compgen -W "$1" -- """#, "bash"]
        process.arguments?.append(ShellWord.words(of: Self.names, for: .bash).joined(separator: "\n"))
        let output = Pipe()
        process.standardOutput = output
        try process.start()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(text.split(separator: "\n").map(String.init) == Self.names)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func `R-902: a shell that does not say which it is gets the words of bash`() {
        #expect(ShellWord.words(of: Self.names, for: nil) == ShellWord.words(of: Self.names, for: .bash))
        #expect(ShellWord.words(of: ["alice"], for: nil) == ["alice"])
        #expect(ShellWord.words(of: ["$(x)", "it's"], for: nil) == ["'$(x)'", #"'it'\''s'"#])
    }

    @Test func `R-902: zsh and fish get names as they read them`() {
        #expect(ShellWord.words(of: ["a:b", #"c\d"#, "$(x)"], for: .zsh) == [#"a\:b"#, #"c\\d"#, "$(x)"])
        #expect(ShellWord.words(of: ["a:b", #"c\d"#, "$(x)"], for: .fish) == ["a:b", #"c\d"#, "$(x)"])
    }

    @Test func `R-902: a name that could control a terminal is no word of a shell`() {
        for shell in [CompletionShell.bash, .zsh, .fish, nil] {
            #expect(ShellWord.words(of: ["a\nb", "a\u{1B}[2J", "a\tb", "c"], for: shell) == ["c"])
        }
    }
}
