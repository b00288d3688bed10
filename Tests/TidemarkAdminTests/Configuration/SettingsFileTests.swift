// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct SettingsFileTests {
    private func file(_ text: String, mode: Int = 0o600) -> SettingsFile {
        SettingsFile(text, path: "t.yaml", mode: mode)
    }

    private func problems(_ text: String, mode: Int = 0o600) -> [String] {
        file(text, mode: mode).problems.map { $0.line(of: "t.yaml") }
    }

    @Test func `R-930: a file has the settings of serve, under the names of its options`() throws {
        let settings = file(
            """
            listen: 127.0.0.1:8443
            database-url: postgresql:///tidemark
            plain: true
            loops: 4
            trace-sample: 0.5
            log-level: debug
            admin-listen: [127.0.0.1:1, "[::1]:2"]
            allowed-origins: https://a.example, https://b.example
            """)
        #expect(settings.problems.isEmpty)
        #expect(
            settings.values.mapValues(\.text) == [
                "listen": "127.0.0.1:8443", "database-url": "postgresql:///tidemark", "plain": "true", "loops": "4",
                "trace-sample": "0.5", "log-level": "debug", "admin-listen": "127.0.0.1:1,[::1]:2",
                "allowed-origins": "https://a.example, https://b.example",
            ])
        #expect(settings.values["loops"]?.place == FilePlace(line: 4, column: 8))
        #expect(throws: Never.self) { try settings.check() }
        #expect(file("# nothing\n").problems.isEmpty && file("---\n").problems.isEmpty)
    }

    @Test(arguments: [
        ("log-levle: info", "t.yaml:1:1: There is no setting log-levle. Did you mean log-level?"),
        ("logLevel: info", "t.yaml:1:1: There is no setting logLevel. Did you mean log-level?"),
        ("--log-level: info", "t.yaml:1:1: There is no setting --log-level. Did you mean log-level?"),
        ("TIDEMARK_LOG_LEVEL: info", "t.yaml:1:1: There is no setting TIDEMARK_LOG_LEVEL. Did you mean log-level?"),
        ("\n\nLOOPS: 3", "t.yaml:3:1: There is no setting LOOPS. Did you mean loops?"),
        ("config: x", "t.yaml:1:1: There is no setting config. See what there is: tidemark admin config show"),
        ("loops: many", "t.yaml:1:8: loops must be a number, not many."),
        ("loops: 0", "t.yaml:1:8: loops must be between 1 and 64, not 0."),
        ("loops: 1.5", "t.yaml:1:8: loops must be a number, not 1.5."),
        ("loops: [1]", "t.yaml:1:8: loops takes one value, not a list."),
        ("loops:\n  a: 1", "t.yaml:2:3: loops takes a value, not keys of its own."),
        ("loops:", "t.yaml:1:7: loops has no value. Give one, or remove the line."),
        ("loops: ~", "t.yaml:1:8: loops has no value. Give one, or remove the line."),
        ("certificate: ''", "t.yaml:1:14: certificate has no value. Give one, or remove the line."),
        ("plain: yes", "t.yaml:1:8: plain must be true or false, not yes."),
        ("plain: 'true'", "t.yaml:1:8: plain must be true or false, not true."),
        ("log-level: loud", "t.yaml:1:12: log-level must be one of debug, info, warning, error, not loud."),
        ("trace-sample: 2", "t.yaml:1:15: trace-sample must be between 0 and 1, such as 0.01, not 2."),
        (
            "listen: localhost:1",
            "t.yaml:1:9: listen takes a numeric address and a port, such as 127.0.0.1:8443, not localhost:1."
        ),
        (
            "admin-listen: [127.0.0.1:1, here]",
            "t.yaml:1:15: admin-listen takes a numeric address and a port, such as 127.0.0.1:8443, not here."
        ),
        ("admin-listen: []", "t.yaml:1:15: admin-listen has no value. Give one, or remove the line."),
        ("- loops", "t.yaml:1:1: A settings file has a key and a value on each line, such as: loops: 2"),
        ("loops", "t.yaml:1:1: A settings file has a key and a value on each line, such as: loops: 2"),
        ("[a]: 1", "t.yaml:1:1: A key is a name, such as: loops"),
    ])
    func `R-930: a wrong key or value is told with its line and column, and what is right`(
        _ text: String, _ expected: String
    ) {
        #expect(problems(text) == [expected])
    }

    @Test func `R-930: all mistakes are told at once, and a key that is set twice is one`() throws {
        #expect(problems("loops: 0\nplain: maybe\nlisten: 127.0.0.1:1\nnone: 1\n").count == 3)
        #expect(problems("loops: 2\nloops: 3\n").first?.contains("loops is set here and again further down") == true)
        // Keys that differ only as YAML sees them.
        let entry = SettingsNode.Entry(
            key: SettingsNode(content: .scalar("loops", isQuoted: false), place: FilePlace(line: 1, column: 1)),
            value: SettingsNode(content: .scalar("2", isQuoted: false), place: FilePlace(line: 1, column: 8)))
        let again = SettingsNode.Entry(
            key: SettingsNode(content: .scalar("loops", isQuoted: true), place: FilePlace(line: 2, column: 1)),
            value: entry.value)
        let root = SettingsNode(content: .map([entry, again]), place: .start)
        let settings = SettingsFile(root, path: "t.yaml", mode: 0o600)
        #expect(
            settings.problems.map { $0.line(of: "t") } == [
                "t:2:1: loops is set already in line 1. Remove one of the two."
            ])
        let failure = #expect(throws: AdminFailure.self) { try settings.check() }
        #expect(failure?.status == .usage)
        let many = file((0..<50).map { "no\($0): 1\n" }.joined())
        let text = try #require(#expect(throws: AdminFailure.self) { try many.check() }).description
        #expect(text.split(separator: "\n").count == 21 && text.hasSuffix("There are 30 more mistakes."))
    }

    @Test func `R-932: a password in a file that everybody may read is a mistake`() {
        let url = "database-url: postgresql://tidemark:secret@db/tidemark"
        for mode in [0o644, 0o604, 0o606] {
            let found = problems(url, mode: mode)
            #expect(found.count == 1 && found.allSatisfy { $0.contains("chmod 640 t.yaml") && !$0.contains("secret") })
        }
        #expect(problems(url, mode: 0o640).isEmpty && problems(url, mode: 0o600).isEmpty)
        #expect(problems("database-url: postgresql://tidemark@db/tidemark", mode: 0o644).isEmpty)
    }

    @Test func `R-930: a message has no control characters, and no more than a part of what is long`() throws {
        let found = problems("loops: \"1\\e[2J\"\n")
        #expect(found == ["t.yaml:1:8: loops must be a number, not 1 [2J."])
        let long = try #require(problems("loops: \(String(repeating: "9", count: 5_000))x").first)
        #expect(long.count < 300)
        let key = try #require(problems("\(String(repeating: "k", count: 900)): 1").first)
        #expect(key.count < 300)
    }

    @Test func `R-930: what is no file of text, or too long, is refused`() throws {
        let place = try TestDirectory()
        defer { place.remove() }
        func failure(_ path: String) throws -> String {
            try #require(#expect(throws: AdminFailure.self) { try SettingsFile(readingFrom: path) }).description
        }
        #expect(try failure("\(place.path)/none").contains("cannot be read"))
        #expect(try failure(place.path).contains("not a regular file"))
        let path = "\(place.path)/t.yaml"
        try Data([0x6C, 0xFF, 0xFE]).write(to: URL(fileURLWithPath: path))
        #expect(try failure(path).contains("not text in UTF-8"))
        try Data(repeating: 0x23, count: SettingsFile.byteCountMax + 1).write(to: URL(fileURLWithPath: path))
        #expect(try failure(path).contains("more than 1048576 bytes"))
        try Data("loops: 3".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try SettingsFile(readingFrom: path).values["loops"]?.text == "3")
        // By the variable, and by the option, which wins.
        let chosen = try SettingsFile.chosen(nil, variables: ["TIDEMARK_CONFIG": path])
        #expect(chosen?.path == path)
        #expect(throws: AdminFailure.self) {
            try SettingsFile.chosen("\(place.path)/none", variables: ["TIDEMARK_CONFIG": path])
        }
        let link = "\(place.path)/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        #expect(try SettingsFile(readingFrom: link).values["loops"]?.text == "3")
    }
}
