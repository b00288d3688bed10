// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

@Suite struct RecoveryKeyTests {
    @Test func `a recovery key is read as it was written, however it is copied`() throws {
        var random = SeededRandom()
        for _ in 0..<200 {
            let key = (0..<32).map { _ in UInt8.random(in: 0...255, using: &random) }
            let text = RecoveryKey.text(of: key)
            #expect(text.count == 69 && text.allSatisfy { $0 == "-" || $0.isNumber || $0.isUppercase })
            let copies = [
                text, text.lowercased(), text.replacingOccurrences(of: "-", with: ""),
                " \(text.replacingOccurrences(of: "-", with: "  "))\n",
                text.replacingOccurrences(of: "0", with: "O").replacingOccurrences(of: "1", with: "l"),
            ]
            for copy in copies { #expect(try RecoveryKey.key(of: copy) == key, "seed \(random.seed)") }
        }
    }

    @Test func `one character that is another one is noticed, wherever it is`() throws {
        let text = RecoveryKey.text(of: Array(repeating: 77, count: 32))
        for index in text.indices where text[index] != "-" {
            for other in "0123456789ABCDEFGHJKMNPQRSTVWXYZ" where other != text[index] {
                var wrong = text
                wrong.replaceSubrange(index...index, with: String(other))
                #expect((try? RecoveryKey.key(of: wrong)) == nil, "\(wrong)")
            }
        }
        for text in ["", "ABC", text + "0", "u" + text.dropFirst(), "é" + text.dropFirst()] {
            #expect(throws: CKError.self) { try RecoveryKey.key(of: text) }
        }
    }

    @Test func `a key file keeps the first key of an account, and is for its owner alone`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let url = URL(fileURLWithPath: "\(directory.path)/deep/er/keys.json")
        let file = KeyFile(url)
        let (one, two) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
        #expect(try file.key(for: "a") == nil)
        #expect(try file.keep(one, for: "a") == one)
        #expect(try KeyFile(url).keep(two, for: "a") == one)
        #expect(try file.keep(two, for: "b") == two)
        try file.replace(two, by: nil, for: "a")
        #expect(try file.key(for: "a") == one, "it was not that one")
        try file.replace(one, by: two, for: "a")
        #expect(try KeyFile(url).key(for: "a") == two)
        try file.replace(two, by: nil, for: "a")
        #expect(try file.key(for: "a") == nil)
        #expect(try file.key(for: "b") == two)
        let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        try Data("no json".utf8).write(to: url)
        #expect(throws: CKError.self) { try file.key(for: "b") }
        #expect(throws: CKError.self) { try file.keep(one, for: "b") }
    }

    @Test func `of processes that keep a key at once, all get the same`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let url = URL(fileURLWithPath: "\(directory.path)/keys.json")
        let kept = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for number in 0..<8 {
                // Each opens and locks the file by itself, as a process does.
                group.addTask { try KeyFile(url).keep(Array(repeating: UInt8(number), count: 32), for: "a") }
            }
            return try await group.reduce(into: Set<[UInt8]>()) { $0.insert($1) }
        }
        #expect(kept.count == 1)
    }
}
