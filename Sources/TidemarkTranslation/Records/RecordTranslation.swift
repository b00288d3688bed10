// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkWire

extension WireRecord {
    init(_ record: RecordState, in zone: ZoneID, seenFrom viewpoint: Viewpoint) {
        self.init()
        name = record.name
        type = record.type
        fields = record.fields.bytes
        tag = viewpoint.tag(zone: zone, number: record.changeNumber)
        createdAt = record.createdAt.milliseconds
        modifiedAt = record.modifiedAt.milliseconds
        parent = record.parent ?? ""
        createdBy = viewpoint.name(of: record.createdBy)
        modifiedBy = viewpoint.name(of: record.modifiedBy)
    }
}

extension Viewpoint {
    func tag(zone: ZoneID, number: ChangeNumber) -> [UInt8] {
        ChangeTag.version(store: store, zone: zone, number: number).bytes
    }
}
