// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

@Suite struct AdminRecordsTests {
    @Test func `what users stored gives an operator's terminal no commands`() async throws {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
            // Escape, the same in one character (C1), delete, a bell, and line ends.
            record["text"] = "red\u{1B}[31m\u{9B}2J\u{7F}\u{7}\r\n\u{2028}end"
            try await place.database(.public).save(record)
            let query = ["records", "query", "public", "Note", "--container", place.site.container]
            let table = try await place.admin(query)
            #expect(table.status == 0 && table.output.contains("red [31m 2J     end\n"), "\(table.output)")
            let json = try await place.admin(query + ["-o", "json"])
            #expect(json.output.contains(#"[31m\u009b2J\u007f"#), "\(json.output)")
            for output in [table.output, json.output] {
                let controls = output.unicodeScalars.filter { $0.properties.generalCategory == .control && $0 != "\n" }
                #expect(controls.isEmpty, "\(output.debugDescription)")
            }
            // It is the same text still.
            let line = try #require(json.output.split(separator: "\n").first)
            let decoded = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            let text = (decoded?["fields"] as? [String: [String: Any]])?["text"]?["value"] as? String
            #expect(text == record["text"] as? String)
        }
    }
}
