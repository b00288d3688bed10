// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing
import TidemarkFields
import TidemarkTestSupport

@testable import TidemarkKit
@testable import foldersync

@Suite struct JournalTests {
    private let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    private static let state = """
        {"version": 1, "device": "000102030405060708090a0b0c0d0e0f", "user": "_alice", "subscription": "s",
         "databaseToken": "AAEC", "zones": [{"name": "Z"}], "zoneTokens": [{"zone": 0, "token": "Aw=="}],
         "unfetchedZones": [0], "pendingRecords": [], "inFlightRecords": [], "pendingZones": [],
         "inFlightZones": [], "untrackedChanges": false}
        """

    private func open(zone: String = "Z") throws -> Journal { try Journal(directory: directory.path, zoneName: zone) }
    private var file: URL { URL(fileURLWithPath: "\(directory.path)/journal") }

    private func fill(_ journal: Journal, _ range: Range<Int>) throws {
        for index in range {
            var entry = Journal.Entry(path: RelativePath("file \(index)"))
            let id = FileRecord.id(of: entry.path, in: CKRecordZone.ID(zoneName: "Z"))
            entry.remember(CKRecord(recordType: FileRecord.type, recordID: id), version: "v\(index)")
            journal[entry.path] = entry
        }
        try journal.persist()
    }

    @Test func `what was written is there after a start, with the record's system fields`() throws {
        defer { directory.remove() }
        try fill(try open(), 0..<3)
        let journal = try open()
        #expect(journal.paths == ["file 0", "file 1", "file 2"])
        #expect(journal["file 1"]?.version == "v1")
        let id = FileRecord.id(of: "file 1", in: CKRecordZone.ID(zoneName: "Z"))
        #expect(journal["file 1"]?.record?.recordID == id)
        #expect(journal[id]?.path == "file 1")
        #expect(journal["file 9"] == nil)
    }

    @Test func `a last line that a crash cut short is passed over, wherever it was cut`() throws {
        defer { directory.remove() }
        try fill(try open(), 0..<2)
        let before = try Data(contentsOf: file)
        do {
            let journal = try open()
            try fill(journal, 2..<3)
        }
        let whole = try Data(contentsOf: file)
        #expect(whole.count > before.count)
        for length in stride(from: before.count, to: whole.count - 1, by: 37) {
            try whole.prefix(length).write(to: file)
            let journal = try open()
            #expect(journal.paths.isSuperset(of: ["file 0", "file 1"]) && journal["file 2"] == nil)
            // What is appended afterwards is not glued to the rest of the cut line.
            try fill(journal, 5..<6)
            #expect(try Data(contentsOf: file).split(separator: 10).count == 4)
        }
    }

    @Test func `a damaged line has all records fetched anew, costs no other line, and the file is kept`() throws {
        defer { directory.remove() }
        do {
            let journal = try open()
            journal.engineState = try JSONDecoder().decode(
                CKSyncEngine.State.Serialization.self, from: Data(Self.state.utf8))
            try fill(journal, 0..<3)
            #expect(journal.damage == nil)
        }
        let whole = try Data(contentsOf: file)
        let ends = whole.indices.filter { whole[$0] == UInt8(ascii: "\n") }
        #expect(ends.count == 5)
        // The first says which zone it is, the last is the engine's state.
        for number in 1..<ends.count {
            var damaged = whole
            damaged[ends[number - 1] + 1] = UInt8(ascii: "x")
            try damaged.write(to: file)
            let journal = try open()
            #expect(journal.engineState == nil && journal.damage?.lineCount == 1)
            #expect(journal.paths.count == (number == ends.count - 1 ? 3 : 2))
            let kept = try #require(journal.damage?.keptPath)
            #expect(kept == file.path + (number == 1 ? ".damaged" : ".damaged-\(number)"))
            #expect(try Data(contentsOf: URL(fileURLWithPath: kept)) == damaged)
        }
        #expect(try open().damage == nil, "written anew")
    }

    @Test(arguments: ["owner", "zone", "\n", "{}\n", "\u{0}"])
    func `a folder with a damaged first line is not started, whosever zone it is, and nothing is changed`(
        damage: String
    ) throws {
        defer { directory.remove() }
        let folder = directory.path
        let state = "\(folder)/\(FileTree.stateDirectoryName)"
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        do { try fill(try Journal(directory: state, zoneName: "Z", owner: "_alice"), 0..<2) }
        let file = URL(fileURLWithPath: "\(state)/journal")
        let whole = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        let damaged = ["owner", "zone"].contains(damage) ? whole.replacing("\"\(damage)\":", with: "") : damage + whole
        try damaged.write(to: file, atomically: true, encoding: .utf8)
        let error = FolderSyncError.placeDamaged(file.path)
        #expect(throws: error) { try Journal.place(ofFolder: folder) }
        for zoneName in [nil, "Z"] { #expect(throws: error) { try FolderPlace.find(folder, zoneName: zoneName) } }
        for owner in [nil, "_alice"] {
            #expect(throws: error) { try Journal(directory: state, zoneName: "Z", owner: owner) }
        }
        #expect(try Data(contentsOf: file) == Data(damaged.utf8))
    }

    @Test func `many changes of few files do not let it grow for ever`() throws {
        defer { directory.remove() }
        let journal = try open()
        for _ in 0..<1_200 { try fill(journal, 0..<1) }
        #expect(try Data(contentsOf: file).split(separator: 10).count < 1_100)
        #expect(journal["file 0"]?.version == "v0")
    }

    @Test func `what was forgotten, the engine's state too, is not there after a start`() throws {
        defer { directory.remove() }
        do {
            let journal = try open()
            journal.engineState = try JSONDecoder().decode(
                CKSyncEngine.State.Serialization.self, from: Data(Self.state.utf8))
            try fill(journal, 0..<2)
        }
        do {
            let journal = try open()
            #expect(journal.engineState != nil && journal["file 1"]?.version == "v1")
            journal.forgetEverything()
            try journal.persist()
        }
        let journal = try open()
        #expect(journal.engineState == nil)
        #expect(journal.paths == ["file 0", "file 1"] && journal["file 1"]?.version == nil)
    }

    @Test func `R-330: a file that is missing after its zone has ended was not deleted, after a start too`() throws {
        defer { directory.remove() }
        let id = FileRecord.id(of: "file 0", in: CKRecordZone.ID(zoneName: "Z"))
        let record = CKRecord(
            recordID: id, recordType: FileRecord.type, fields: FieldMap(),
            metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 0))
        do {
            let journal = try open()
            try fill(journal, 0..<1)
            journal.zoneEnded()
            #expect(journal["file 0"]?.differs(from: nil) == true, "it was never on the server")
            journal["file 0"]?.remember(record, version: "v0")
            journal["file 0"]?.receiving = Journal.Entry.Arrival(version: "v1")
            journal.zoneEnded()
            try journal.persist()
        }
        let journal = try open()
        let entry = try #require(journal["file 0"])
        #expect(!entry.differs(from: nil) && !entry.differs(from: "v0") && entry.differs(from: "v1"))
        #expect(journal.arrivals.isEmpty && journal.pathsNotReturned == ["file 0"])
        journal["file 0"]?.remember(record, version: "v0")
        #expect(journal.pathsNotReturned.isEmpty && journal["file 0"]?.differs(from: nil) == true)
    }

    @Test func `that a record's content could not be read is known after a start, and is no deletion`() throws {
        defer { directory.remove() }
        do {
            let journal = try open()
            try fill(journal, 0..<1)
            journal["file 0"]?.receiving = Journal.Entry.Arrival(version: nil, unreadTag: "tag")
            try journal.persist()
        }
        let journal = try open()
        let arrival = try #require(journal.arrivals["file 0"])
        #expect(arrival.unreadTag == "tag" && !arrival.isDeletion)
        // There is no file, but not because that was received.
        journal["file 0"]?.recover(nil)
        #expect(journal["file 0"]?.version == "v0")
    }

    @Test func `R-329: a file that is missing while another is about to take its place was not deleted here`() throws {
        defer { directory.remove() }
        var entry = Journal.Entry(path: "a")
        let id = FileRecord.id(of: "a", in: CKRecordZone.ID(zoneName: "Z"))
        entry.remember(CKRecord(recordType: FileRecord.type, recordID: id), version: "v1")
        entry.refused = Journal.Entry.Refused(version: "v2")
        #expect(entry.differs(from: nil))
        for arrival in [
            Journal.Entry.Arrival(version: "v1"), Journal.Entry.Arrival(version: nil, unreadTag: "tag"),
        ] {
            entry.receiving = arrival
            #expect(!entry.differs(from: nil) && entry.differs(from: "v3"))
        }
        entry.receiving = Journal.Entry.Arrival(version: nil)
        #expect(entry.differs(from: nil))
    }

    @Test func `two programs do not share a folder`() throws {
        defer { directory.remove() }
        let journal = try open()
        #expect(throws: FolderSyncError.alreadyRunning) { try open() }
        withExtendedLifetime(journal) {}
    }

    @Test func `a folder belongs to one zone`() throws {
        defer { directory.remove() }
        _ = try open(zone: "One")
        #expect(throws: FolderSyncError.otherZone("One")) { try open(zone: "Two") }
    }

    @Test func `a file differs from what the server may have until everything sent is answered`() throws {
        defer { directory.remove() }
        var entry = Journal.Entry(path: "a")
        #expect(entry.differs(from: "v1") && !entry.differs(from: nil))
        let file = FileTree.File(bytes: .small(Data()), version: "v1", isExecutable: false, stat: nil)
        entry.sending(file)
        // Created, sent, not acknowledged, deleted: the server may have it.
        #expect(entry.differs(from: nil))
        let id = FileRecord.id(of: "a", in: CKRecordZone.ID(zoneName: "Z"))
        entry.remember(CKRecord(recordType: FileRecord.type, recordID: id), version: "v1")
        entry.answered()
        #expect(entry.differs(from: nil) && !entry.differs(from: "v1"))
    }
}
