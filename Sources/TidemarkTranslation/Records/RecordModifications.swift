// SPDX-License-Identifier: Apache-2.0

internal import Foundation
package import TidemarkWire

/// A `ModifyRecords` as it was read: what servers get most goes from the message to the rules without the generated code's
/// objects, whose `Data` alone costs more than all that is done with it.
package struct RecordModifications: Sendable, Equatable {
    package var database = WireDatabaseScope.unspecified
    var stamp = WireRequestStamp()
    var policy = WireSavePolicy.ifServerRecordUnchanged
    var isAtomic = false
    var zones: [Zone] = []
    var clientChangeToken: [UInt8] = []

    struct Zone: Sendable, Equatable {
        var zone = WireZoneID()
        var saves: [Save] = []
        var deletes: [String] = []
    }

    struct Save: Sendable, Equatable {
        var name = ""
        var type = ""
        var tag: [UInt8] = []
        var fields: [UInt8] = []
        var parentChange = WireParentChange.parentUnchanged
        var parent = ""
    }

    init() {}
}

extension RecordModifications {
    /// The same request as the generated code reads it.
    package init(_ request: WireModifyRecords) {
        database = request.database
        stamp = request.stamp
        policy = request.policy
        isAtomic = request.atomic
        zones = request.zones.map(Zone.init)
        clientChangeToken = [UInt8](request.clientChangeToken)
    }
}

extension RecordModifications.Zone {
    fileprivate init(_ part: WireZoneModifications) {
        self.init(zone: part.zone, saves: part.saves.map(RecordModifications.Save.init), deletes: part.deletes)
    }
}

extension RecordModifications.Save {
    fileprivate init(_ save: WireRecordSave) {
        self.init(
            name: save.name, type: save.type, tag: [UInt8](save.tag), fields: [UInt8](save.fields),
            parentChange: save.parentChange, parent: save.parent)
    }
}
