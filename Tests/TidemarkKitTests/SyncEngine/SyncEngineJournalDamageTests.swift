// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

/// A journal of which some lines cannot be read any more.
@Suite struct SyncEngineJournalDamageTests {
    private typealias Entry = SyncEngineJournalEntry

    private func put(_ path: String) -> Entry { Entry(put: [Entry.Change(change(path))]) }
    private func drop(_ path: String) -> Entry { Entry(drop: [Entry.Change(recordID(path))]) }

    private func read(_ url: URL) throws -> SyncEngineJournalContents {
        try SyncEngineJournalContents(bytes: [UInt8](Data(contentsOf: url)))
    }

    private func pending(_ contents: SyncEngineJournalContents) -> Set<String> {
        Set(contents.records.elements.map(\.text))
    }

    @Test
    func `R-517: a damaged line in a journal takes nothing from the state, and the file is kept`()
        throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let url = URL(fileURLWithPath: "\(directory.path)/journal")
        // The state has all of it but what came last.
        let stored = ["A/2", "A/3"]
        let entries = [
            Entry(begin: .init(id: "j", user: "_alice"), put: [Entry.Change(change("A/1"))]), put("A/2"),
            drop("A/1"),
            put("A/3"), put("A/4"),
        ]
        for index in entries.indices {
            var lines = entries.map { $0.line() }
            lines[index][lines[index].count / 2] ^= 1
            let bytes = lines.flatMap(\.self)
            try Data(bytes).write(to: url)
            var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
            (snapshot.user, snapshot.journalID) = (user("alice"), "j")
            snapshot.pendingRecords = KeyedList(stored.map(change))
            let journal = SyncEngineJournal(url, restoring: &snapshot)
            let found = Set(snapshot.pendingRecords.elements.map(\.text))
            let others = entries.indices.filter { $0 != index }.map { entries[$0] }
            var whole = SyncEngineJournalContents()
            for entry in others { whole.apply(entry) }
            #expect(found == Set(stored).union(pending(whole)), "\(index)")
            #expect(try pending(read(url)) == found && read(url).damagedLineCount == 0)
            #expect(journal.error == nil && snapshot.pendingOwner == .user("_alice"))
            journal.release()
            let kept = url.path + (index == 0 ? ".damaged" : ".damaged-\(index + 1)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: kept)) == Data(bytes), "as it was")
        }
    }

    @Test func `R-517: a journal that only ends too early is not damaged`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let url = URL(fileURLWithPath: "\(directory.path)/journal")
        let begin = Entry(begin: .init(id: "j", user: "_alice"), put: [Entry.Change(change("A/1"))])
            .line()
        let line = put("A/2").line()
        for length in 0..<line.count {
            // What a machine leaves that ends before all of it is on the disk.
            for tail in [[], [UInt8](repeating: 0, count: 16)] {
                try Data(begin + line.prefix(length) + tail).write(to: url)
                var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
                (snapshot.user, snapshot.journalID) = (user("alice"), "j")
                snapshot.pendingRecords = KeyedList([change("A/9")])
                SyncEngineJournal(url, restoring: &snapshot).release()
                #expect(
                    !snapshot.pendingRecords.contains(change("A/9")), "the journal knows that it was sent")
                #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).count == 2)
            }
        }
    }

    @Test func `R-563: with a damaged line, too, nobody's changes are joined with another's`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let url = URL(fileURLWithPath: "\(directory.path)/journal")
        // Bob's beginning cannot be read any more.
        var begin = Entry(begin: .init(id: "j", user: "_bob"), put: []).line()
        begin[20] ^= 1
        let alices = Entry(begin: .init(id: "j", user: "_alice"), put: [Entry.Change(change("A/1"))])
            .line()
        try Data(alices + begin + put("A/2").line()).write(to: url)
        var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
        (snapshot.user, snapshot.journalID) = (user("bob"), "j")
        snapshot.pendingRecords = KeyedList([change("A/3")])
        SyncEngineJournal(url, restoring: &snapshot).release()
        #expect(
            snapshot.pendingRecords.elements == [change("A/3")] && snapshot.pendingOwner == .user("_bob"))
        // The app is told of the rest with the next change of accounts.
        #expect(snapshot.unsent.map { $0.records.elements } == [[change("A/1"), change("A/2")]])
    }
}
