// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields
import TidemarkTestSupport

@testable import TidemarkKit

/// Values of one field before, on the server and on the client; nil: none.
private typealias Case = (before: Int?, theirs: Int?, ours: Int?)

@Suite struct TidemarkMergeTests {
    private let id = recordID("A/1")

    /// A record as the server gives it.
    private func stored(_ values: [String: any CKRecordValue], secrets: [String: any CKRecordValue] = [:], at: Int64)
        -> CKRecord
    {
        let record = CKRecord(recordType: "Note", recordID: id)
        for (key, value) in values { record[key] = value }
        for (key, value) in secrets { record.encryptedValues[key] = value }
        let fields = (try? record.changes(all: true).fields) ?? FieldMap()
        return CKRecord(
            recordID: id, recordType: "Note", fields: fields,
            metadata: ServerMetadata(tag: [UInt8(truncatingIfNeeded: at)], createdAt: 0, modifiedAt: at))
    }

    /// What happens in life: the client fetched a record and changed it, the server has another one by now.
    private func conflict(
        before: [String: Int?], theirs: [String: Int?], ours: [String: Int?], isEncrypted: Bool = false
    ) -> CKError {
        func record(_ values: [String: Int?], _ time: Int64) -> CKRecord {
            let present = values.compactMapValues { $0 as (any CKRecordValue)? }
            return isEncrypted ? stored([:], secrets: present, at: time) : stored(present, at: time)
        }
        let client = record(before, 1)
        for (key, value) in ours where value != before[key] ?? nil {
            if isEncrypted { client.encryptedValues[key] = value } else { client[key] = value }
        }
        return CKError(serverRecordChanged: record(theirs, 2_000), client: client)
    }

    private func value(_ record: CKRecord?, _ key: String, isEncrypted: Bool = false) -> Int? {
        isEncrypted ? record?.encryptedValues[key] : record?[key]
    }

    private static let states: [Int?] = [nil, 1, 2, 3]
    private static let cases: [Case] = states.flatMap { before in
        states.flatMap { theirs in states.map { (before, theirs, $0) } }
    }

    /// Written without looking at the merge: what a field is to be if only one side, or both alike, changed it.
    private func undisputed(_ values: Case) -> Int?? {
        if values.theirs == values.ours { return .some(values.ours) }
        if values.theirs == values.before { return .some(values.ours) }
        return values.ours == values.before ? .some(values.theirs) : nil
    }

    @Test(arguments: [false, true])
    func `R-113: a field has the value of who changed it, and the policy's if both did`(isEncrypted: Bool) {
        let policies: [(TidemarkMerge.Policy, (Case) -> Int?)] = [
            (.serverWins, { $0.theirs }), (.clientWins, { $0.ours }),
            (.newestEdit { _ in Date(timeIntervalSince1970: 3) }, { $0.ours }),
            (.newestEdit { _ in Date(timeIntervalSince1970: 1) }, { $0.theirs }),
            (.newestEdit { _ in Date(timeIntervalSince1970: 2) }, { $0.theirs }),
            // No lists: as if the server won.
            (.listElements, { $0.theirs }),
            (
                .custom { conflict in
                    let values = [conflict.ancestor, conflict.server, conflict.client].map { $0 as? Int ?? 0 }
                    return values[0] * 100 + values[1] * 10 + values[2]
                }, { ($0.before ?? 0) * 100 + ($0.theirs ?? 0) * 10 + ($0.ours ?? 0) }
            ),
            (.custom { _ in nil }, { _ in nil }),
        ]
        for values in Self.cases {
            let error = conflict(
                before: ["x": values.before], theirs: ["x": values.theirs], ours: ["x": values.ours],
                isEncrypted: isEncrypted)
            for (index, (policy, disputed)) in policies.enumerated() {
                let expected = undisputed(values) ?? disputed(values)
                for merge in [TidemarkMerge(policy), TidemarkMerge(.serverWins, fields: ["x": policy])] {
                    let merged = error.merged(by: merge)
                    #expect(value(merged, "x", isEncrypted: isEncrypted) == expected, "\(values) policy \(index)")
                    // What is the server's already is not sent.
                    #expect(merged?.changedKeys() == (expected == values.theirs ? [] : ["x"]), "\(values)")
                    #expect(merged?.recordChangeTag == error.serverRecord?.recordChangeTag)
                }
            }
        }
    }

    @Test func `R-113: changes of different fields both survive, whatever the policy; the others stay`() {
        for policy in [TidemarkMerge.Policy.serverWins, .clientWins, .listElements, .newest(by: "none")] {
            for isEncrypted in [false, true] {
                let error = conflict(
                    before: ["a": 1, "b": 1, "c": 1], theirs: ["a": 2, "b": 1, "c": 1, "d": 4],
                    ours: ["a": 1, "b": 3, "c": nil], isEncrypted: isEncrypted)
                let merged = error.merged(by: TidemarkMerge(policy))
                let found = ["a", "b", "c", "d"].map { value(merged, $0, isEncrypted: isEncrypted) }
                #expect(found == [2, 3, nil, 4])
                #expect(merged?.changedKeys() == ["b", "c"])
            }
        }
    }

    @Test func `R-113: merging is deterministic, leaves its records alone, and loses no field, for any records`() {
        var random = SeededRandom()
        let keys = ["a", "b", "c", "d"]
        for _ in 0..<500 {
            var values: [[String: Int?]] = [[:], [:], [:]]
            for index in values.indices {
                for key in keys { values[index][key] = Self.states.randomElement(using: &random) ?? nil }
            }
            let error = conflict(before: values[0], theirs: values[1], ours: values[2])
            let before = [error.serverRecord, error.clientRecord].map { ($0?.changedKeys(), $0?.allKeys()) }
            let policy = [TidemarkMerge.Policy.serverWins, .clientWins].randomElement(using: &random) ?? .serverWins
            let results = (0..<2).map { _ in error.merged(by: TidemarkMerge(policy)) }
            for key in keys {
                let now = value(results[0], key)
                let all = values.map { $0[key] ?? nil }
                #expect(now == value(results[1], key), "seed \(random.seed)")
                // Nobody's value appears, and none disappears that nobody removed.
                #expect(all[1...].contains(now), "seed \(random.seed)")
                if all[1] != nil, all[2] != nil { #expect(now != nil, "seed \(random.seed)") }
            }
            let after = [error.serverRecord, error.clientRecord].map { ($0?.changedKeys(), $0?.allKeys()) }
            #expect(before.elementsEqual(after, by: ==), "seed \(random.seed)")
        }
    }

    @Test func `the newest by a date of the app's: the later edit wins as a whole`() {
        func date(_ seconds: Double?) -> Date? { seconds.map { Date(timeIntervalSince1970: $0) } }
        let cases: [(theirs: Double?, ours: Double?, winner: String)] = [
            (2, 3, "ours"), (3, 2, "theirs"), (2, 2, "theirs"), (nil, 2, "ours"), (2, nil, "theirs"),
            (nil, nil, "theirs"),
        ]
        for (theirs, ours, winner) in cases {
            let client = stored(["text": "before"], at: 1)
            client["text"] = "ours"
            client["editedAt"] = date(ours)
            var values: [String: any CKRecordValue] = ["text": "theirs"]
            values["editedAt"] = date(theirs)
            let merged = CKError(serverRecordChanged: stored(values, at: 2), client: client)
                .merged(by: TidemarkMerge(.newest(by: "editedAt")))
            #expect(merged?["text"] as? String == winner, "\(theirs ?? 0) \(ours ?? 0)")
        }
    }

    @Test func `R-060: a value that only its way to the server has changed is not changed`() throws {
        let exact = Date(timeIntervalSince1970: 1.000_4)
        let client = stored(["when": exact], at: 1)
        client["when"] = exact
        let error = CKError(
            serverRecordChanged: stored(["when": Date(timeIntervalSince1970: 9)], at: 2), client: client)
        let merged = try #require(error.merged(by: TidemarkMerge(.clientWins)))
        #expect(merged["when"] as? Date == Date(timeIntervalSince1970: 9) && merged.changedKeys() == [])
    }

    @Test func `R-092: without an ancestor what differs is disputed, what one side has stays`() throws {
        let client = CKRecord(recordType: "Note", recordID: id)
        client["a"] = 1
        client["b"] = 2
        let server = stored(["a": 9, "c": 3], at: 1)
        for (policy, a) in [(TidemarkMerge.Policy.serverWins, 9), (.clientWins, 1)] {
            for ancestor in [nil, client.ancestor()] {
                let merged = TidemarkMerge(policy).merge(ancestor: ancestor, server: server, client: client)
                #expect(["a", "b", "c"].map { value(merged, $0) } == [a, 2, 3])
            }
        }
    }

    @Test(arguments: [false, true])
    func `R-063, R-092: what a client removes of a record of which it kept system fields is disputed`(isEncrypted: Bool)
    {
        func record(_ value: Int?, _ seconds: Double, _ tag: Int64) -> CKRecord {
            let date = Date(timeIntervalSince1970: seconds)
            var values: [String: any CKRecordValue] = isEncrypted ? [:] : ["editedAt": date]
            if !isEncrypted { values["x"] = value }
            var secrets: [String: any CKRecordValue] = isEncrypted ? ["editedAt": date] : [:]
            if isEncrypted { secrets["x"] = value }
            return stored(values, secrets: secrets, at: tag)
        }
        let cases: [(TidemarkMerge.Policy, editedAt: Double, expected: Int?)] = [
            (.serverWins, 3, 9), (.clientWins, 1, nil), (.newest(by: "editedAt"), 3, nil),
            (.newest(by: "editedAt"), 1, 9), (.newestEdit { _ in Date(timeIntervalSince1970: 3) }, 3, nil),
            (.newestEdit { _ in Date(timeIntervalSince1970: 1) }, 3, 9), (.custom { _ in nil }, 3, nil),
        ]
        for (index, (policy, editedAt, expected)) in cases.enumerated() {
            let server = record(9, 2, 2_000)
            let client = CKRecord(
                recordID: id, recordType: "Note", fields: FieldMap(),
                metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 1))
            let date = Date(timeIntervalSince1970: editedAt)
            if isEncrypted {
                client.encryptedValues["x"] = nil as Int?
                client.encryptedValues["editedAt"] = date
            } else {
                client["x"] = nil as Int?
                client["editedAt"] = date
            }
            for ancestor in [nil, client.ancestor()] {
                let merged = TidemarkMerge(policy).merge(ancestor: ancestor, server: server, client: client)
                #expect(value(merged, "x", isEncrypted: isEncrypted) == expected, "case \(index)")
                #expect(merged.changedKeys().contains("x") == (expected == nil), "case \(index)")
            }
            // The same removal is none, if it is known that there was nothing.
            let known = stored(["other": 1], at: 1)
            let merged = TidemarkMerge(policy).merge(ancestor: known, server: server, client: client)
            #expect(value(merged, "x", isEncrypted: isEncrypted) == 9, "case \(index)")
        }
    }

    @Test func `R-080: a parent that the client removed is disputed only if nobody knows what it was`() {
        func record(_ parent: String?, tag: [UInt8]?) -> CKRecord {
            guard let tag else { return CKRecord(recordType: "Note", recordID: id) }
            return CKRecord(
                recordID: id, recordType: "Note", fields: FieldMap(),
                metadata: ServerMetadata(tag: tag, createdAt: 0, modifiedAt: 1), parentName: parent)
        }
        let server = record("theirs", tag: [2])
        for (policy, disputed) in [(TidemarkMerge.Policy.clientWins, String?.none), (.serverWins, "theirs")] {
            let client = record(nil, tag: [1])
            client.parent = nil
            let merge = TidemarkMerge(policy)
            let unknown = merge.merge(ancestor: nil, server: server, client: client)
            #expect(unknown.parent?.recordID.recordName == disputed)
            let known = merge.merge(ancestor: record(nil, tag: [1]), server: server, client: client)
            #expect(known.parent?.recordID.recordName == "theirs")
        }
    }

    @Test func `the newest edit: each record of an event has a date of its own`() {
        let policy = TidemarkMerge.Policy.newestEdit { $0["editedAt"] as? Date ?? .distantPast }
        for (editedAt, winner) in [(3.0, 1), (1.0, 2)] {
            let client = stored(["x": 0], at: 1)
            client["x"] = 1
            client["editedAt"] = Date(timeIntervalSince1970: editedAt)
            let error = CKError(serverRecordChanged: stored(["x": 2], at: 2_000), client: client)
            #expect(value(error.merged(by: TidemarkMerge(policy)), "x") == winner)
        }
    }

    @Test func `R-067: a key that is encrypted on the server is not made plain`() {
        let client = stored([:], at: 1)
        client["x"] = 1
        let server = stored([:], secrets: ["x": 2], at: 2)
        let merged = CKError(serverRecordChanged: server, client: client).merged(by: TidemarkMerge(.clientWins))
        #expect(value(merged, "x") == nil && value(merged, "x", isEncrypted: true) == 2)
    }

    @Test func `R-080: the parent is merged as well`() {
        func reference(_ name: String?) -> CKRecord.Reference? {
            name.map { CKRecord.Reference(recordID: recordID("A/\($0)"), action: .none) }
        }
        let cases: [(before: String?, theirs: String?, ours: String?, expected: String?)] = [
            (nil, nil, "p", "p"), ("p", "q", "p", "q"), ("p", "p", nil, nil), ("p", "q", "r", "r"),
            ("p", "q", "q", "q"),
        ]
        for (before, theirs, ours, expected) in cases {
            func record(_ parent: String?, _ time: Int64) -> CKRecord {
                CKRecord(
                    recordID: id, recordType: "Note", fields: FieldMap(),
                    metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: time), parentName: parent)
            }
            let client = record(before, 1)
            client.parent = reference(ours)
            let merged = TidemarkMerge(.clientWins).merge(
                ancestor: record(before, 1), server: record(theirs, 2), client: client)
            #expect(merged.parent == reference(expected), "\(before ?? "") \(theirs ?? "") \(ours ?? "")")
        }
    }

    @Test func `R-080, R-113: a move of the client's survives the server's change of something else`() throws {
        func record(_ text: String, _ time: Int64) -> CKRecord {
            CKRecord(
                recordID: id, recordType: "Note", fields: stored(["text": text], at: time).originalFields,
                metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: time), parentName: "p0")
        }
        for parent in ["p1", nil] {
            let client = record("before", 1)
            client.setParent(parent.map { recordID("A/\($0)") })
            let error = CKError(serverRecordChanged: record("theirs", 2), client: client)
            let merged = try #require(error.merged())
            #expect(merged.parent?.recordID.recordName == parent && merged["text"] as? String == "theirs")
            let changes = try merged.changes(all: false)
            #expect(changes.parent == (parent.map { .set(recordName: $0) } ?? .removed))
        }
    }

    @Test func `only conflicts can be merged`() {
        #expect(CKError(.unknownItem).merged() == nil)
        #expect(CKError(.serverRecordChanged).merged() == nil)
    }

    @Test func `one line in handleEvent: what is merged is pending, what is the server's already is not`() throws {
        let scheduler = ManualScheduler()
        let server = FakeServer()
        server.save(zone: zone("A"))
        let delegate = RecordingDelegate()
        let engine = CKSyncEngine(.on(FakeCloud(server, scheduler), delegate))
        delegate.onEvent = { event, engine in
            guard case .sentRecordZoneChanges(let sent) = event else { return }
            for record in sent.savedRecords { delegate.records[record.recordID] = record }
            for record in sent.mergeConflicts(TidemarkMerge(.clientWins), engine) {
                delegate.records[record.recordID] = record
            }
        }
        // Nothing is left of the second: both gave it the same value.
        server.save("1", in: zone("A"), value: "theirs")
        server.save("2", in: zone("A"), value: "ours")
        delegate.save("A/1", "ours", in: engine)
        delegate.save("A/2", "ours", in: engine)
        #expect(throws: CKError.self) { try scheduler.complete { try await engine.sendChanges() } }
        #expect(engine.state.pendingRecordZoneChanges == [change("A/1")])
        try scheduler.complete { try await engine.sendChanges() }
        #expect(server.contents == ["A/1": "ours", "A/2": "ours"])
    }

    @Test func `R-511, R-516: a record that is deleted while its save is under way is not merged, and is deleted`()
        throws
    {
        let scheduler = ManualScheduler()
        let server = FakeServer()
        server.save(zone: zone("A"))
        let delegate = RecordingDelegate()
        let engine = CKSyncEngine(.on(FakeCloud(server, scheduler), delegate))
        var merged: [CKRecord.ID] = []
        delegate.onEvent = { event, engine in
            guard case .sentRecordZoneChanges(let sent) = event, !sent.failedRecordSaves.isEmpty else { return }
            engine.state.add(pendingRecordZoneChanges: [.deleteRecord(recordID("A/1"))])
            for record in sent.mergeConflicts(TidemarkMerge(.clientWins), engine) {
                delegate.records[record.recordID] = record
                merged.append(record.recordID)
            }
        }
        for name in ["1", "2"] {
            server.save(name, in: zone("A"), value: "theirs")
            delegate.save("A/\(name)", "ours", in: engine)
        }
        #expect(throws: CKError.self) { try scheduler.complete { try await engine.sendChanges() } }
        #expect(merged == [recordID("A/2")])
        #expect(engine.state.pendingRecordZoneChanges == [.deleteRecord(recordID("A/1")), change("A/2")])
        try scheduler.complete { try await engine.sendChanges() }
        #expect(server.contents == ["A/2": "ours"])
    }

    @Test func `R-516: a record that is edited while its save is under way keeps the newer edit`() throws {
        let scheduler = ManualScheduler()
        let server = FakeServer()
        server.save(zone: zone("A"))
        let delegate = RecordingDelegate()
        let engine = CKSyncEngine(.on(FakeCloud(server, scheduler), delegate))
        var conflicts = 0
        delegate.onEvent = { event, engine in
            guard case .sentRecordZoneChanges(let sent) = event, !sent.failedRecordSaves.isEmpty else { return }
            conflicts += 1
            if conflicts == 1 { delegate.save("A/1", "newer", in: engine) }
            for record in sent.mergeConflicts(TidemarkMerge(.clientWins), engine) {
                delegate.records[record.recordID] = record
            }
        }
        server.save("1", in: zone("A"), value: "theirs")
        delegate.save("A/1", "ours", in: engine)
        for _ in 0..<2 {
            #expect(throws: CKError.self) { try scheduler.complete { try await engine.sendChanges() } }
        }
        try scheduler.complete { try await engine.sendChanges() }
        #expect(server.contents == ["A/1": "newer"] && conflicts == 2)
    }
}

@Suite struct ListMergeTests {
    /// All lists of up to three of two elements.
    private static let lists: [[String]] = (0...3).reduce(into: [[]]) { lists, length in
        guard length > 0 else { return }
        lists += lists.filter { $0.count == length - 1 }.flatMap { [$0 + ["x"], $0 + ["y"]] }
    }

    private func merge(_ ancestor: [String], _ server: [String], _ client: [String]) -> [String] {
        ListMerge(ancestor: ancestor, server: server, client: client).elements
    }

    private func count(_ element: String, _ list: [String]) -> Int { list.count { $0 == element } }

    @Test func `additions of both are in the result, removals of both are not`() {
        let cases: [(ancestor: [String], server: [String], client: [String], expected: [String])] = [
            (["a", "b"], ["a", "b", "c"], ["d", "a", "b"], ["a", "b", "c", "d"]),
            (["a", "b", "c"], ["a", "c"], ["a", "b"], ["a"]),
            (["a"], [], ["a", "b"], ["b"]),
            ([], ["a"], ["a"], ["a"]),
            (["a", "a"], ["a"], ["a", "a", "a"], ["a", "a"]),
            (["b", "a"], ["a", "b"], ["b", "a", "c"], ["a", "b", "c"]),
        ]
        for (ancestor, server, client, expected) in cases {
            #expect(merge(ancestor, server, client) == expected, "\(ancestor) \(server) \(client)")
        }
    }

    @Test func `all short lists: one side's change is taken as it is, equal changes once, nothing comes from nowhere`()
    {
        #expect(Self.lists.count == 15)
        for ancestor in Self.lists {
            for server in Self.lists {
                // Whoever has not changed anything does not matter but for the order.
                #expect(merge(ancestor, server, ancestor) == server)
                #expect(merge(ancestor, ancestor, server).sorted() == server.sorted())
                #expect(merge(ancestor, server, server) == server)
                for client in Self.lists {
                    let merged = merge(ancestor, server, client)
                    for element in ["x", "y"] {
                        let counts = [ancestor, server, client].map { count(element, $0) }
                        let now = count(element, merged)
                        #expect(now == count(element, merge(ancestor, client, server)), "symmetry")
                        #expect(now <= max(counts[1], counts[2]), "\(ancestor) \(server) \(client)")
                        if counts[1] >= counts[0], counts[2] >= counts[0] {
                            #expect(now == max(counts[1], counts[2]), "\(ancestor) \(server) \(client)")
                        }
                        if counts[1] <= counts[0], counts[2] <= counts[0] {
                            #expect(now == min(counts[1], counts[2]), "\(ancestor) \(server) \(client)")
                        }
                    }
                }
            }
        }
    }

    @Test func `R-060: lists of a record, with dates to the bit`() {
        let dates = [1.000_4, 2.000_4].map { Date(timeIntervalSince1970: $0) }
        func record(_ list: [Date]) -> CKRecord {
            let record = CKRecord(recordType: "Note", recordID: recordID("A/1"))
            record["dates"] = list
            let fields = (try? record.changes(all: true).fields) ?? FieldMap()
            return CKRecord(
                recordID: record.recordID, recordType: "Note", fields: fields,
                metadata: ServerMetadata(tag: [1], createdAt: 0, modifiedAt: 0))
        }
        let client = record([dates[0]])
        client["dates"] = dates
        let error = CKError(serverRecordChanged: record([]), client: client)
        let merged = error.merged(by: TidemarkMerge(.serverWins, fields: ["dates": .listElements]))
        #expect(merged?["dates"] as? [Date] == [dates[1]])
    }

    /// A record as the server gives it, with the list as the values that the server has, and files where they are said to be.
    private func stored(_ list: FieldValue, files: [FieldAsset: URL] = [:], tag: UInt8) throws -> CKRecord {
        let record = CKRecord(
            recordID: recordID("A/1"), recordType: "Note", fields: try FieldMap([Field("list", list)]),
            metadata: ServerMetadata(tag: [tag], createdAt: 0, modifiedAt: Int64(tag)))
        record.place(files.mapValues { [$0] })
        return record
    }

    /// What came of a conflict, as it would be sent.
    private func merged(_ client: CKRecord, _ server: CKRecord) throws -> (list: [NSObject], sent: FieldValue?) {
        let error = CKError(serverRecordChanged: server, client: client)
        let merged = try #require(error.merged(by: TidemarkMerge(.serverWins, fields: ["list": .listElements])))
        let list = try #require(merged["list"] as? [NSObject])
        let entry = try merged.changes(all: true).fields.first { $0.key == "list" }
        return (list, try entry?.value())
    }

    @Test func `R-073, R-074: assets of a list are the same if their content is, wherever their files are`() throws {
        let assets = (0..<4).map { FieldAsset(sha256: [UInt8](repeating: $0, count: 32), byteCount: 1) }
        let files = Dictionary(
            uniqueKeysWithValues: assets.map { ($0, URL(fileURLWithPath: "/tmp/downloaded-\($0.sha256[0])")) })
        // The client, which has the files, removed the first; the server, whose record names none, lost the second and has
        // a new one.
        let client = try stored(.assets(Array(assets[0...2])), files: files, tag: 1)
        client["list"] = Array(try #require(client["list"] as? [CKAsset])[1...])
        let server = try stored(.assets([assets[0], assets[2], assets[3]]), tag: 2)
        let result = try merged(client, server)
        #expect(result.sent == .assets([assets[2], assets[3]]))
        // As the server's record has them.
        let theirs = try #require(server["list"] as? [CKAsset])
        #expect(result.list.count == 2 && result.list[0] === theirs[1] && result.list[1] === theirs[2])
    }

    @Test func `R-070: a file that was never saved is an element of its own`() throws {
        let asset = FieldAsset(sha256: [UInt8](repeating: 7, count: 32), byteCount: 1)
        let client = try stored(.assets([asset]), tag: 1)
        let file = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/new"))
        client["list"] = [file]
        let error = CKError(serverRecordChanged: try stored(.emptyList, tag: 2), client: client)
        let merge = TidemarkMerge(.serverWins, fields: ["list": .listElements])
        #expect(error.merged(by: merge)?["list"] as? [CKAsset] == [file])
    }

    @Test func `R-075: locations of a list are the same if the server stores them alike`() throws {
        let moment = Date(timeIntervalSinceReferenceDate: 1.000_4)
        func place(_ latitude: Double) throws -> FieldLocation {
            FieldLocation(
                latitude: latitude, longitude: 2, altitude: 3, horizontalAccuracy: 4, verticalAccuracy: 5, course: 6,
                speed: 7, timestamp: try #require(FieldDate(secondsSince2001: moment.timeIntervalSinceReferenceDate)))
        }
        let client = try stored(.emptyList, tag: 1)
        // Finer than a millisecond: as a device measures it, and keeps it in the record that it saved.
        func fine(_ latitude: Double) -> CLLocation {
            CLLocation(
                coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: 2), altitude: 3,
                horizontalAccuracy: 4,
                verticalAccuracy: 5, course: 6, speed: 7, timestamp: moment)
        }
        client["list"] = [fine(1), fine(2)]
        let saved = try client.changes(all: false)
        client.apply(ServerMetadata(tag: [2], createdAt: 0, modifiedAt: 2), savedBy: saved)
        client["list"] = [fine(2), fine(3)]
        let server = try stored(.locations([place(1), place(2), place(4)]), tag: 3)
        #expect(try merged(client, server).sent == .locations([place(2), place(4), place(3)]))
        // The next time it is the same as well.
        client["list"] = [fine(1), fine(2), fine(5)]
        let without = try stored(.locations([place(2)]), tag: 4)
        #expect(try merged(client, without).sent == .locations([place(2), place(5)]))
    }

    @Test func `R-076: references of a list are the same if target and action are`() throws {
        func reference(_ name: String, _ action: FieldReference.Action = .none) -> FieldReference {
            FieldReference(recordName: name, action: action)
        }
        let client = try stored(.references([reference("a"), reference("b")]), tag: 1)
        client["list"] = ["a", "c"].map { CKRecord.Reference(recordID: recordID("A/\($0)"), action: .none) }
        let server = try stored(
            .references([reference("b"), reference("a", .deleteSelf), reference("d")]), tag: 2)
        let expected = [reference("a", .deleteSelf), reference("d"), reference("c")]
        #expect(try merged(client, server).sent == .references(expected))
    }

    @Test func `numbers that are none are kept, and what was reordered is in the server's order`() throws {
        let client = try stored(.doubles([1, 2]), tag: 1)
        client["list"] = [2.0, 1.0, .nan]
        let result = try merged(client, try stored(.doubles([1, 2, 3]), tag: 2))
        let numbers = result.list.map { ($0 as? NSNumber)?.doubleValue ?? 0 }
        #expect(numbers.dropLast() == [1, 2, 3] && numbers.last?.isNaN == true)
    }
}
