// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkAdmin

@Suite struct CKToolRecordsTextTests {
    private static func record(_ name: String) -> OutputValue {
        .object([
            ("recordName", .text(name)), ("fields", .object([("a", .list([.number(1), .none])), ("b", .list([]))])),
        ])
    }

    /// As one object.
    private static func whole(_ records: [OutputValue], _ token: String?) -> String {
        let end: [(String, OutputValue)] = token.map { [("continuationToken", .text($0))] } ?? []
        return CKToolJSONText.text(.object([("records", .list(records))] + end))
    }

    @Test(arguments: [nil, "a\"b"] as [String?])
    func `R-896: records that come in pages are written as one object`(_ token: String?) {
        for sizes in [[], [0], [1], [3], [0, 2, 0, 1], [1, 1, 1]] as [[Int]] {
            var (text, parts, all) = (CKToolRecordsText(), "", [OutputValue]())
            for size in sizes {
                let page = (0..<size).map { Self.record("\(all.count + $0)") }
                all += page
                parts += text.add(page) ?? ""
            }
            #expect(parts.isEmpty)
            #expect(parts + text.end(continuationToken: token) == Self.whole(all, token), "\(sizes)")
        }
    }

    @Test func `R-896: very many records are written before the last one is read`() {
        var (text, parts) = (CKToolRecordsText(), [String]())
        let record = Self.record(String(repeating: "x", count: CKToolRecordsText.bytesMax / 4))
        for _ in 0..<10 {
            if let part = text.add([record]) { parts.append(part) }
        }
        #expect(parts.count >= 2)
        #expect(parts.allSatisfy { $0.utf8.count < 2 * CKToolRecordsText.bytesMax })
        let end = text.end(continuationToken: nil)
        #expect(parts.joined() + end == Self.whole(Array(repeating: record, count: 10), nil))
    }
}
