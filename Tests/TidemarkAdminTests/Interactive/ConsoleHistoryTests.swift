// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct ConsoleHistoryTests {
    @Test(
        arguments: [
            ("accounts list", true), ("records list alice Notes --container iCloud.a", true),
            ("accounts list --database-url postgresql://db.example/tidemark", true),
            ("accounts list --database-url postgresql://tidemark:pw@db.example/tidemark", false),
            ("accounts list --database-url=postgresql://tidemark:pw@db.example/tidemark", false),
            ("accounts list --database-url 'host=db password=pw'", false),
            ("accounts list --database-url 'host=db PassWord = pw'", false),
            ("tail alice --exec 'curl https://me:pw@example.org'", false),
            ("accounts show tidemark_A1b2C3", false), ("", false), ("  ", false), ("a\nb", false),
            (String(repeating: "x", count: 5_000), false),
        ])
    func `R-901: no line with a credential or a password is kept`(_ line: String, _ isKept: Bool) {
        #expect(ConsoleHistory.mayKeep(line) == isKept)
    }

    @Test func `R-901: only the owner can read the history, and the newest lines are kept`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let history = ConsoleHistory(variables: ["XDG_STATE_HOME": directory.path, "HOME": "/nowhere"])
        let path = try #require(history.path)
        #expect(history.read().isEmpty)
        history.add("accounts list")
        history.add("accounts show tidemark_secret")
        history.add("zones list alice")
        #expect(history.read() == ["accounts list", "zones list alice"])
        #expect(try mode(path) == 0o600)
        // One that others could read is theirs no more.
        #expect(chmod(path, 0o644) == 0)
        let long = String(repeating: "x", count: 500)
        for number in 0..<1_200 { history.add("\(number) \(long)") }
        #expect(try mode(path) == 0o600)
        let lines = history.read()
        #expect(lines.count == ConsoleHistory.linesMax && lines.last == "1199 \(long)")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.split(separator: "\n").count == ConsoleHistory.linesMax, "the file is cut")
        #expect(try mode(path) == 0o600)
    }

    @Test func `R-901: a file with too many lines or bytes is cut, whoever wrote it`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let history = ConsoleHistory(variables: ["XDG_STATE_HOME": directory.path])
        history.add("accounts list")
        let path = try #require(history.path)
        func write(_ lines: [String]) throws {
            try lines.map { $0 + "\n" }.joined().write(toFile: path, atomically: false, encoding: .utf8)
        }
        try write((1...1_001).map { "\($0)" })
        #expect(history.read() == (2...1_001).map { "\($0)" })
        #expect(try String(contentsOfFile: path, encoding: .utf8).hasPrefix("2\n"), "the file is cut")
        // A few lines that are much longer than the console keeps.
        let long = String(repeating: "x", count: 400_000)
        try write(["1 \(long)", "2 \(long)", "3 \(long)"])
        #expect(history.read() == ["2 \(long)", "3 \(long)"])
        #expect(history.read() == ["2 \(long)", "3 \(long)"])
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
        #expect(size ?? 0 < 1_048_576)
        #expect(try mode(path) == 0o600)
    }

    @Test func `R-901: without a home there is no history, and a link is not followed`() throws {
        #expect(ConsoleHistory(variables: [:]).path == nil)
        ConsoleHistory(variables: [:]).add("accounts list")
        let directory = try TestDirectory()
        defer { directory.remove() }
        let history = ConsoleHistory(variables: ["HOME": directory.path])
        let path = try #require(history.path)
        try FileManager.default.createDirectory(
            at: URL(fileURLWithPath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: path, withDestinationPath: "\(directory.path)/other")
        history.add("accounts list")
        #expect(!FileManager.default.fileExists(atPath: "\(directory.path)/other"))
    }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }
}
