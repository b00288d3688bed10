// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftProtobuf
import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

@Suite struct AnswerEnvelopeTests {
    private struct Maker {
        var dice = SeededRandom()

        private let texts = ["", "a", "Notes", "Zoë", "\u{1F30A}", String(repeating: "n", count: 200)]
        private let blobs = [Data(), Data([0]), Data(repeating: 0x80, count: 300)]

        mutating func flag() -> Bool { Bool.random(using: &dice) }
        mutating func count() -> Int { Int.random(in: 0...3, using: &dice) }
        mutating func text() -> String { texts.randomElement(using: &dice) ?? "" }
        mutating func blob() -> Data { blobs.randomElement(using: &dice) ?? Data() }
        mutating func time() -> Int64 { Int64.random(in: 0...1_800_000_000_000, using: &dice) }

        mutating func zone() -> WireZoneID {
            var zone = WireZoneID()
            (zone.name, zone.owner) = (text(), text())
            return zone
        }

        mutating func record() -> WireRecord {
            var record = WireRecord()
            (record.name, record.type, record.parent) = (text(), text(), text())
            (record.fields, record.tag) = (blob(), blob())
            (record.createdAt, record.modifiedAt) = (time(), time())
            (record.createdBy, record.modifiedBy) = (text(), text())
            return record
        }

        mutating func zonePage() -> WireFetchZoneChangesAnswer {
            var page = WireFetchZoneChangesAnswer()
            page.changes = (0..<count()).map { _ in
                var change = WireZoneChange()
                if flag() {
                    change.record = record()
                } else {
                    (change.deleted.name, change.deleted.type) = (text(), text())
                }
                return change
            }
            (page.token, page.moreComing, page.clientChangeToken) = (blob(), flag(), blob())
            return page
        }

        mutating func databasePage() -> WireFetchDatabaseChangesAnswer {
            var page = WireFetchDatabaseChangesAnswer()
            page.changed = (0..<count()).map { _ in zone() }
            (page.token, page.moreComing) = (blob(), flag())
            if flag() { page.then = zonePage() }
            return page
        }

        mutating func push() -> WirePush {
            var push = WirePush()
            push.subscriptionID = text()
            push.database = [.unspecified, .public, .private, .shared].randomElement(using: &dice) ?? .private
            push.kind = [.unspecified, .query, .recordZone, .database].randomElement(using: &dice) ?? .database
            push.zones = (0..<count()).map { _ in zone() }
            if flag() {
                (push.changes.databaseToken, push.changes.zoneToken) = (blob(), blob())
                if flag() { push.changes.zone = zone() }
                if flag() { push.changes.answer = databasePage() }
            }
            return push
        }

        mutating func saves() -> WireModifyRecordsAnswer {
            var answer = WireModifyRecordsAnswer()
            answer.zones = (0..<count()).map { _ in
                var zone = WireZoneModificationResults()
                zone.saves = (0..<count()).map { _ in
                    var result = WireSaveResult()
                    result.saved.tag = blob()
                    (result.saved.createdAt, result.saved.modifiedAt) = (time(), time())
                    (result.saved.createdBy, result.saved.modifiedBy) = (text(), text())
                    return result
                }
                zone.deletes = (0..<count()).map { _ in
                    var result = WireDeleteResult()
                    result.deleted = WireDone()
                    return result
                }
                return zone
            }
            return answer
        }

        mutating func envelope() -> WireServerEnvelope {
            var envelope = WireServerEnvelope()
            envelope.id = [0, 1, 127, 128, .max >> 2].randomElement(using: &dice) ?? 1
            switch Int.random(in: 0..<4, using: &dice) {
            case 0: envelope.modifyRecords = saves()
            case 1: envelope.fetchDatabaseChanges = databasePage()
            case 2: envelope.fetchZoneChanges = zonePage()
            default: envelope.push = push()
            }
            envelope.pushesSent = [0, 1, 300].randomElement(using: &dice) ?? 0
            return envelope
        }
    }

    @Test func `an answer of the usual form is read as the generated code reads it`() throws {
        var maker = Maker()
        for _ in 0..<4_000 {
            let envelope = maker.envelope()
            #expect(AnswerEnvelope.answer(try envelope.serializedBytes()) == envelope, "seed \(maker.dice.seed)")
        }
    }

    @Test func `of bytes that are cut or changed it reads what the generated code reads, or nothing`() throws {
        var maker = Maker()
        var readCount = 0
        for _ in 0..<8_000 {
            var bytes: [UInt8] = try maker.envelope().serializedBytes()
            switch Int.random(in: 0..<4, using: &maker.dice) {
            case 0: bytes.removeLast(Int.random(in: 0...min(bytes.count, 40), using: &maker.dice))
            case 1: bytes += try maker.envelope().serializedBytes() as [UInt8]
            default:
                for _ in 0..<Int.random(in: 1...3, using: &maker.dice) where !bytes.isEmpty {
                    bytes[Int.random(in: bytes.indices, using: &maker.dice)] = .random(in: 0...255, using: &maker.dice)
                }
            }
            guard let read = AnswerEnvelope.answer(bytes) else { continue }
            readCount += 1
            #expect(try WireServerEnvelope(serializedBytes: bytes) == read, "\(bytes), seed \(maker.dice.seed)")
        }
        #expect(readCount > 100)
    }

    @Test func `what is not usual is left to the generated code`() throws {
        var failed = WireServerEnvelope()
        failed.id = 3
        failed.failure.message = "no"
        var refused = WireServerEnvelope()
        var result = WireSaveResult()
        result.failure.failure.message = "no"
        refused.modifyRecords.zones = [WireZoneModificationResults()]
        refused.modifyRecords.zones[0].saves = [result]
        var ended = WireServerEnvelope()
        ended.fetchDatabaseChanges.ended = [WireZoneEnd()]
        var early = WireServerEnvelope()
        early.fetchZoneChanges.changes = [WireZoneChange()]
        early.fetchZoneChanges.changes[0].record.createdAt = -1
        for envelope in [failed, refused, ended, early] {
            #expect(AnswerEnvelope.answer(try envelope.serializedBytes()) == nil)
        }
        #expect(AnswerEnvelope.answer([]) == nil)
        #expect(AnswerEnvelope.answer([8, 3]) == nil, "no answer")
        var usual = WireServerEnvelope()
        usual.fetchZoneChanges = WireFetchZoneChangesAnswer()
        let bytes: [UInt8] = try usual.serializedBytes()
        #expect(AnswerEnvelope.answer(bytes) == usual)
        #expect(AnswerEnvelope.answer(bytes + bytes) == nil, "an answer twice")
        #expect(AnswerEnvelope.answer(bytes + [0xF8, 1, 1]) == nil, "an unknown field")
    }
}
