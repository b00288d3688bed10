// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

@Suite struct SyncEngineJournalTests {
    private typealias Entry = SyncEngineJournalEntry

    private func put(_ changes: String...) -> Entry { Entry(put: changes.map { Entry.Change(change($0)) }) }
    private func drop(_ paths: String...) -> Entry { Entry(drop: paths.map { Entry.Change(recordID($0)) }) }

    private func text(_ contents: SyncEngineJournalContents) -> [String] {
        contents.zones.elements.map(\.text) + contents.records.elements.map(\.text)
    }

    private var entries: [Entry] {
        [
            Entry(begin: .init(id: "j", user: "_alice"), put: [Entry.Change(zoneChange("A"))]),
            put("A/1", "-A/2"), put("A/\n\"ü"), drop("A/1"), put("A/2"),
            Entry(put: [Entry.Change(.saveRecord(shared))], drop: [Entry.Change(zone("A"))]),
        ]
    }

    private var shared: CKRecord.ID {
        CKRecord.ID(recordName: "3", zoneID: CKRecordZone.ID(zoneName: "B", ownerName: "_bob"))
    }

    @Test func `R-517: a journal says what is pending, line by line`() throws {
        var contents = SyncEngineJournalContents()
        let steps = [
            ["A"], ["A", "A/1", "-A/2"], ["A", "A/1", "-A/2", "A/\n\"ü"], ["A", "-A/2", "A/\n\"ü"],
            ["A", "A/\n\"ü", "A/2"], ["A/\n\"ü", "A/2", "B/3"],
        ]
        for (entry, expected) in zip(entries, steps) {
            contents.apply(entry)
            #expect(text(contents) == expected)
        }
        #expect(contents.owner == .user("_alice") && contents.id == "j")
        #expect(contents.records.elements.last?.recordID == shared)
        let summary = try SyncEngineJournalContents(bytes: contents.summary(id: "j").line())
        #expect(text(summary) == steps[5] && summary.owner == .user("_alice"))
    }

    @Test func `R-517: a journal that is cut at any byte says what its whole lines say`() throws {
        let lines = entries.map { $0.line() }
        let bytes = lines.flatMap(\.self)
        var states: [(end: Int, text: [String])] = [(0, [])]
        var contents = SyncEngineJournalContents()
        for (line, entry) in zip(lines, entries) {
            contents.apply(entry)
            states.append((states[states.count - 1].end + line.count, text(contents)))
        }
        for length in 0...bytes.count {
            let found = text(try SyncEngineJournalContents(bytes: Array(bytes.prefix(length))))
            // A line that lacks only its newline is whole.
            let expected = states.last { $0.end == 0 || $0.end <= length + 1 }?.text
            #expect(found == expected, "\(length) of \(bytes.count)")
        }
    }

    @Test func `R-517: whatever byte of a journal is damaged, the other lines hold`() throws {
        let lines = entries.map { $0.line() }
        let bytes = lines.flatMap(\.self)
        for index in bytes.indices {
            for damage in [UInt8(0), bytes[index] ^ 1, UInt8(ascii: "\n")] where damage != bytes[index] {
                var damaged = bytes
                damaged[index] = damage
                let contents = try SyncEngineJournalContents(bytes: damaged)
                #expect(contents.records.elements.count <= 5)
                let end = lines[0].count + lines[1].count + lines[2].count
                if index < end, index > lines[0].count { #expect(contents.records.contains(change("A/2")), "\(index)") }
            }
        }
    }

    @Test func `R-525: a journal of a later version is not taken for an empty one`() throws {
        var begin = Entry.Beginning(id: "j", user: nil)
        begin.version = 2
        let line = Entry(begin: begin).line()
        #expect(throws: Entry.Damage.version) { try SyncEngineJournalContents(bytes: line) }
        let directory = try TestDirectory()
        defer { directory.remove() }
        let url = URL(fileURLWithPath: "\(directory.path)/journal")
        try Data(line).write(to: url)
        var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
        let journal = SyncEngineJournal(url, restoring: &snapshot)
        #expect(journal.error?.localizedDescription.contains("later version") == true)
        journal.append([put("A/1")])
        #expect(journal.error != nil && !journal.isOpen)
        #expect(try Data(contentsOf: url) == Data(line), "left alone")
        journal.release()
    }

    // MARK: The file

    private func withFile(_ body: (URL) throws -> Void) throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try body(URL(fileURLWithPath: "\(directory.path)/deep/journal"))
    }

    private func reading(_ url: URL) throws -> SyncEngineJournalContents {
        try SyncEngineJournalContents(bytes: [UInt8](try Data(contentsOf: url)))
    }

    private func lines(_ url: URL) throws -> [String] { text(try reading(url)) }

    @Test func `R-517: state and journal are brought together`() throws {
        let cases: [(state: [String], knows: Bool, journal: [String], expected: [String])] = [
            // What the state has was sent since: the journal knows better.
            (["A/1", "A/2"], true, ["A/2"], ["A/2"]),
            // The state is older than the journal's last lines.
            (["A/1"], true, ["A/1", "A/3"], ["A/1", "A/3"]),
            (["A/1"], true, ["-A/1"], ["-A/1"]),
            // The state is of a time without the journal.
            (["A/1"], false, ["A/2"], ["A/1", "A/2"]),
            (["A/1", "A/2"], false, ["-A/1"], ["A/2", "-A/1"]),
            ([], false, ["A/1"], ["A/1"]),
        ]
        for (state, knows, journal, expected) in cases {
            try withFile { (url: URL) throws in
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                let entry = Entry(begin: .init(id: "j", user: "_alice"), put: journal.map { Entry.Change(change($0)) })
                try Data(entry.line()).write(to: url)
                var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
                snapshot.journalID = knows ? "j" : nil
                snapshot.inFlightRecords = state.prefix(1).map(change)
                snapshot.pendingRecords = KeyedList(state.dropFirst().map(change))
                let opened = SyncEngineJournal(url, restoring: &snapshot)
                #expect(snapshot.pendingRecords.elements.map(\.text) == expected)
                #expect(snapshot.inFlightRecords == [] && opened.error == nil && opened.id == "j")
                #expect(try lines(url) == expected, "written anew, so that all of it is whole")
                opened.release()
            }
        }
    }

    @Test func `R-517: a file that is mostly out of date is written anew`() throws {
        try withFile { (url: URL) throws in
            var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
            let journal = SyncEngineJournal(url, restoring: &snapshot)
            for round in 0..<2_000 {
                journal.append([put("A/\(round)"), drop("A/\(round - 1)")])
            }
            journal.sync()
            let size = try #require(try FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int)
            #expect(size < 100_000)
            #expect(try lines(url) == ["A/1999"])
            journal.release()
        }
    }

    @Test func `two engines do not share a journal, one after the other may`() throws {
        try withFile { (url: URL) throws in
            var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
            let one = SyncEngineJournal(url, restoring: &snapshot)
            one.append([put("A/1")])
            var other = snapshot
            let two = SyncEngineJournal(url, restoring: &other)
            #expect(two.error?.localizedDescription.contains("in use") == true)
            two.append([put("A/2")])
            #expect(try lines(url) == ["A/1"])
            one.release()
            var newer = other
            newer.pendingRecords.add(change("-A/1"))
            let three = SyncEngineJournal(url, restoring: &other)
            #expect(three.error == nil && other.pendingRecords.elements.map(\.text) == ["A/1"])
            three.release()
            // R-511: the engine that could not open the journal went on, and its state is newer.
            let four = SyncEngineJournal(url, restoring: &newer)
            #expect(four.error == nil && newer.pendingRecords.elements.map(\.text) == ["-A/1"])
            four.release()
        }
    }

    @Test func `a journal that cannot be written says so, and is whole again when it can`() throws {
        try withFile { (url: URL) throws in
            var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
            let files = TestJournalFiles()
            let journal = SyncEngineJournal(url, restoring: &snapshot, files: files)
            // A directory in the place of the new file: works for root as well.
            try FileManager.default.createDirectory(
                atPath: url.path + ".new", withIntermediateDirectories: true)
            files.failsNextWrite = true
            for path in ["A/1", "A/2"] {
                journal.append([put(path)])
                #expect(journal.error != nil)
            }
            try FileManager.default.removeItem(atPath: url.path + ".new")
            journal.append([put("A/3")])
            #expect(journal.error == nil)
            #expect(try lines(url) == ["A/1", "A/2", "A/3"])
            journal.release()
        }
    }

    // MARK: An engine with a journal

    private func configuration(
        _ cloud: FakeCloud, _ delegate: RecordingDelegate, _ url: URL, state: CKSyncEngine.State.Serialization? = nil,
        files: any JournalFiles = JournalDisk()
    ) -> CKSyncEngine.Configuration {
        var configuration = CKSyncEngine.Configuration.on(cloud, delegate, state: state)
        configuration.journalFile = url
        configuration.host?.journalFiles = files
        return configuration
    }

    @Test func `R-603: what is added or removed is in the file when the call returns, without any state update`() throws
    {
        try withFile { (url: URL) throws in
            let scheduler = ManualScheduler()
            let delegate = RecordingDelegate()
            let engine = CKSyncEngine(configuration(FakeCloud(FakeServer(), scheduler), delegate, url))
            engine.state.add(pendingRecordZoneChanges: [change("A/1"), change("-A/2")])
            engine.state.add(pendingDatabaseChanges: [zoneChange("A"), zoneChange("-B")])
            #expect(try lines(url) == ["A", "-B", "A/1", "-A/2"])
            engine.state.remove(pendingRecordZoneChanges: [change("-A/2")])
            engine.state.remove(pendingDatabaseChanges: [zoneChange("-B")])
            #expect(try lines(url) == ["A", "A/1"])
            #expect(delegate.log == [] && engine.journalError == nil)
        }
    }

    @Test func `R-516, R-518: a change leaves the journal when the app has heard what became of it`() throws {
        try withFile { (url: URL) throws in
            let scheduler = ManualScheduler()
            let server = FakeServer()
            server.save(zone: zone("A"))
            server.save("2", in: zone("A"), value: "theirs")
            let delegate = RecordingDelegate()
            let cloud = FakeCloud(server, scheduler)
            let engine = CKSyncEngine(configuration(cloud, delegate, url))
            var seen: [[String]] = []
            delegate.onEvent = { event, engine in
                guard case .sentRecordZoneChanges(let sent) = event else { return }
                seen.append((try? self.reading(url)).map(self.text) ?? [])
                // The app wants one of its failed saves once more, while it is told.
                let again = sent.failedRecordSaves.map(\.record.recordID).filter { $0 == recordID("A/2") }
                engine.state.add(pendingRecordZoneChanges: again.map { .saveRecord($0) })
            }
            for path in ["A/1", "A/2"] { delegate.save(path, in: engine) }
            #expect(throws: CKError.self) { try scheduler.complete { try await engine.sendChanges() } }
            #expect(seen == [["A/1", "A/2"]])
            #expect(try lines(url) == ["A/2"])
            #expect(engine.state.pendingRecordZoneChanges == [change("A/2")])
        }
    }

    @Test func `R-517: an engine goes on from an old state and the journal`() throws {
        try withFile { (url: URL) throws in
            let scheduler = ManualScheduler()
            let server = FakeServer()
            server.save(zone: zone("A"))
            let delegate = RecordingDelegate()
            var states: [CKSyncEngine.State.Serialization] = []
            do {
                let engine = CKSyncEngine(configuration(FakeCloud(server, scheduler), delegate, url))
                delegate.save("A/1", in: engine)
                scheduler.advance(by: .seconds(1))
                states.append(try #require(delegate.lastState))
                try scheduler.complete { try await engine.sendChanges() }
                delegate.save("A/2", in: engine)
            }
            for state in [nil, states[0]] {
                let engine = CKSyncEngine(
                    configuration(FakeCloud(server, scheduler), delegate, url, state: state))
                // Sent long ago: the old state thinks that it is still pending, the journal knows.
                #expect(engine.state.pendingRecordZoneChanges == [change("A/2")])
            }
        }
    }

    /// As an app that has stored it reads it again.
    private func stored(_ state: CKSyncEngine.State.Serialization?) throws -> CKSyncEngine.State.Serialization {
        try JSONDecoder().decode(
            CKSyncEngine.State.Serialization.self, from: JSONEncoder().encode(try #require(state)))
    }

    private struct Place {
        let scheduler = ManualScheduler()
        let delegate = RecordingDelegate()
        let cloud: FakeCloud

        init(_ user: CKRecord.ID?) {
            cloud = FakeCloud(FakeServer(), scheduler)
            cloud.user = .success(user)
        }
    }

    @Test func `R-517: an engine that cannot have its journal keeps what its state has`() throws {
        try withFile { (url: URL) throws in
            var other = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
            let holder = SyncEngineJournal(url, restoring: &other)
            holder.append([put("A/2")])
            var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
            (snapshot.user, snapshot.journalID) = (user("alice"), holder.id)
            snapshot.pendingRecords = KeyedList([change("A/1")])
            let place = Place(user("alice"))
            let state = try stored(.init(snapshot: snapshot))
            let engine = CKSyncEngine(configuration(place.cloud, place.delegate, url, state: state))
            place.scheduler.advance(by: .seconds(1))
            engine.state.add(pendingRecordZoneChanges: [change("A/3")])
            place.scheduler.advance(by: .seconds(1))
            #expect(engine.journalError != nil)
            #expect(engine.state.pendingRecordZoneChanges == [change("A/1"), change("A/3")])
            #expect(try stored(place.delegate.lastState).snapshot.pendingRecords.elements.count == 2)
            holder.release()
        }
    }

    @Test func `R-517: a state that was stored while the journal could not be written counts alone`() throws {
        try withFile { (url: URL) throws in
            let place = Place(user("alice"))
            let blocked = url.path + ".new"
            let files = TestJournalFiles()
            do {
                let engine = CKSyncEngine(configuration(place.cloud, place.delegate, url, files: files))
                place.scheduler.advance(by: .seconds(1))
                engine.state.add(pendingRecordZoneChanges: [change("A/1"), change("A/2")])
                try FileManager.default.createDirectory(atPath: blocked, withIntermediateDirectories: true)
                files.failsNextWrite = true
                engine.state.remove(pendingRecordZoneChanges: [change("A/1")])
                engine.state.add(pendingRecordZoneChanges: [change("A/3")])
                #expect(engine.journalError != nil)
                place.scheduler.advance(by: .seconds(1))
            }
            #expect(try lines(url) == ["A/1", "A/2"])
            try FileManager.default.removeItem(atPath: blocked)
            var state = try stored(place.delegate.lastState)
            do {
                let engine = CKSyncEngine(configuration(place.cloud, place.delegate, url, state: state))
                #expect(engine.state.pendingRecordZoneChanges == [change("A/2"), change("A/3")])
                #expect(engine.journalError == nil)
                // Written anew: from here on the journal counts again, also beside that state.
                engine.state.add(pendingRecordZoneChanges: [change("A/4")])
            }
            let engine = CKSyncEngine(configuration(place.cloud, place.delegate, url, state: state, files: files))
            #expect(engine.state.pendingRecordZoneChanges.contains(change("A/4")))
            // Within the life of an engine, too.
            try FileManager.default.createDirectory(atPath: blocked, withIntermediateDirectories: true)
            files.failsNextWrite = true
            engine.state.add(pendingRecordZoneChanges: [change("A/5")])
            place.scheduler.advance(by: .seconds(1))
            state = try stored(place.delegate.lastState)
            try FileManager.default.removeItem(atPath: blocked)
            engine.state.add(pendingRecordZoneChanges: [change("A/6")])
            #expect(engine.journalError == nil)
            engine.driver.stop()
            let next = CKSyncEngine(configuration(place.cloud, place.delegate, url, state: state))
            #expect(next.state.pendingRecordZoneChanges.suffix(2) == [change("A/5"), change("A/6")])
        }
    }

    @Test func `R-517: a journal that an app went without for a while does not come back`() throws {
        try withFile { (url: URL) throws in
            var place = Place(user("alice"))
            do {
                let engine = CKSyncEngine(configuration(place.cloud, place.delegate, url))
                place.scheduler.advance(by: .seconds(1))
                engine.state.add(pendingRecordZoneChanges: [change("A/1")])
                place.scheduler.advance(by: .seconds(1))
            }
            var state = try stored(place.delegate.lastState)
            for name in ["alice", "bob"] {
                place = Place(user(name))
                do {
                    let engine = CKSyncEngine(
                        CKSyncEngine.Configuration.on(place.cloud, place.delegate, state: state))
                    place.scheduler.advance(by: .seconds(1))
                    engine.state.remove(pendingRecordZoneChanges: [change("A/1")])
                    engine.state.add(pendingRecordZoneChanges: [change("-A/1"), change("A/\(name)")])
                    place.scheduler.advance(by: .seconds(1))
                }
                state = try stored(place.delegate.lastState)
                let expected = state.snapshot.pendingRecords.elements
                #expect(expected.suffix(1) == [change("A/\(name)")] && expected.contains(change("-A/1")))
            }
            let engine = CKSyncEngine(configuration(place.cloud, place.delegate, url, state: state))
            place.scheduler.advance(by: .seconds(1))
            #expect(engine.state.pendingRecordZoneChanges == state.snapshot.pendingRecords.elements)
            #expect(try lines(url) == state.snapshot.pendingRecords.elements.map(\.text))
        }
    }

    @Test func `R-563: what is for one user is never joined with what is for another`() throws {
        try withFile { (url: URL) throws in
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            let entry = Entry(begin: .init(id: "j", user: "_alice"), put: [Entry.Change(change("A/1"))])
            try Data(entry.line()).write(to: url)
            var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
            snapshot.user = user("bob")
            snapshot.pendingRecords = KeyedList([change("-A/2")])
            let journal = SyncEngineJournal(url, restoring: &snapshot)
            #expect(snapshot.pendingRecords.elements == [change("-A/2")])
            #expect(snapshot.pendingOwner == .user("_bob"))
            #expect(try lines(url) == ["-A/2"])
            #expect(try unsent(url) == ["_alice A/1"], "kept for her")
            journal.release()
        }
    }

    private func unsent(_ url: URL) throws -> [String] {
        try reading(url).unsent.map { "\($0.owner.userName ?? "-") " + words($0.records.elements.map(\.text)) }
    }

    @Test func `R-563: what an account leaves is in the journal until the app has handled the event that tells of it`()
        throws
    {
        try withFile { (url: URL) throws in
            let place = Place(user("alice"))
            var state: CKSyncEngine.State.Serialization?
            do {
                let engine = CKSyncEngine(configuration(place.cloud, place.delegate, url))
                place.scheduler.advance(by: .seconds(1))
                engine.state.add(pendingRecordZoneChanges: [change("A/1")])
                place.scheduler.advance(by: .seconds(1))
                state = try stored(place.delegate.lastState)
            }
            /// Starts with whoever is there, and ends while the app is told, or when it was told.
            var atCrash: Data?
            func start(_ name: String, _ file: Data?) throws -> [String] {
                if let file { try file.write(to: url) }
                let place = Place(user(name))
                var events: [String] = []
                place.delegate.onEvent = { event, _ in
                    guard case .accountChange(let change) = event else { return }
                    atCrash = try? Data(contentsOf: url)
                    events.append(words([event.text] + change.unsentRecordZoneChanges.map(\.text)))
                }
                let engine = CKSyncEngine(configuration(place.cloud, place.delegate, url, state: state))
                place.scheduler.advance(by: .seconds(1))
                return events + engine.state.pendingRecordZoneChanges.map { "pending \($0.text)" }
            }
            #expect(try start("bob", nil) == ["accountChange switch _alice _bob A/1"])
            #expect(try unsent(url) == [] && lines(url) == [])
            let file = try #require(atCrash)
            // The process ended before the app had stored what it was told of.
            #expect(try start("bob", file) == ["accountChange switch _alice _bob A/1"])
            #expect(try start("carol", file) == ["accountChange switch _alice _carol A/1"])
            #expect(try start("alice", file) == ["pending A/1"])
            #expect(try unsent(url) == [] && lines(url) == ["A/1"])
        }
    }

    @Test func `R-563, R-564: a journal has one account's changes, also if the process ends within an account change`()
        throws
    {
        // Who the state says, whose changes the journal has, who is there now: are the journal's changes kept?
        let cases: [(state: String?, journal: String?, now: String?, isKept: Bool)] = [
            ("alice", "alice", "alice", true), ("alice", "alice", "bob", false), ("alice", "alice", nil, false),
            // The app was told of bob, who added something; then the process ended.
            ("alice", "bob", "bob", true), ("alice", "bob", "alice", false), ("alice", "bob", "carol", false),
            (nil, "alice", "alice", true), (nil, "alice", "bob", false),
            // Queued while nobody was signed in.
            (nil, nil, "alice", true), ("alice", nil, nil, true), ("alice", nil, "bob", true),
        ]
        for (state, owner, now, isKept) in cases {
            try withFile { (url: URL) throws in
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                let entry = Entry(
                    begin: .init(id: "j", user: owner.map { "_\($0)" }), put: [Entry.Change(change("A/1"))])
                try Data(entry.line()).write(to: url)
                let scheduler = ManualScheduler()
                let cloud = FakeCloud(FakeServer(), scheduler)
                cloud.user = .success(now.map(user))
                var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
                snapshot.journalID = "j"
                snapshot.user = state.map(user)
                let delegate = RecordingDelegate()
                let engine = CKSyncEngine(configuration(cloud, delegate, url, state: .init(snapshot: snapshot)))
                scheduler.advance(by: .seconds(1))
                let name = "\(state ?? "-") \(owner ?? "-") \(now ?? "-")"
                #expect(engine.state.pendingRecordZoneChanges == (isKept ? [change("A/1")] : []), "\(name)")
                let contents = try reading(url)
                #expect(text(contents) == (isKept ? ["A/1"] : []), "\(name)")
                #expect(contents.owner == SyncEnginePendingOwner(now.map(user)), "\(name)")
            }
        }
    }

    @Test func `R-520, R-603: the flag of untracked changes is in the file once set, and counts at a start`() throws {
        try withFile { (url: URL) throws in
            let place = Place(user("alice"))
            var states: [CKSyncEngine.State.Serialization?] = [nil]
            let files = TestJournalFiles()
            do {
                let engine = CKSyncEngine(configuration(place.cloud, place.delegate, url, files: files))
                #expect(try reading(url).untracked == false)
                place.scheduler.advance(by: .seconds(1))
                states.append(try stored(place.delegate.lastState))
                engine.state.hasPendingUntrackedChanges = true
                #expect(try reading(url).untracked == true)
                // Written anew, it says the same.
                files.failsNextWrite = true
                for path in ["A/0", "A/1"] { engine.state.add(pendingRecordZoneChanges: [change(path)]) }
                #expect(engine.journalError == nil)
                #expect(try reading(url).untracked == true)
            }
            for state in states {
                let engine = CKSyncEngine(configuration(place.cloud, place.delegate, url, state: state))
                #expect(engine.state.hasPendingUntrackedChanges)
            }
            do {
                let engine = CKSyncEngine(configuration(place.cloud, place.delegate, url, state: states[1]))
                engine.state.add(pendingRecordZoneChanges: [change("A/2")])
                place.scheduler.advance(by: .seconds(1))
                states.append(try stored(place.delegate.lastState))
                #expect(states[2]?.snapshot.hasUntrackedChanges == true)
                place.delegate.onAsk = { $0.state.remove(pendingRecordZoneChanges: $0.state.pendingRecordZoneChanges) }
                try place.scheduler.complete { try await engine.sendChanges() }
                #expect(!engine.state.hasPendingUntrackedChanges)
                #expect(try reading(url).untracked == false, "the delegate had no more")
            }
            // An old state thinks that there is something; the journal knows.
            let engine = CKSyncEngine(configuration(place.cloud, place.delegate, url, state: states[2]))
            #expect(!engine.state.hasPendingUntrackedChanges)
        }
    }

    @Test func `R-520, R-524: a journal that says nothing of untracked changes leaves the state's word`() throws {
        for isUntracked in [true, false] {
            try withFile { (url: URL) throws in
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(Entry(begin: .init(id: "j", user: "_alice")).line()).write(to: url)
                var snapshot = SyncEngineSnapshot(deviceIdentity: Array(0..<16))
                (snapshot.user, snapshot.journalID, snapshot.hasUntrackedChanges) = (user("alice"), "j", isUntracked)
                let journal = SyncEngineJournal(url, restoring: &snapshot)
                #expect(snapshot.hasUntrackedChanges == isUntracked)
                #expect(try reading(url).untracked == isUntracked)
                journal.release()
            }
        }
    }

    @Test func `R-563, R-564: the flag of untracked changes is one account's, as what is pending`() throws {
        for (owner, now, isKept) in [("alice", "alice", true), ("alice", "bob", false), (nil, "bob", true)] {
            try withFile { (url: URL) throws in
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                let entry = Entry(begin: .init(id: "j", user: owner.map { "_\($0)" }), untracked: true)
                try Data(entry.line()).write(to: url)
                let place = Place(user(now))
                let engine = CKSyncEngine(configuration(place.cloud, place.delegate, url))
                place.scheduler.advance(by: .seconds(1))
                #expect(engine.state.hasPendingUntrackedChanges == isKept, "\(owner ?? "-") \(now)")
                #expect(try reading(url).untracked == isKept, "\(owner ?? "-") \(now)")
            }
        }
    }

    @Test func `R-521, R-517: what was never pending and is in flight is in the journal, too`() throws {
        try withFile { (url: URL) throws in
            let harness = MachineHarness.started()
            harness.machine.beginJournal(id: "j", at: harness.moment)
            var contents = SyncEngineJournalContents()
            harness.holds = { $0.isRecords }
            harness.batch = { _ in .init(recordsToSave: [harness.record("A/1")], recordIDsToDelete: [recordID("A/2")]) }
            harness.send()
            harness.run()
            for entry in harness.machine.takeJournalEntries() { contents.apply(entry) }
            #expect(text(contents) == ["A/1", "-A/2"])
        }
    }
}
