// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftProtobuf
import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkTranslation

@Suite struct SaveEnvelopeTests {
    private static func random(_ dice: inout some RandomNumberGenerator) -> WireClientEnvelope {
        let texts = ["", "a", "Notes", "Zoë", "\u{1F30A}", String(repeating: "n", count: 200)]
        let blobs = [Data(), Data([0]), Data(repeating: 0x80, count: 300)]
        var envelope = WireClientEnvelope()
        envelope.id = [0, 1, 127, 128, .max >> 2].randomElement(using: &dice) ?? 1
        var request = WireModifyRecords()
        request.database = [.unspecified, .public, .private, .shared].randomElement(using: &dice) ?? .private
        if Bool.random(using: &dice) {
            request.stamp.counter = UInt64.random(in: 0...9, using: &dice)
            request.stamp.lowestUnanswered = UInt64.random(in: 0...300, using: &dice)
            request.stamp.issuedAt = Int64.random(in: 0...1_800_000_000_000, using: &dice)
            request.stamp.repeated = Bool.random(using: &dice)
            request.stamp.epoch = UInt64.random(in: 0...200, using: &dice)
            request.stamp.nonce = UInt64.random(in: 0..<1 << 56, using: &dice)
        }
        request.policy = [.ifServerRecordUnchanged, .changedKeys, .allKeys].randomElement(using: &dice) ?? .allKeys
        request.atomic = Bool.random(using: &dice)
        request.clientChangeToken = blobs.randomElement(using: &dice) ?? Data()
        for _ in 0..<Int.random(in: 0...3, using: &dice) {
            var zone = WireZoneModifications()
            if Bool.random(using: &dice) {
                zone.zone.name = texts.randomElement(using: &dice) ?? ""
                zone.zone.owner = texts.randomElement(using: &dice) ?? ""
            }
            let deleteCount = Int.random(in: 0...3, using: &dice)
            zone.deletes = (0..<deleteCount).map { _ in texts.randomElement(using: &dice) ?? "" }
            for _ in 0..<Int.random(in: 0...3, using: &dice) {
                var save = WireRecordSave()
                save.name = texts.randomElement(using: &dice) ?? ""
                save.type = texts.randomElement(using: &dice) ?? ""
                save.tag = blobs.randomElement(using: &dice) ?? Data()
                save.fields = blobs.randomElement(using: &dice) ?? Data()
                save.parentChange =
                    [.parentUnchanged, .parentSet, .parentRemoved].randomElement(using: &dice) ?? .parentSet
                save.parent = texts.randomElement(using: &dice) ?? ""
                zone.saves.append(save)
            }
            request.zones.append(zone)
        }
        envelope.request = .modifyRecords(request)
        if Bool.random(using: &dice) {
            envelope.operationGroup.id = texts.randomElement(using: &dice) ?? ""
            envelope.operationGroup.name = texts.randomElement(using: &dice) ?? ""
        }
        envelope.pushesHeard = [0, 1, 300].randomElement(using: &dice) ?? 0
        return envelope
    }

    @Test func `a request of the usual form is read as the generated code reads it`() throws {
        var dice = SeededRandom()
        for _ in 0..<2_000 {
            let envelope = Self.random(&dice)
            let bytes: [UInt8] = try envelope.serializedBytes()
            #expect(SaveEnvelope.request(bytes).map(WireClientEnvelope.init) == envelope.complete, "seed \(dice.seed)")
        }
    }

    @Test func `of bytes that are cut or changed it reads what the generated code reads, or nothing`() throws {
        var dice = SeededRandom()
        var readCount = 0
        for _ in 0..<2_000 {
            var bytes: [UInt8] = try Self.random(&dice).serializedBytes()
            switch Int.random(in: 0..<4, using: &dice) {
            case 0: bytes.removeLast(Int.random(in: 0...min(bytes.count, 40), using: &dice))
            case 1: bytes += try Self.random(&dice).serializedBytes() as [UInt8]
            default:
                for _ in 0..<Int.random(in: 1...3, using: &dice) where !bytes.isEmpty {
                    bytes[Int.random(in: bytes.indices, using: &dice)] = UInt8.random(in: 0...255, using: &dice)
                }
            }
            guard let read = SaveEnvelope.request(bytes) else { continue }
            readCount += 1
            let expected = try WireClientEnvelope(serializedBytes: bytes)
            #expect(WireClientEnvelope(read) == expected.complete, "\(bytes), seed \(dice.seed)")
        }
        #expect(readCount > 100)
    }

    @Test func `what is not usual is left to the generated code, and means what it meant`() throws {
        var dice = SeededRandom()
        func left(_ bytes: [UInt8], _ comment: Comment) {
            #expect(SaveEnvelope.request(bytes) == nil, comment)
        }
        var envelope = WireClientEnvelope()
        envelope.id = 7
        envelope.modifyRecords.database = .private
        let bytes: [UInt8] = try envelope.serializedBytes()
        #expect(SaveEnvelope.request(bytes).map(WireClientEnvelope.init) == envelope.complete)
        left([], "nothing")
        left([8, 7], "no request")
        left(bytes + [8, 9], "an id twice")
        left(bytes + bytes, "a request twice, of which the generated code makes one")
        left(bytes + [0xF8, 1, 1], "an unknown field")
        left([10, 1, 7] + bytes.dropFirst(2), "an id of another type")
        left([8] + Array(repeating: 0xFF, count: 9) + [1] + bytes.dropFirst(2), "a number of more than 63 bits")
        left([8, 7, 26, 2, 24, 0xFF], "a number that does not end")
        left([8, 7, 26, 6, 8, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F], "a choice of more than 32 bits")
        left([8, 7, 26, 6, 42, 4, 26, 2, 0xC3, 0x28], "a name that is not UTF-8")
        left(bytes + [0xE2, 3, 4, 10, 2, 0xC3, 0x28], "a group whose id is not UTF-8")
        left(bytes + [0xE2, 3, 3, 26, 1, 97], "a group with a field that is not known")
        var grouped = envelope
        grouped.operationGroup.id = "g"
        #expect(try ClientMessage(try grouped.serializedBytes()).operationGroup == grouped.operationGroup)
        #expect(try ClientMessage(bytes).operationGroup == nil)
        let twice = try ClientMessage(bytes + [8, 9])
        #expect(twice.id == 9)
        var request = Self.random(&dice)
        request.id = 0
        let anonymous: [UInt8] = try request.serializedBytes()
        #expect(throws: Refusal.self) { try ClientMessage(anonymous) }
        request.id = 1
        let usual = try ClientMessage(try request.serializedBytes() as [UInt8])
        let unusual = try ClientMessage([0xF8, 1, 1] + (try request.serializedBytes() as [UInt8]))
        #expect(usual.modifications == unusual.modifications, "seed \(dice.seed)")
        #expect(unusual.modifications == RecordModifications(request.modifyRecords), "seed \(dice.seed)")
    }
}

extension WireClientEnvelope {
    /// What was read, told as the generated code tells it.
    fileprivate init(_ read: SaveEnvelope) {
        self.init()
        pushesHeard = read.pushesHeard
        id = read.id
        if let group = read.operationGroup { operationGroup = group }
        modifyRecords.database = read.modifications.database
        modifyRecords.stamp = read.modifications.stamp
        modifyRecords.policy = read.modifications.policy
        modifyRecords.atomic = read.modifications.isAtomic
        modifyRecords.clientChangeToken = Data(read.modifications.clientChangeToken)
        modifyRecords.zones = read.modifications.zones.map { zone in
            var part = WireZoneModifications()
            part.zone = zone.zone
            part.deletes = zone.deletes
            part.saves = zone.saves.map { save in
                var wire = WireRecordSave()
                (wire.name, wire.type, wire.parent) = (save.name, save.type, save.parent)
                (wire.tag, wire.fields, wire.parentChange) = (Data(save.tag), Data(save.fields), save.parentChange)
                return wire
            }
            return part
        }
    }

    /// Where a stamp or a zone is missing it says nothing, as an empty one does.
    fileprivate var complete: WireClientEnvelope {
        var envelope = self
        envelope.modifyRecords.stamp = modifyRecords.stamp
        for (index, part) in modifyRecords.zones.enumerated() { envelope.modifyRecords.zones[index].zone = part.zone }
        return envelope
    }
}
