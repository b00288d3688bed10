// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkFields
import TidemarkWire

@testable import TidemarkTranslation

@Suite struct ModifyRecordsTranslationTests {
    private func parts(_ change: (inout WireModifyRecords) -> Void) throws(Refusal) -> [RecordsPart] {
        var request = Examples.modifyRecords
        change(&request)
        return try RecordsPart.parts(of: request, by: Examples.viewpoint, limits: Examples.limits)
    }

    private func requests(_ change: (inout WireModifyRecords) -> Void = { _ in }) throws -> [RecordsRequest] {
        try parts(change).compactMap { if case .request(let request) = $0 { request } else { nil } }
    }

    @Test func `R-150: a request is cut into a part a zone, all with one id`() throws {
        let requests = try requests()
        #expect(requests.map(\.key.name) == ["notes", "lists"])
        #expect(requests.allSatisfy { $0.key.database == Examples.viewpoint.database })
        #expect(requests.map { $0.saves.map(\.name) } == [["a", "b"], []])
        #expect(requests.map(\.deletes) == [[], ["c"]])
        #expect(requests.allSatisfy { $0.isAtomic && $0.user == Examples.viewpoint.user })
        let id = RequestID(
            device: Examples.device, counter: 5, lowestUnanswered: 1)
        #expect(requests.allSatisfy { $0.id == id && $0.policy == .ifServerRecordUnchanged })
        #expect(requests.first?.saves.first?.fields == Examples.fields())
    }

    @Test func `R-723: a request that is read in steps has the same parts`() throws {
        var request = Examples.modifyRecords
        request.zones[0].saves = (0..<5).map { number in
            var save = request.zones[0].saves[0]
            save.name = "record \(number)"
            return save
        }
        let whole = try RecordsPart.parts(of: request, by: Examples.viewpoint, limits: Examples.limits)
        let saveBytes = request.zones[0].saves[0].fields.count
        for (bytesMax, stepCount) in [(1, 5), (saveBytes + 1, 3), (5 * saveBytes, 1)] {
            var reader = try RecordsPartsReader(request, by: Examples.viewpoint, limits: Examples.limits)
            var count = 1
            while try reader.read(bytesMax: bytesMax) { count += 1 }
            #expect(count == stepCount, "\(bytesMax)")
            let parts = try reader.finished().compactMap(\.request)
            let wanted = whole.compactMap(\.request)
            #expect(parts.map { $0.saves.map(\.name) } == wanted.map { $0.saves.map(\.name) })
            #expect(parts.map(\.deletes) == wanted.map(\.deletes) && parts.map(\.key) == wanted.map(\.key))
        }
    }

    @Test func `R-046: a tag comes back as it was given, none is none, and nonsense matches nothing`() throws {
        let tag = ChangeTag.version(store: Examples.viewpoint.store, zone: ZoneID(4), number: 17)
        func read(_ bytes: [UInt8]) throws -> ChangeTag? {
            try requests { $0.zones[0].saves[0].tag = [UInt8](bytes) }[0].saves[0].tag
        }
        #expect(try read(tag.bytes) == tag)
        #expect(try read([]) == nil)
        #expect(try read([1]) == .foreign)
        #expect(try read(Array(repeating: 0xFF, count: 3_000)) == .foreign)
    }

    @Test func `R-080: what a save does to the parent`() throws {
        func read(_ change: WireParentChange, _ name: String) throws -> ParentChange {
            try requests {
                $0.zones[0].saves[0].parentChange = change
                $0.zones[0].saves[0].parent = name
            }[0].saves[0].parent
        }
        #expect(try read(.parentUnchanged, "x") == .unchanged)
        #expect(try read(.parentSet, "x") == .set("x"))
        #expect(try read(.parentRemoved, "") == .removed)
        #expect(throws: Refusal.self) { try read(.parentSet, "") }
        #expect(throws: Refusal.self) { try read(.unrecognized(9), "x") }
    }

    @Test func `R-021: the stand-in and the own record name are the caller, others' zones are not found`() throws {
        for owner in ["", "__defaultOwner__", Examples.viewpoint.userRecordName] {
            #expect(try requests { $0.zones[0].zone.owner = owner }.count == 2)
        }
        let parts = try parts { $0.zones[0].zone.owner = "_somebody" }
        guard case .refused(.zoneNotFound, saveCount: 2, deleteCount: 0) = parts[0] else {
            Issue.record("not refused: \(parts[0])")
            return
        }
        #expect(parts.count == 2)
    }

    @Test func `R-042: fields that cannot be read fail their item alone`() throws {
        let saves = try requests { $0.zones[0].saves[0].fields.removeLast() }[0].saves
        #expect(saves.map(\.fieldsFailure) == [.fieldsInvalid, nil])
    }

    @Test func `a request that cannot be read is refused as a whole`() {
        let cases: [(String, FailureReason, (inout WireModifyRecords) -> Void)] = [
            (
                "no stamp", .requestInvalid,
                {
                    let zones = $0.zones
                    $0 = WireModifyRecords()
                    ($0.database, $0.zones) = (.private, zones)
                }
            ),
            ("counter 0", .requestInvalid, { $0.stamp.counter = 0 }),
            ("huge counter", .requestInvalid, { $0.stamp.counter = .max }),
            ("lowest above counter", .requestInvalid, { $0.stamp.lowestUnanswered = 6 }),
            ("unknown policy", .requestInvalid, { $0.policy = .unrecognized(7) }),
            ("R-155 items", .tooManyItems, { $0.zones[0].deletes = (0..<401).map { "d\($0)" } }),
            ("R-155 zones", .tooManyItems, { $0.zones = Array(repeating: WireZoneModifications(), count: 401) }),
            ("a zone twice", .itemRepeated, { $0.zones.append($0.zones[0]) }),
            ("R-116 an item twice", .itemRepeated, { $0.zones[0].deletes = ["a"] }),
            ("no zone name", .zoneNameInvalid, { $0.zones[0].zone.name = "" }),
            ("R-020 zone name", .zoneNameInvalid, { $0.zones[0].zone.name = "a\0b" }),
            (
                "R-155 bytes of one record", .requestTooLarge,
                { $0.zones[0].saves[0].fields = [UInt8](repeating: 1, count: 3_000_000) }
            ),
        ]
        for (name, reason, change) in cases {
            #expect(throws: Refusal.self, "\(name)") { try parts(change) }
            do { _ = try parts(change) } catch { #expect(error.code == reason, "\(name)") }
        }
    }

    @Test func `R-155: the refusal says how many items there were`() {
        do {
            _ = try parts { $0.zones[0].deletes = (0..<401).map { "d\($0)" } }
            Issue.record("not refused")
        } catch {
            #expect(
                error.description
                    == "Your request contains 404 items which is more than the maximum number of items in "
                    + "a single request (400)")
        }
    }

    @Test func `R-111: an answer holds what was saved and the record that is in the way, up to its bound`() throws {
        var limits = Examples.limits
        let record = Examples.record("b", number: 4)
        limits.answerBytesMax = record.fields.byteCount
        let metadata = RecordMetadata(
            zone: ZoneID(11), changeNumber: 3, createdAt: Timestamp(milliseconds: 5), createdBy: UserID(7),
            modifiedAt: Timestamp(milliseconds: 6), modifiedBy: UserID(7))
        let conflict = ItemFailure(.recordChanged, serverRecord: record, serverZone: ZoneID(11))
        var answer = RecordsAnswer(viewpoint: Examples.viewpoint, limits: limits)
        answer.append(
            RecordsOutcome(
                saves: [.saved(metadata), .failed(conflict), .failed(conflict)],
                deletes: [.deleted, .failed(ItemFailure(.stillParent))]))
        answer.append(.zoneNotFound, saveCount: 1, deleteCount: 2)
        let message = answer.message(77)
        let envelope = try WireServerEnvelope(reading: message)
        #expect(envelope.encoded == message)
        #expect(envelope.id == 77)
        let zones = envelope.modifyRecords.zones
        #expect(zones.count == 2)
        let tag = ChangeTag.version(store: Examples.viewpoint.store, zone: ZoneID(11), number: 3)
        #expect(zones[0].saves[0].saved.tag == tag.bytes)
        #expect(zones[0].saves[0].saved.modifiedAt == 6)
        #expect(zones[0].saves[1].failure.failure.code == .serverRecordChanged)
        let expected = WireRecord(record, in: ZoneID(11), seenFrom: Examples.viewpoint)
        #expect(zones[0].saves[1].failure.serverRecord == expected)
        #expect(zones[0].saves[2].failure.failure.code == .serverRecordChanged)
        #expect(!zones[0].saves[2].failure.hasServerRecord)
        #expect(zones[0].deletes[0].result == .deleted(WireDone()))
        #expect(zones[0].deletes[1].failure.code == .referenceViolation)
        #expect(zones[1].saves.map(\.failure.failure.code) == [.zoneNotFound])
        #expect(zones[1].deletes.map(\.failure.code) == [.zoneNotFound, .zoneNotFound])
    }

    @Test func `R-054, R-716: an answer holds the records that devices must hear of, up to its bound`() throws {
        var limits = Examples.limits
        let record = Examples.record("b", number: 4)
        limits.answerBytesMax = record.fields.byteCount
        func saved(_ content: SavedContent) -> SaveOutcome {
            .saved(RecordMetadata(of: record, record.changeNumber, in: ZoneID(11), content))
        }
        var answer = RecordsAnswer(viewpoint: Examples.viewpoint, limits: limits)
        let saves = [saved(.known), saved(.withheld), saved(.record(record)), saved(.record(record)), saved(.known)]
        answer.append(RecordsOutcome(saves: saves, deletes: []))
        let message = answer.message(77)
        let envelope = try WireServerEnvelope(reading: message)
        #expect(envelope.encoded == message)
        let results = envelope.modifyRecords.zones[0].saves.map(\.saved)
        #expect(results.map(\.hasRecord) == [false, false, true, false, false])
        #expect(results.map(\.mustFetch) == [false, true, false, true, false])
        #expect(results[2].record == WireRecord(record, in: ZoneID(11), seenFrom: Examples.viewpoint))
        #expect(results.allSatisfy { $0.tag == results[2].record.tag && !$0.tag.isEmpty })
    }

    @Test func `R-170: a fetch's answer is cut at its bound and says how far it got`() throws {
        var limits = Examples.limits
        limits.answerBytesMax = 1
        var answer = RecordsFetchAnswer(viewpoint: Examples.viewpoint, selection: nil, limits: limits)
        answer.append(.recordUnknown, count: 1)
        answer.append(.success(Examples.record("a")), in: ZoneID(11))
        #expect(answer.isFull)
        answer.append(.success(Examples.record("b")), in: ZoneID(11))
        let message = answer.message(1)
        let envelope = try WireServerEnvelope(reading: message)
        #expect(envelope.encoded == message)
        #expect(envelope.fetchRecords.covered == 2)
        #expect(envelope.fetchRecords.results.map(\.failure.code) == [.unknownItem, .unspecified])
        let expected = WireRecord(Examples.record("a"), in: ZoneID(11), seenFrom: Examples.viewpoint)
        #expect(envelope.fetchRecords.results[1].record == expected)
    }

    @Test func `R-724, R-736: what a fetch reads counts in its answer, also if few of the fields are wanted`() throws {
        var limits = Examples.limits
        limits.answerBytesMax = Examples.fields("a").byteCount + 1
        var answer = RecordsFetchAnswer(
            viewpoint: Examples.viewpoint, selection: FieldSelection(["missing"]), limits: limits)
        for name in ["a", "b", "c"] { answer.append(.success(Examples.record(name)), in: ZoneID(11)) }
        #expect(answer.isFull)
        let results = try WireServerEnvelope(reading: answer.message(1)).fetchRecords.results
        #expect(results.map(\.record.name) == ["a", "b"] && results.allSatisfy(\.record.fields.isEmpty))
    }
}
