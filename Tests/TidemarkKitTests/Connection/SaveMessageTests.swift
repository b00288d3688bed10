// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftProtobuf
import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

@Suite struct SaveMessageTests {
    private static func random(_ dice: inout SeededRandom) -> WireClientEnvelope {
        let texts = ["", "a", "Zoë", String(repeating: "n", count: 200)]
        let blobs = [Data(), Data([0]), Data(repeating: 0x80, count: 300)]
        func text() -> String { texts.randomElement(using: &dice) ?? "" }
        func blob() -> Data { blobs.randomElement(using: &dice) ?? Data() }
        func flag() -> Bool { Bool.random(using: &dice) }
        func count() -> Int { Int.random(in: 0...3, using: &dice) }
        var request = WireModifyRecords()
        request.database = [.unspecified, .public, .private, .shared].randomElement(using: &dice) ?? .private
        request.policy = [.ifServerRecordUnchanged, .changedKeys, .allKeys].randomElement(using: &dice) ?? .allKeys
        (request.atomic, request.clientChangeToken) = (flag(), blob())
        if flag() {
            request.stamp.counter = [0, 1, 127, 128, .max].randomElement(using: &dice) ?? 1
            request.stamp.lowestUnanswered = UInt64.random(in: 0...300, using: &dice)
            request.stamp.issuedAt = Int64.random(in: -9...1_800_000_000_000, using: &dice)
            request.stamp.repeated = Bool.random(using: &dice)
            request.stamp.epoch = UInt64.random(in: 0...200, using: &dice)
            request.stamp.nonce = UInt64.random(in: 0..<1 << 56, using: &dice)
        }
        request.zones = (0..<count()).map { _ in
            var part = WireZoneModifications()
            if flag() { (part.zone.name, part.zone.owner) = (text(), text()) }
            part.deletes = (0..<count()).map { _ in text() }
            part.saves = (0..<count()).map { _ in
                var save = WireRecordSave()
                (save.name, save.type, save.parent, save.tag, save.fields) = (text(), text(), text(), blob(), blob())
                save.parentChange =
                    [.parentUnchanged, .parentSet, .parentRemoved].randomElement(using: &dice) ?? .parentSet
                return save
            }
            return part
        }
        var envelope = WireClientEnvelope()
        envelope.id = [0, 1, 127, 128, .max].randomElement(using: &dice) ?? 1
        envelope.modifyRecords = request
        if flag() { (envelope.operationGroup.id, envelope.operationGroup.name) = (text(), text()) }
        return envelope
    }

    @Test func `a save is written as the generated code writes it`() throws {
        var dice = SeededRandom()
        for _ in 0..<4_000 {
            let envelope = Self.random(&dice)
            #expect(SaveMessage.bytes(of: envelope) == (try envelope.serializedBytes()), "seed \(dice.seed)")
        }
    }

    @Test func `every other request is left to the generated code`() {
        var envelope = WireClientEnvelope()
        #expect(SaveMessage.bytes(of: envelope) == nil)
        envelope.fetchRecords = WireFetchRecords()
        #expect(SaveMessage.bytes(of: envelope) == nil)
    }
}
