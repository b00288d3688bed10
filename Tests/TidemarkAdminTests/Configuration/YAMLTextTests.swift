// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkAdmin

@Suite struct YAMLTextTests {
    private func scalar(_ text: String, _ line: Int, _ column: Int, isQuoted: Bool = false) -> SettingsNode {
        SettingsNode(
            content: .scalar(text, isQuoted: isQuoted), place: FilePlace(line: line, column: column))
    }

    @Test func `R-930: YAML and JSON are read as they are written, each value with its place`() throws {
        let yaml = """
            # a comment
            loops: 2
            "listen": '0.0.0.0:443'
            admin-listen:
              - 127.0.0.1:1
              - "127.0.0.1:2"
            verbose: no
            """
        let root = try #require(try YAMLText.read(yaml))
        guard case .map(let entries) = root.content else { throw Unexpected() }
        #expect(root.place == FilePlace(line: 2, column: 1))
        #expect(
            entries.map(\.key) == [
                scalar("loops", 2, 1), scalar("listen", 3, 1, isQuoted: true), scalar("admin-listen", 4, 1),
                scalar("verbose", 7, 1),
            ])
        #expect(entries[0].value == scalar("2", 2, 8))
        #expect(entries[1].value == scalar("0.0.0.0:443", 3, 11, isQuoted: true))
        #expect(
            entries[2].value.content
                == .list([scalar("127.0.0.1:1", 5, 5), scalar("127.0.0.1:2", 6, 5, isQuoted: true)]))
        // No word of a text becomes something else.
        #expect(entries[3].value == scalar("no", 7, 10))

        let json = "{\n\t\"loops\": 2,\n\t\"admin-listen\": [\"127.0.0.1:1\"], \"plain\": true }"
        guard case .map(let same)? = try YAMLText.read(json)?.content else { throw Unexpected() }
        #expect(same.map(\.value.place.line) == [2, 3, 3])
        #expect(same[0].value.content == .scalar("2", isQuoted: false))
        #expect(same[2].value.content == .scalar("true", isQuoted: false))
    }

    @Test(arguments: ["", "\n\n", "# nothing\n"])
    func `R-930: a file without settings is no mistake`(_ text: String) throws {
        #expect(try YAMLText.read(text) == nil)
    }

    @Test(arguments: [
        ("loops: 2\n  listen: x\n", 2), ("loops: [1, 2\n", 2), ("a: 'b\n", 2), ("loops: 2\n\tlisten: x\n", 2),
        ("a: &x 1\n", 1), ("a: 1\nb: *c\n", 2), ("loops: 2\nplain: true\nloops: 3\n", 1), ("a: 1\n---\nb: 2\n", 2),
    ])
    func `R-930: what is no YAML, or a part of it without a meaning here, is told with its line`(
        _ text: String, _ line: Int
    ) throws {
        let problem = #expect(throws: SettingsProblem.self) { try YAMLText.read(text) }
        let place = try #require(problem?.place, "\(text)")
        // The parser may see a mistake at the end only.
        #expect((line...line + 1).contains(place.line), "\(text): \(place) \(problem?.text ?? "")")
        #expect(problem?.text.isEmpty == false)
    }

    /// A file cannot make the reader go on for ever, or down for ever.
    @Test func `I-7: deep and self-similar files are refused`() {
        #expect(throws: SettingsProblem.self) {
            try YAMLText.read(String(repeating: "[", count: 500) + String(repeating: "]", count: 500))
        }
        #expect(throws: SettingsProblem.self) { try YAMLText.read(String(repeating: "[", count: 100_000)) }
        var bomb = "a0: &a0 [x]\n"
        for level in 1...40 { bomb += "a\(level): &a\(level) [*a\(level - 1), *a\(level - 1)]\n" }
        #expect(throws: SettingsProblem.self) { try YAMLText.read(bomb) }
    }

    private struct Unexpected: Error {}
}
