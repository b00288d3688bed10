// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import SwiftProtobuf
internal import TidemarkWire

/// The messages that devices get most, read without the generated code: answers to saves, pages of feeds, and pushes.
///
/// What is read is what the generated code would have read: a message of any other form than the usual one is left to it.
enum AnswerEnvelope {
    /// Nil for every other message, and for one that the generated code should judge.
    static func answer(_ bytes: [UInt8]) -> WireServerEnvelope? {
        bytes.withUnsafeBytes { bytes in
            var envelope = WireServerEnvelope()
            var reader = PlainReader(bytes)
            while !reader.isAtEnd {
                guard let (field, value) = reader.next() else { return nil }
                switch (field, value) {
                case (1, .number(let id)): envelope.id = id
                case (61, .number(let count)): envelope.pushesSent = count
                case (_, .content(let bytes)):
                    guard envelope.answer == nil, let answer = answer(field, bytes) else { return nil }
                    envelope.answer = answer
                default: return nil
                }
            }
            return envelope.answer == nil ? nil : envelope
        }
    }

    private static func answer(
        _ field: UInt64, _ bytes: UnsafeRawBufferPointer
    ) -> WireServerEnvelope.OneOf_Answer? {
        switch field {
        case 4: modifyRecords(bytes).map { .modifyRecords($0) }
        case 8: databaseChanges(bytes).map { .fetchDatabaseChanges($0) }
        case 9: zoneChanges(bytes).map { .fetchZoneChanges($0) }
        case 15: push(bytes).map { .push($0) }
        default: nil
        }
    }

    // MARK: Saves

    private static func modifyRecords(_ bytes: UnsafeRawBufferPointer) -> WireModifyRecordsAnswer? {
        var answer = WireModifyRecordsAnswer()
        var reader = PlainReader(bytes)
        while !reader.isAtEnd {
            guard case (1, .content(let bytes))? = reader.next(repeated: 1 << 1), let zone = results(bytes) else {
                return nil
            }
            answer.zones.append(zone)
        }
        return answer
    }

    private static func results(_ bytes: UnsafeRawBufferPointer) -> WireZoneModificationResults? {
        var results = WireZoneModificationResults()
        var reader = PlainReader(bytes)
        while !reader.isAtEnd {
            switch reader.next(repeated: 1 << 1 | 1 << 2) {
            case (1, .content(let bytes))?:
                guard let result = saveResult(bytes) else { return nil }
                results.saves.append(result)
            case (2, .content(let bytes))?:
                guard let result = deleteResult(bytes) else { return nil }
                results.deletes.append(result)
            default: return nil
            }
        }
        return results
    }

    /// Of a save that was done: another tells more, and is rare.
    private static func saveResult(_ bytes: UnsafeRawBufferPointer) -> WireSaveResult? {
        var reader = PlainReader(bytes)
        guard case (1, .content(let bytes))? = reader.next(), reader.isAtEnd, let saved = saved(bytes) else {
            return nil
        }
        var result = WireSaveResult()
        result.saved = saved
        return result
    }

    private static func saved(_ bytes: UnsafeRawBufferPointer) -> WireSavedRecord? {
        var saved = WireSavedRecord()
        var reader = PlainReader(bytes)
        while !reader.isAtEnd {
            switch reader.next() {
            case (1, .content(let bytes))?: saved.tag = Data(bytes)
            case (2, .number(let value))?: saved.createdAt = Int64(bitPattern: value)
            case (3, .number(let value))?: saved.modifiedAt = Int64(bitPattern: value)
            case (4, .content(let bytes))?:
                guard let text = bytes.text else { return nil }
                saved.createdBy = text
            case (5, .content(let bytes))?:
                guard let text = bytes.text else { return nil }
                saved.modifiedBy = text
            default: return nil
            }
        }
        return saved
    }

    private static func deleteResult(_ bytes: UnsafeRawBufferPointer) -> WireDeleteResult? {
        var reader = PlainReader(bytes)
        guard case (1, .content(let bytes))? = reader.next(), reader.isAtEnd, bytes.isEmpty else { return nil }
        var result = WireDeleteResult()
        result.deleted = WireDone()
        return result
    }

    // MARK: Feeds

    private static func databaseChanges(_ bytes: UnsafeRawBufferPointer) -> WireFetchDatabaseChangesAnswer? {
        var answer = WireFetchDatabaseChangesAnswer()
        var reader = PlainReader(bytes)
        while !reader.isAtEnd {
            switch reader.next(repeated: 1 << 2) {
            case (2, .content(let bytes))?:
                guard let zone = zoneID(bytes) else { return nil }
                answer.changed.append(zone)
            case (3, .content(let bytes))?: answer.token = Data(bytes)
            case (4, .number(let value))?: answer.moreComing = value != 0
            case (5, .content(let bytes))?:
                guard let then = zoneChanges(bytes) else { return nil }
                answer.then = then
            default: return nil
            }
        }
        return answer
    }

    private static func zoneChanges(_ bytes: UnsafeRawBufferPointer) -> WireFetchZoneChangesAnswer? {
        var answer = WireFetchZoneChangesAnswer()
        var reader = PlainReader(bytes)
        while !reader.isAtEnd {
            switch reader.next(repeated: 1 << 1) {
            case (1, .content(let bytes))?:
                guard let change = change(bytes) else { return nil }
                answer.changes.append(change)
            case (2, .content(let bytes))?: answer.token = Data(bytes)
            case (3, .number(let value))?: answer.moreComing = value != 0
            case (4, .content(let bytes))?: answer.clientChangeToken = Data(bytes)
            default: return nil
            }
        }
        return answer
    }

    private static func change(_ bytes: UnsafeRawBufferPointer) -> WireZoneChange? {
        var change = WireZoneChange()
        var reader = PlainReader(bytes)
        switch reader.next() {
        case (1, .content(let bytes))?: change.change = record(bytes).map { .record($0) }
        case (2, .content(let bytes))?: change.change = recordEnd(bytes).map { .deleted($0) }
        default: return nil
        }
        return reader.isAtEnd && change.change != nil ? change : nil
    }

    private static func record(_ bytes: UnsafeRawBufferPointer) -> WireRecord? {
        var record = WireRecord()
        var reader = PlainReader(bytes)
        while !reader.isAtEnd {
            guard let (field, value) = reader.next() else { return nil }
            switch (field, value) {
            case (3, .content(let bytes)): record.fields = Data(bytes)
            case (4, .content(let bytes)): record.tag = Data(bytes)
            case (5, .number(let value)): record.createdAt = Int64(bitPattern: value)
            case (6, .number(let value)): record.modifiedAt = Int64(bitPattern: value)
            case (_, .content(let bytes)):
                guard let text = bytes.text else { return nil }
                switch field {
                case 1: record.name = text
                case 2: record.type = text
                case 7: record.createdBy = text
                case 8: record.modifiedBy = text
                case 9: record.parent = text
                default: return nil
                }
            default: return nil
            }
        }
        return record
    }

    private static func recordEnd(_ bytes: UnsafeRawBufferPointer) -> WireRecordEnd? {
        guard let (name, type) = PlainReader.twoTexts(bytes) else { return nil }
        var end = WireRecordEnd()
        (end.name, end.type) = (name, type)
        return end
    }

    // MARK: Pushes

    private static func push(_ bytes: UnsafeRawBufferPointer) -> WirePush? {
        var push = WirePush()
        var reader = PlainReader(bytes)
        while !reader.isAtEnd {
            switch reader.next(repeated: 1 << 4) {
            case (1, .content(let bytes))?:
                guard let text = bytes.text else { return nil }
                push.subscriptionID = text
            case (2, .number(let value))?:
                guard let scope = WireDatabaseScope(number: value) else { return nil }
                push.database = scope
            case (3, .number(let value))?:
                guard let kind = WireSubscriptionKind(number: value) else { return nil }
                push.kind = kind
            case (4, .content(let bytes))?:
                guard let zone = zoneID(bytes) else { return nil }
                push.zones.append(zone)
            case (5, .content(let bytes))?:
                guard let changes = pushedChanges(bytes) else { return nil }
                push.changes = changes
            default: return nil
            }
        }
        return push
    }

    private static func pushedChanges(_ bytes: UnsafeRawBufferPointer) -> WirePushedChanges? {
        var changes = WirePushedChanges()
        var reader = PlainReader(bytes)
        while !reader.isAtEnd {
            switch reader.next() {
            case (1, .content(let bytes))?: changes.databaseToken = Data(bytes)
            case (2, .content(let bytes))?:
                guard let zone = zoneID(bytes) else { return nil }
                changes.zone = zone
            case (3, .content(let bytes))?: changes.zoneToken = Data(bytes)
            case (4, .content(let bytes))?:
                guard let answer = databaseChanges(bytes) else { return nil }
                changes.answer = answer
            default: return nil
            }
        }
        return changes
    }

    private static func zoneID(_ bytes: UnsafeRawBufferPointer) -> WireZoneID? {
        guard let (name, owner) = PlainReader.twoTexts(bytes) else { return nil }
        var zone = WireZoneID()
        (zone.name, zone.owner) = (name, owner)
        return zone
    }
}
