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
        case .origins: "origins"
        case .collector, .database: "URL"
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

    @Test func `a list in one text is taken apart at its commas`() {
        #expect(ServeSetting.parts(of: " a, b b ,,c ") == ["a", "b b", "c"])
        #expect(ServeSetting.parts(of: "").isEmpty)
    }
}
