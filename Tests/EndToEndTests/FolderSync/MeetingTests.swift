// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import foldersync

@Suite struct MeetingTests {
    @Test(
        arguments: [
            (nil, nil, nil, .equal), ("a", "a", "a", .equal), ("b", "a", "b", .equal), (nil, "a", nil, .equal),
            (nil, nil, "a", .takeRecord), ("a", "a", "b", .takeRecord), ("a", "a", nil, .takeRecord),
            ("b", "a", "a", .keepFile), ("b", nil, nil, .keepFile), (nil, "a", "a", .keepFile),
            ("b", "a", nil, .keepFile), (nil, "a", "b", .takeRecord), ("b", "a", "c", .keepBoth),
            ("b", nil, "c", .keepBoth),
        ] as [(String?, String?, String?, Meeting)])
    func `file, last synced and record decide`(
        _ file: String?, _ synced: String?, _ record: String?, _ expected: Meeting
    ) {
        #expect(Meeting(file: file, synced: synced, record: record) == expected)
    }
}

@Suite struct ConflictNameTests {
    private func name(_ path: RelativePath, device: String = "mac", attempt: Int = 0) -> String {
        let name = ConflictName.make(path, deviceName: device, time: Date(timeIntervalSince1970: 0), attempt: attempt)
        return name.text.replacing(/\d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d/, with: "T")
    }

    @Test func `the mark stands before the extension`() {
        #expect(name("a/b/c.txt") == "a/b/c (conflict, mac, T).txt")
        #expect(name("c.tar.gz") == "c.tar (conflict, mac, T).gz")
        #expect(name("Makefile") == "Makefile (conflict, mac, T)")
        #expect(name(".hidden") == ".hidden (conflict, mac, T)")
        // A time has dots, too.
        let again = name("a (conflict, mac, 2026-11-26 10.25.31)", device: "vm")
        #expect(again == "a (conflict, mac, T) (conflict, vm, T)")
        #expect(name("a.txt", attempt: 2) == "a (conflict, mac, T 3).txt")
        #expect(name("a.txt", device: "x/y\nz") == "a (conflict, x-y-z, T).txt")
    }

    @Test func `a slash ends a directory whatever follows it, and no device's name brings in another`() {
        #expect(RelativePath(name("dir/\u{301}b.txt")) == "dir/\u{301}b (conflict, mac, T).txt")
        #expect(RelativePath(name("a.txt", device: "x/\u{301}y")) == "a (conflict, x-\u{301}y, T).txt")
    }

    @Test(arguments: [
        String(repeating: "x", count: 255), String(repeating: "é", count: 127),
        "x." + String(repeating: "e", count: 253),
        ".." + String(repeating: "界", count: 84),
    ])
    func `a name never has more than 255 bytes`(_ long: String) {
        for device in ["mac", String(repeating: "d", count: 300)] {
            let made = ConflictName.make(
                RelativePath("dir/" + long), deviceName: device, time: Date(), attempt: 999)
            #expect(made.text.hasPrefix("dir/"))
            #expect(made.text.utf8.count - 4 <= 255)
            #expect(made.isSafe)
        }
    }
}

@Suite struct RelativePathTests {
    @Test(arguments: [
        "", "/etc/passwd", "../up", "a/../b", "a//b", "a/", "./a", ".", "..", ".foldersync", ".foldersync/journal",
        "a\0b", "a/" + String(repeating: "x", count: 256), String(repeating: "a/", count: 2_001) + "a",
    ])
    func `a path that leaves the folder or hurts us is unsafe`(_ path: String) {
        #expect(!RelativePath(path).isSafe)
    }

    @Test(arguments: ["a", "a/b/c.txt", "...", ".hidden", "a/.foldersync", "Grüße/世界", "with space", "a\nb", "-rf"])
    func `others are safe`(_ path: String) {
        #expect(RelativePath(path).isSafe)
    }

    @Test func `a path's directories end at each slash, also before a combining mark`() {
        #expect(RelativePath("a/b/c").directories == ["a", "a/b"] && RelativePath("a/b/c").name == "c")
        #expect(RelativePath("a/\u{301}b/c").directories == ["a", "a/\u{301}b"])
        #expect(RelativePath(RelativePath("a/\u{301}b").name) == "\u{301}b")
        #expect(RelativePath("a").directories == [] && RelativePath("a").name == "a")
    }

    @Test func `two spellings of one letter are two paths`() {
        let (composed, decomposed) = (RelativePath("\u{E9}"), RelativePath("e\u{301}"))
        #expect(composed.text == decomposed.text)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }
}

@Suite struct ReportTests {
    @Test(
        arguments: [
            (0, 0, 30, "░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ sent 0/30, received 0"),
            (10, 5, 20, "██████████░░░░░░░░░░░░░░░░░░░░ sent 10/30, received 5"),
            (30, 0, 0, "██████████████████████████████ sent 30/30, received 0"),
            (30, 26, 0, "░██████░░░░░░░░░░░░░░░░░░░░░░░ sent 30/30, received 26"),
            (0, 24, 0, "░░░░░░░░░░░░░░░░░░░░░░░░██████ received 24"),
            (0, 25, 0, "██████░░░░░░░░░░░░░░░░░░░░░░░░ received 25"),
        ])
    func `the bar fills as files are sent, and only moves on as they are received`(
        _ sent: Int, _ received: Int, _ pending: Int, _ expected: String
    ) {
        #expect("\(SyncProgress(sent: sent, received: received, pending: pending))" == expected)
    }

    @Test func `a name cannot make a terminal do anything`() {
        #expect(TerminalReport.printable("a\u{1B}[2Jb\n\u{9B}1mGrüße 世界") == "a\\u{1B}[2Jb\\n\\u{009B}1mGrüße 世界")
    }
}
