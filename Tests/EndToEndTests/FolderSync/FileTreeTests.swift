// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing
import TidemarkTestSupport

@testable import foldersync

@Suite struct FileTreeTests {
    private let directory: TestDirectory
    private let tree: FileTree

    init() throws {
        directory = try TestDirectory()
        tree = try FileTree(root: directory.path)
    }

    private func write(_ text: String, to path: String, isExecutable: Bool = false) throws {
        let url = URL(fileURLWithPath: "\(tree.root)/\(path)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
        if isExecutable { chmod(url.path, 0o755) }
    }

    private func text(_ path: RelativePath) -> String? {
        FileManager.default.contents(atPath: tree.absolute(path)).map { String(decoding: $0, as: UTF8.self) }
    }

    private func version(_ text: String, isExecutable: Bool = false) -> String {
        FileRecord.version(of: Data(text.utf8), isExecutable: isExecutable)
    }

    private func content(_ path: RelativePath, _ text: String?, isExecutable: Bool = false) throws -> FileRecord.Content
    {
        let record = CKRecord(recordType: FileRecord.type, recordID: FileRecord.id(of: path, in: .init(zoneName: "Z")))
        record["path"] = path.text
        record["content"] = text.map { Data($0.utf8) }
        record["isDeleted"] = text == nil
        record["isExecutable"] = isExecutable
        return try #require(FileRecord.Content(record))
    }

    private func replace(_ path: RelativePath, _ text: String?, expecting old: String?) throws -> [FileTree.Kept] {
        try tree.replace(
            content(path, text), expecting: old.map { version($0) }, deviceName: "test")
    }

    private func done() { directory.remove() }

    @Test func `a file is created with its directories, replaced and deleted with what became empty`() throws {
        defer { done() }
        #expect(try replace("a/b/c.txt", "one", expecting: nil) == [])
        #expect(text("a/b/c.txt") == "one")
        #expect(try replace("a/b/c.txt", "two", expecting: "one") == [])
        #expect(text("a/b/c.txt") == "two")
        #expect(try replace("a/b/c.txt", nil, expecting: "two") == [])
        #expect(try tree.files() == [] && tree.directories(below: "") == [""])
        #expect(try replace("a/b/c.txt", nil, expecting: "two") == [])
    }

    @Test func `a file that changed at the last moment is kept beside the new one`() throws {
        defer { done() }
        try write("mine", to: "a.txt")
        let kept = try replace("a.txt", "theirs", expecting: "old")
        #expect(text("a.txt") == "theirs")
        #expect(kept.map(\.path) == ["a.txt"])
        #expect(kept.first.flatMap { text($0.newPath) } == "mine")
        // Nothing was to be there at all.
        let again = try replace("a.txt", "third", expecting: nil)
        #expect(again.first.flatMap { text($0.newPath) } == "theirs")
        #expect(try tree.files().count == 3)
    }

    @Test func `what was taken out of the way before, and is still nowhere else, is not overwritten`() throws {
        defer { done() }
        try write("mine", to: "a.txt")
        try crash("a.txt", stage: ".old", move: true)
        try write("old", to: "a.txt")
        _ = try replace("a.txt", "theirs", expecting: "old")
        #expect(text("a.txt") == "theirs")
        #expect(Set(try tree.files().compactMap { text($0) }) == ["mine", "theirs"])
    }

    @Test func `a copy whose name says its version takes no other file's name, and is there once`() throws {
        defer { done() }
        let aside = ConflictName.make("a.txt", version: version("parted"), attempt: 0)
        try write("somebody's", to: aside.text)
        for _ in 0..<2 {
            try write("parted", to: "a.txt")
            _ = try tree.replace(
                content("a.txt", "theirs"), expecting: nil, copyOf: version("parted"), deviceName: "test")
            #expect(text(aside) == "somebody's" && text("a.txt") == "theirs")
            #expect(try tree.files().compactMap { text($0) }.sorted() == ["parted", "somebody's", "theirs"])
        }
    }

    @Test func `a file that changed at the last moment is not deleted`() throws {
        defer { done() }
        try write("mine", to: "a.txt")
        #expect(try replace("a.txt", nil, expecting: "old") == [.init(path: "a.txt", newPath: "a.txt")])
        #expect(text("a.txt") == "mine")
    }

    @Test func `whether a file can be executed is part of what it is`() throws {
        defer { done() }
        _ = try tree.replace(content("run", "#!", isExecutable: true), expecting: nil, deviceName: "test")
        guard case .file(let file) = tree.look(at: "run") else { return #expect(Bool(false)) }
        #expect(file.isExecutable && file.version == version("#!", isExecutable: true))
        #expect(file.version != version("#!"))
        chmod(tree.absolute("run"), 0o644)
        #expect(tree.look(at: "run").version == version("#!"))
    }

    @Test func `where a directory must be, a file moves aside`() throws {
        defer { done() }
        try write("a file", to: "a")
        let kept = try replace("a/b.txt", "below", expecting: nil)
        #expect(kept.map(\.path) == ["a"] && kept.first.flatMap { text($0.newPath) } == "a file")
        #expect(text("a/b.txt") == "below")
    }

    @Test func `a directory does not make way for a file`() throws {
        defer { done() }
        try write("below", to: "a/b.txt")
        #expect(throws: FolderSyncError.directoryInTheWay("a")) { try replace("a", "a file", expecting: nil) }
        #expect(text("a/b.txt") == "below")
        #expect(try tree.files() == ["a/b.txt"])
    }

    @Test func `what cannot be synced is kept, not followed`() throws {
        defer { done() }
        try write("target", to: "target")
        symlink("target", tree.absolute("link"))
        guard case .unusable = tree.look(at: "link") else { return #expect(Bool(false)) }
        let kept = try replace("link", "theirs", expecting: nil)
        #expect(text("target") == "target" && text("link") == "theirs")
        #expect(kept.count == 1)
        mkfifo(tree.absolute("pipe"), 0o600)
        guard case .unusable(let why) = tree.look(at: "pipe") else { return #expect(Bool(false)) }
        #expect(why.contains("skipped"))
        let aside = try #require(kept.first).newPath
        #expect(try tree.files() == ["target", "link"] && tree.look(at: aside).version == nil)
    }

    @Test func `a folder that is not where it was says nothing of its files, and none is deleted`() throws {
        defer { done() }
        try write("content", to: "d/a")
        let moved = "\(tree.root)-moved"
        #expect(rename(tree.root, moved) == 0)
        defer { try? FileManager.default.removeItem(atPath: moved) }
        for isReplaced in [false, true] {
            // An empty one of the same name is no better.
            if isReplaced { #expect(mkdir(tree.root, 0o755) == 0) }
            guard case .unusable(let why) = tree.look(at: "d/a") else { return #expect(Bool(false)) }
            #expect(why.contains("is not where it was"))
            let error = FolderSyncError.moved(tree.root)
            #expect(throws: error) { try replace("d/a", nil, expecting: "content") }
            #expect(throws: error) { try replace("d/a", "theirs", expecting: "content") }
            #expect(throws: error) { try tree.files() }
        }
        #expect(FileManager.default.contents(atPath: "\(moved)/d/a") == Data("content".utf8))
        #expect(rmdir(tree.root) == 0 && rename(moved, tree.root) == 0)
        #expect(tree.look(at: "d/a").version == version("content"))
        guard case .missing = tree.look(at: "d/b") else { return #expect(Bool(false)) }
    }

    @Test func `what is behind a linked directory is neither looked at nor changed, and the link stays`() throws {
        defer { done() }
        let outside = try TestDirectory()
        defer { outside.remove() }
        try write("content", to: "d/e/x")
        let target = "\(outside.path)/d"
        #expect(rename(tree.absolute("d"), target) == 0)
        #expect(symlink(target, tree.absolute("d")) == 0)
        for path in ["d/e/x", "d/y"] as [RelativePath] {
            guard case .unusable(let why) = tree.look(at: path) else { return #expect(Bool(false)) }
            #expect(why.hasPrefix("in a linked directory, so it is skipped"))
            let error = FolderSyncError.linkedDirectory
            #expect(throws: error) { try replace(path, "theirs", expecting: "content") }
            #expect(throws: error) { try replace(path, nil, expecting: "content") }
        }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: tree.absolute("d")) == target)
        #expect(FileManager.default.contents(atPath: "\(target)/e/x") == Data("content".utf8))
        #expect(try tree.files() == [] && FileManager.default.contentsOfDirectory(atPath: target) == ["e"])
    }

    @Test func `without hard links files are placed all the same, and none replaces another`() throws {
        defer { done() }
        for code in [EPERM, EOPNOTSUPP, ENOSYS] {
            var linkless = tree
            linkless.makeLink = { _, _ in
                errno = code
                return -1
            }
            let path = RelativePath("d/\(code)")
            func replace(_ text: String?, expecting old: String) throws -> [FileTree.Kept] {
                try linkless.replace(content(path, text), expecting: version(old), deviceName: "test")
            }
            #expect(try replace("one", expecting: "") == [])
            #expect(try replace("two", expecting: "one") == [])
            #expect(text(path) == "two")
            let kept = try replace("three", expecting: "one")
            #expect(text(path) == "three" && kept.first.flatMap { text($0.newPath) } == "two")
            #expect(try replace(nil, expecting: "two") == [.init(path: path, newPath: path)])
            #expect(text(path) == "three")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: tree.stagingDirectory).isEmpty)
    }

    @Test func `a file is where it was when the new one cannot be placed`() throws {
        defer { done() }
        var full = tree
        full.makeLink = { file, name in
            guard file.hasSuffix(".new"), access(name, F_OK) != 0 else { return link(file, name) }
            errno = ENOSPC
            return -1
        }
        try write("old", to: "a")
        #expect(throws: FolderSyncError.system(ENOSPC, tree.absolute("a"))) {
            try full.replace(content("a", "new"), expecting: version("old"), deviceName: "test")
        }
        #expect(text("a") == "old")
        #expect(try FileManager.default.contentsOfDirectory(atPath: tree.stagingDirectory).isEmpty)
        #expect(try replace("a", "new", expecting: "old") == [])
        #expect(text("a") == "new")
    }

    @Test func `a path that is too long for other devices is not sent`() throws {
        defer { done() }
        let path = RelativePath(Array(repeating: String(repeating: "n", count: 200), count: 20).joined(separator: "/"))
        guard case .unusable(let why) = tree.look(at: path) else { return #expect(Bool(false)) }
        #expect(why.contains("too long"))
    }

    @Test func `a large file is what a small one would be, and is taken from where it was downloaded to`() throws {
        defer { done() }
        let text = String(repeating: "x", count: FileRecord.contentBytesMax + 1)
        try write(text, to: "big", isExecutable: true)
        guard case .file(let file) = tree.look(at: "big"), case .large(let url) = file.bytes else {
            return #expect(Bool(false))
        }
        #expect(file.version == version(text, isExecutable: true) && url.path == tree.absolute("big"))

        let download = URL(fileURLWithPath: "\(tree.stateDirectory)/download")
        try Data(text.utf8).write(to: download)
        chmod(download.path, 0o600)
        let path: RelativePath = "a/copy"
        let record = CKRecord(recordType: FileRecord.type, recordID: FileRecord.id(of: path, in: .init(zoneName: "Z")))
        record["path"] = path.text
        record["file"] = CKAsset(fileURL: download)
        let content = try #require(FileRecord.Content(record))
        #expect(content.version == version(text))
        #expect(try tree.replace(content, expecting: nil, deviceName: "test") == [])
        #expect(tree.look(at: path).version == version(text))
        #expect(!FileManager.default.fileExists(atPath: download.path))
        // As any new file of this process is.
        try write("small", to: "small")
        let modes = try [path, "small"].map {
            try FileManager.default.attributesOfItem(atPath: tree.absolute($0))[.posixPermissions] as? Int
        }
        #expect(modes[0] == modes[1])
        // The file has gone since.
        #expect(FileRecord.Content(record) == nil && FileRecord.isComplete(record))
    }

    @Test func `a file that was only just written is read again`() throws {
        defer { done() }
        try write("young", to: "a")
        guard case .file(let file) = tree.look(at: "a") else { return #expect(Bool(false)) }
        // Nil, or (on a slow machine) a time that is old enough to be trusted.
        if let stat = file.stat {
            guard case .same = tree.look(at: "a", known: stat) else { return #expect(Bool(false)) }
            try write("other", to: "a")
            #expect(tree.look(at: "a", known: stat).version == version("other"))
        }
    }

    @Test(arguments: ["plain.txt", "dir/Grüße 世界.txt", "long/" + String(repeating: "n", count: 250)])
    func `what a crash leaves in the staging directory finds its place`(_ name: String) throws {
        defer { done() }
        let journal = try Journal(directory: tree.stateDirectory, zoneName: "Z")
        let path = RelativePath(name)
        // Taken out of the way, and nothing placed yet: it goes back.
        try write("mine", to: name)
        try crash(path, stage: ".old", move: true)
        try tree.recoverLeftovers(journal: journal, deviceName: "test")
        if path.text.utf8.count < 180 {
            #expect(text(path) == "mine")
        } else {
            #expect(try tree.files().compactMap { text($0) } == ["mine"])
            return
        }
        // Something else was placed: it is kept beside it.
        try crash(path, stage: ".old", move: true)
        try write("theirs", to: name)
        try tree.recoverLeftovers(journal: journal, deviceName: "test")
        #expect(text(path) == "theirs")
        #expect(Set(try tree.files().compactMap { text($0) }) == ["mine", "theirs"])
        // It was to go, as the journal knows.
        try write("old", to: "\(name)2")
        try crash(RelativePath("\(name)2"), stage: ".old", move: true)
        try write("new", to: "\(name)2")
        var entry = Journal.Entry(path: RelativePath("\(name)2"))
        entry.version = version("old")
        journal[RelativePath("\(name)2")] = entry
        // New content that was not placed comes again.
        try crash("never.txt", stage: ".new", move: false)
        try tree.recoverLeftovers(journal: journal, deviceName: "test")
        #expect(Set(try tree.files().compactMap { text($0) }) == ["mine", "theirs", "new"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: tree.stagingDirectory).isEmpty)
    }

    /// As it is when the program ends between two steps of `replace`.
    private func crash(_ path: RelativePath, stage: String, move: Bool) throws {
        let name = Data(path.text.utf8).base64EncodedString().replacing("/", with: "_")
        let staged =
            "\(tree.stagingDirectory)/" + (name.utf8.count <= 250 ? name : "#\(FileRecord.name(of: path))") + stage
        if move {
            #expect(rename(tree.absolute(path), staged) == 0)
        } else {
            try Data("half".utf8).write(to: URL(fileURLWithPath: staged))
        }
    }
}
