// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkAdmin

@Suite struct ServeSettingTests {
    @Test func `R-930: each setting is there once, and its default is the one that the help says`() {
        let keys = ServeSetting.all.map(\.key)
        #expect(Set(keys).count == keys.count)
        for setting in ServeSetting.all {
            #expect(setting.key.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil, "\(setting.key)")
            #expect(!setting.abstract.isEmpty, "\(setting.key)")
            if case .flag = setting.kind {
                #expect(setting.standard == "false" && setting.valueName.isEmpty, "\(setting.key)")
                continue
            }
            #expect(!setting.valueName.isEmpty, "\(setting.key)")
            if let standard = setting.standard {
                #expect(setting.discussion.contains("Default: \(standard)"), "\(setting.key)")
            } else {
                #expect(!setting.discussion.contains("Default:"), "\(setting.key)")
            }
        }
    }

    @Test func `R-932: no setting is a secret itself: each names a file that has it`() {
        for setting in ServeSetting.all {
            let isOfSecret = setting.key.contains(/password|token|secret|key|authorization/)
            #expect(!isOfSecret || setting.valueName == "file", "\(setting.key)")
        }
        #expect(ServeSetting.all.filter(\.isSecret).map(\.key) == ["database-url"])
    }

    /// What its value may be, as docs/settings.md says it.
    private func value(_ setting: ServeSetting) -> String {
        switch setting.kind {
        case .text: setting.valueName
        case .number(let range):
            "\(range.lowerBound) to \(range.upperBound)" + (setting.valueName == "count" ? "" : " \(setting.valueName)")
        case .part: "0 to 1"
        case .choice(let choices): choices.joined(separator: ", ")
        case .flag: "true or false"
        case .address: "address and port"
        case .addresses: "addresses and ports"
        case .networks: "networks"
        case .origins: "origins"
        case .collector, .bus, .database: "URL"
        }
    }

    @Test func `R-930: docs/settings.md has each setting with its value, default and meaning, and no other`() throws {
        let path = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../docs/settings.md")
            .standardizedFileURL
        let rows = try String(contentsOf: path, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("| `") }
        let expected = ServeSetting.all.map { setting in
            "| `\(setting.key)` | \(value(setting)) | \(setting.standard ?? "–") | \(setting.abstract) |"
        }
        #expect(rows.map(String.init) == expected)
    }

    @Test func `R-930: deploy/tidemark.yaml has each setting in comments, and they can be turned on there`() throws {
        let path = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../deploy/tidemark.yaml")
            .standardizedFileURL
        let text = try String(contentsOf: path, encoding: .utf8)
        let blocks = ServeSetting.all.map { setting in
            "\n# \(setting.abstract)\n# Value: \(value(setting)). Default: \(setting.standard ?? "–")\n#\(setting.key):\n"
        }
        #expect(text.hasSuffix(blocks.joined()))
        func settings(_ text: String) -> SettingsFile { SettingsFile(text, path: "tidemark.yaml", mode: 0o644) }
        // As it is, nothing is set.
        #expect(settings(text).problems.isEmpty && settings(text).values.isEmpty)
        let whole = settings(
            text.replacing("\n#plain:\n", with: "\nplain: true\n").replacing("\n#loops:\n", with: "\nloops: 4\n"))
        #expect(whole.problems.isEmpty && whole.values.mapValues(\.text) == ["plain": "true", "loops": "4"])
    }

    @Test func `R-944: networks are checked one by one`() {
        let setting = ServeSetting.named("proxy-from")
        #expect(setting.takesList)
        #expect(setting.problem(with: "10.0.0.0/8, 2001:db8::7") == nil)
        for wrong in ["10.0.0.1/8", "proxy.example", "127.0.0.1:443"] {
            #expect(setting.problem(with: "10.0.0.0/8, \(wrong)")?.contains("not \(wrong). Bits") == true, "\(wrong)")
        }
    }

    @Test func `a misspelt variable is told with the one that is meant, and one of another use is not`() {
        func told(_ names: String...) -> [String] {
            ServeSetting.misspelt(in: Dictionary(names.map { ($0, "1") }) { first, _ in first })
        }
        #expect(
            told("TIDEMARK_LOG_LEVLE", "TIDEMARK_LISTN", "HOME", "TIDEMARK_LOG_FORMAT") == [
                "TIDEMARK_LISTN is no setting. Did you mean TIDEMARK_LISTEN?",
                "TIDEMARK_LOG_LEVLE is no setting. Did you mean TIDEMARK_LOG_LEVEL?",
            ])
        let others = ["CONTEXT", "TOKEN", "CONTAINER", "CERTIFICATES", "CONFIG", "URL", "SOMETHING_ELSE", ""]
        for name in others { #expect(told("TIDEMARK_" + name).isEmpty, "\(name)") }
        for setting in ServeSetting.all { #expect(told(setting.variable).isEmpty, "\(setting.key)") }
    }

    @Test func `a list in one text is taken apart at its commas`() {
        #expect(ServeSetting.parts(of: " a, b b ,,c ") == ["a", "b b", "c"])
        #expect(ServeSetting.parts(of: "").isEmpty)
    }
}
