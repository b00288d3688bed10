// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkAdmin

@Suite struct AdminConfigTests {
    private func row(_ key: String, _ found: FoundSetting?) -> SettingRow { SettingRow(.named(key), found) }

    @Test func `R-933: each setting is shown with its value and where it is from`() {
        let file = SettingOrigin.file("/etc/t.yaml", FilePlace(line: 7, column: 3))
        let cases: [(SettingRow, String?, SettingRow.Source, String?)] = [
            (row("loops", nil), "2; 1 on a single core", .standard, nil),
            (row("certificate", nil), nil, .standard, nil),
            (row("loops", FoundSetting(text: "3", origin: .flag)), "3", .flag, "--loops"),
            (row("loops", FoundSetting(text: "3", origin: .variable)), "3", .variable, "TIDEMARK_LOOPS"),
            (row("loops", FoundSetting(text: "3", origin: file)), "3", .file, "/etc/t.yaml:7"),
        ]
        for (row, value, source, place) in cases {
            #expect(row.value == value && row.source == source && row.place == place && row.problem == nil)
        }
        let wrong = row("loops", FoundSetting(text: "x", origin: .variable))
        #expect(wrong.problem == "TIDEMARK_LOOPS must be a number, not x.")
        // The file's own mistakes are told with their columns.
        #expect(row("loops", FoundSetting(text: "x", origin: file)).problem == nil)
    }

    @Test(arguments: [
        "postgresql://tidemark:s3cret@db/tidemark", "host=db password=s3cret user=tidemark",
        "postgresql://a:s3cret@b:c:d/%zz",
    ])
    func `R-932: a password is never shown`(_ url: String) {
        let row = row("database-url", FoundSetting(text: url, origin: .variable))
        #expect(row.value?.contains("s3cret") == false, "\(row.value ?? "")")
    }

    @Test func `R-933: options of serve are read as serve reads them`() throws {
        let flags = try ServeFlags([
            "--loops", "4", "--plain", "--log-level=debug", "--admin-listen", "127.0.0.1:1",
            "--admin-listen=127.0.0.1:2",
            "--config", "a=b.yaml",
        ])
        #expect(
            flags.values == [
                "loops": "4", "plain": "true", "log-level": "debug", "admin-listen": "127.0.0.1:1,127.0.0.1:2",
            ])
        #expect(flags.config == "a=b.yaml")
        for words in [["loops"], ["--loop", "1"], ["--loops"], ["--plain=true", "x"], ["-v"], ["--"]] {
            #expect(throws: AdminFailure.self, "\(words)") { try ServeFlags(words) }
        }
    }
}
