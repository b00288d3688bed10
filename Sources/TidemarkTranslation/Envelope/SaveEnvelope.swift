// SPDX-License-Identifier: Apache-2.0

internal import SwiftProtobuf
internal import TidemarkWire

/// The request that servers get most, read without the generated code.
///
/// What is read is what the generated code would have read: a request of any other form than the usual one is left to it.
struct SaveEnvelope {
    let id: UInt64
    let modifications: RecordModifications
    /// Of an engine's requests and an app's groups.
    let operationGroup: WireOperationGroup?
    let pushesHeard: UInt64

    /// Saves and deletes of records; nil for every other request, and for one that the generated code should judge.
    static func request(_ bytes: [UInt8]) -> SaveEnvelope? {
        bytes.withUnsafeBytes { bytes in
            var id: UInt64 = 0
            var modifications: RecordModifications?
            var group: WireOperationGroup?
            var pushesHeard: UInt64 = 0
            var reader = PlainReader(bytes)
            while !reader.isAtEnd {
                switch reader.next() {
                case (1, .number(let number))?: id = number
                case (3, .content(let bytes))?:
                    modifications = modifyRecords(bytes)
                    if modifications == nil { return nil }
                case (60, .content(let bytes))?:
                    group = operationGroup(bytes)
                    if group == nil { return nil }
                case (61, .number(let number))?: pushesHeard = number
                default: return nil
                }
            }
            return modifications.map {
                SaveEnvelope(id: id, modifications: $0, operationGroup: group, pushesHeard: pushesHeard)
            }
        }
    }

    private static func modifyRecords(_ bytes: UnsafeRawBufferPointer) -> RecordModifications? {
        var request = RecordModifications()
        var reader = PlainReader(bytes)
        while !reader.isAtEnd {
            switch reader.next(repeated: 1 << 5) {
            case (1, .number(let value))?:
                guard let scope = WireDatabaseScope(number: value) else { return nil }
                request.database = scope
            case (2, .content(let bytes))?:
                guard let stamp = stamp(bytes) else { return nil }
                request.stamp = stamp
            case (3, .number(let value))?:
                guard let policy = WireSavePolicy(number: value) else { return nil }
                request.policy = policy
            case (4, .number(let value))?: request.isAtomic = value != 0
            case (5, .content(let bytes))?:
                guard let zone = zone(bytes) else { return nil }
                request.zones.append(zone)
            case (6, .content(let bytes))?: request.clientChangeToken = Array(bytes)
            default: return nil
            }
        }
        return request
    }

    private static func stamp(_ bytes: UnsafeRawBufferPointer) -> WireRequestStamp? {
        var stamp = WireRequestStamp()
        var reader = PlainReader(bytes)
        while !reader.isAtEnd {
            switch reader.next() {
            case (1, .number(let value))?: stamp.counter = value
            case (2, .number(let value))?: stamp.lowestUnanswered = value
            case (3, .number(let value))?: stamp.issuedAt = Int64(bitPattern: value)
            case (4, .number(let value))?: stamp.repeated = value != 0
            case (5, .number(let value))?: stamp.epoch = value
            case (6, .number(let value))?: stamp.nonce = value
            default: return nil
            }
        }
        return stamp
    }

    private static func zone(_ bytes: UnsafeRawBufferPointer) -> RecordModifications.Zone? {
        var zone = RecordModifications.Zone()
        var reader = PlainReader(bytes)
        while !reader.isAtEnd {
            switch reader.next(repeated: 1 << 2 | 1 << 3) {
            case (1, .content(let bytes))?:
                guard let id = zoneID(bytes) else { return nil }
                zone.zone = id
            case (2, .content(let bytes))?:
                guard let save = save(bytes) else { return nil }
                zone.saves.append(save)
            case (3, .content(let bytes))?:
                guard let name = bytes.text else { return nil }
                zone.deletes.append(name)
            default: return nil
            }
        }
        return zone
    }

    private static func zoneID(_ bytes: UnsafeRawBufferPointer) -> WireZoneID? {
        guard let (name, owner) = PlainReader.twoTexts(bytes) else { return nil }
        var zone = WireZoneID()
        (zone.name, zone.owner) = (name, owner)
        return zone
    }

    private static func operationGroup(_ bytes: UnsafeRawBufferPointer) -> WireOperationGroup? {
        guard let (id, name) = PlainReader.twoTexts(bytes) else { return nil }
        var group = WireOperationGroup()
        (group.id, group.name) = (id, name)
        return group
    }

    private static func save(_ bytes: UnsafeRawBufferPointer) -> RecordModifications.Save? {
        var save = RecordModifications.Save()
        var reader = PlainReader(bytes)
        while !reader.isAtEnd {
            switch reader.next() {
            case (1, .content(let bytes))?:
                guard let text = bytes.text else { return nil }
                save.name = text
            case (2, .content(let bytes))?:
                guard let text = bytes.text else { return nil }
                save.type = text
            case (3, .content(let bytes))?: save.tag = Array(bytes)
            case (4, .content(let bytes))?: save.fields = Array(bytes)
            case (5, .number(let value))?:
                guard let change = WireParentChange(number: value) else { return nil }
                save.parentChange = change
            case (6, .content(let bytes))?:
                guard let text = bytes.text else { return nil }
                save.parent = text
            default: return nil
            }
        }
        return save
    }
}
