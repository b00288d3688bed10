// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkAdmin

@Suite struct SettingSourcesTests {
    private let file = SettingsFile("loops: 4\nplain: true\nlog-level: error\n", path: "t.yaml", mode: 0o600)

    private func sources(_ variables: [String: String] = [:]) -> SettingSources {
        SettingSources(variables: variables, file: file)
    }

    @Test func `R-931: an option wins over a variable, and a variable over the file`() throws {
        let loops = ServeSetting.named("loops")
        let both = sources(["TIDEMARK_LOOPS": "3"])
        #expect(try both.find("2", loops) == FoundSetting(text: "2", origin: .flag))
        #expect(try both.find(nil, loops) == FoundSetting(text: "3", origin: .variable))
        let place = FilePlace(line: 1, column: 8)
        for variables in [[:], ["TIDEMARK_LOOPS": ""]] {
            #expect(
                try sources(variables).find(nil, loops) == FoundSetting(text: "4", origin: .file("t.yaml", place)))
        }
        #expect(try sources().find(nil, .named("listen")) == nil)
        #expect(try sources().number(nil, loops, default: 9) == 4)
        #expect(try both.number(1, loops, default: 9) == 1)
        #expect(try sources().number(nil, .named("device-days"), default: 9) == 9)
    }

    @Test func `R-931: a variable turns off what the file turns on`() throws {
        let plain = ServeSetting.named("plain")
        #expect(try sources().flag(false, plain))
        for text in ["0", "false", "no", "OFF"] { #expect(try !sources(["TIDEMARK_PLAIN": text]).flag(false, plain)) }
        for text in ["1", "TRUE", "yes", "on"] {
            #expect(try SettingSources(variables: ["TIDEMARK_PLAIN": text], file: nil).flag(false, plain))
        }
        #expect(try SettingSources(variables: [:], file: nil).flag(true, plain))
        #expect(try !SettingSources(variables: [:], file: nil).flag(false, plain))
    }

    @Test func `R-931: a wrong value names where it is`() throws {
        func text(_ body: () throws -> Void) throws -> String {
            try #require(#expect(throws: AdminFailure.self) { try body() }).description
        }
        let loops = ServeSetting.named("loops")
        #expect(try text { _ = try sources().find("65", loops) } == "--loops must be between 1 and 64, not 65.")
        #expect(
            try text { _ = try sources(["TIDEMARK_LOOPS": "x"]).find(nil, loops) }
                == "TIDEMARK_LOOPS must be a number, not x.")
        #expect(
            try text { _ = try sources(["TIDEMARK_PLAIN": "perhaps"]).flag(false, .named("plain")) }
                == "TIDEMARK_PLAIN must be true or false, not perhaps.")
        // Bounds that other settings narrow.
        #expect(
            try text { _ = try sources().number(nil, loops, default: 1, in: 5...6) }
                == "t.yaml:1:8: loops must be between 5 and 6, not 4.")
        #expect(
            try text { _ = try sources().number(2, loops, default: 1, in: 5...6) }
                == "--loops must be between 5 and 6, not 2.")
    }
}
