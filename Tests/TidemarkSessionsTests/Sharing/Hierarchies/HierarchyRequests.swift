// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import TidemarkDomain
import TidemarkFields
import TidemarkWire

/// Messages about the hierarchies of the zone "lists".
struct HierarchyRequests {
    typealias Request = WireClientEnvelope.OneOfRequest

    static let zoneName = "lists"
    static let type = "Note"

    /// The zone as its owner names it, and others with the owner's name.
    static func zone(of owner: String = "") -> WireZoneID { ShareRequests.zone(zoneName, of: owner) }

    static func note(
        _ name: String, _ text: String, _ parent: NaiveHierarchies.ParentEdit = .unchanged, tag: [UInt8] = []
    ) throws -> WireRecordSave {
        var save = WireRecordSave()
        (save.name, save.type, save.tag) = (name, type, tag)
        save.fields = [UInt8](try FieldMap([Field("text", .string(text))]).bytes)
        switch parent {
        case .unchanged: break
        case .set(let other): (save.parentChange, save.parent) = (.parentSet, other)
        case .removed: save.parentChange = .parentRemoved
        }
        return save
    }

    /// - Parameter people: who takes part, with their numbers; nil: says nothing of it.
    static func share(
        _ name: String, root: String = "", _ permission: WireSharePermission = .unspecified,
        people: [(number: UInt8, user: String, mayWrite: Bool)]? = nil, tag: [UInt8] = []
    ) -> WireRecordSave {
        var save = WireRecordSave()
        (save.name, save.type, save.tag) = (name, Share.recordType, tag)
        (save.share.root, save.share.publicPermission) = (root, permission)
        save.share.setsParticipants = people != nil
        save.share.participants = (people ?? []).map { person in
            ShareRequests.participant(person.number, named: person.user, person.mayWrite ? .readWrite : .readOnly)
        }
        return save
    }

    static func modifying(
        _ zone: WireZoneID, _ saves: [WireRecordSave] = [], deleting deletes: [String] = [],
        policy: WireSavePolicy = .allKeys, _ stamp: WireRequestStamp
    ) -> Request {
        var request = ShareRequests.deleting(deletes, in: zone, stamp)
        request.zones[0].saves = saves
        request.policy = policy
        return .modifyRecords(request)
    }
}
