// SPDX-License-Identifier: Apache-2.0

import TidemarkDomain
import TidemarkFields
import TidemarkWire

@testable import TidemarkTranslation

/// Values that the tests of this target share.
enum Examples {
    static let viewpoint = Viewpoint(
        user: user, userRecordName: "_0123456789abcdef0123456789abcdef", database: DatabaseID(3), device: device,
        store: StoreIncarnation(0xFEED))
    static let user = UserID(7)
    static let device = DeviceID(high: 1, low: 2)
    static let limits = Limits()

    static func fields(_ text: String = "hello") -> FieldMap {
        do { return try FieldMap([Field("title", .string(text)), Field("count", .int64(3))]) } catch {
            return FieldMap()
        }
    }

    static func record(
        _ name: String, number: ChangeNumber = 1, isDeleted: Bool = false, parent: String? = nil,
        fields: FieldMap? = nil
    ) -> RecordState {
        RecordState(
            name: name, type: "Note", fields: fields ?? (isDeleted ? FieldMap() : self.fields(name)),
            changeNumber: number,
            isDeleted: isDeleted, parent: parent, createdAt: Timestamp(milliseconds: 1_700_000_000_000),
            createdBy: user, createdByDevice: device, modifiedAt: Timestamp(milliseconds: 1_700_000_000_001),
            modifiedBy: user, batchEnd: number)
    }

    static func stamp(_ counter: UInt64 = 5) -> WireRequestStamp {
        var stamp = WireRequestStamp()
        stamp.counter = counter
        stamp.lowestUnanswered = 1
        stamp.issuedAt = 1_700_000_000_000
        return stamp
    }

    static func zoneID(_ name: String, owner: String = "") -> WireZoneID {
        var zone = WireZoneID()
        zone.name = name
        zone.owner = owner
        return zone
    }

    static func save(_ name: String, fields: FieldMap = Examples.fields()) -> WireRecordSave {
        var save = WireRecordSave()
        save.name = name
        save.type = "Note"
        save.fields = fields.bytes
        return save
    }

    /// Two zones, two saves and a delete.
    static var modifyRecords: WireModifyRecords {
        var request = WireModifyRecords()
        request.database = .private
        request.stamp = stamp()
        request.atomic = true
        var first = WireZoneModifications()
        first.zone = zoneID("notes")
        first.saves = [save("a"), save("b")]
        var second = WireZoneModifications()
        second.zone = zoneID("lists", owner: "__defaultOwner__")
        second.deletes = ["c"]
        request.zones = [first, second]
        return request
    }

    static var hello: WireHello {
        var hello = WireHello()
        hello.container = "iCloud.dev.tidemark"
        hello.environment = .development
        hello.credential = "secret"
        hello.device = device.bytes
        hello.clientName = "foldersync/1.0"
        hello.deviceName = "laptop"
        return hello
    }
}

extension WireRecord {
    /// A record as each answer and push must hold it.
    init(_ record: RecordState, in zone: ZoneID, seenFrom viewpoint: Viewpoint) {
        self.init()
        name = record.name
        type = record.type
        fields = record.fields.bytes
        tag = ChangeTag.version(store: viewpoint.store, zone: zone, number: record.changeNumber).bytes
        createdAt = record.createdAt.milliseconds
        modifiedAt = record.modifiedAt.milliseconds
        parent = record.parent ?? ""
        createdBy = viewpoint.name(of: record.createdBy)
        modifiedBy = viewpoint.name(of: record.modifiedBy)
    }
}
