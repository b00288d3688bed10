// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

extension CKContainer {
    /// Of `_alice`, on a server that answers as a test says, and has an address.
    static func scripted(_ server: ScriptedServer, _ scheduler: ManualScheduler, token: String = "alice") -> CKContainer
    {
        CKContainer(
            context: CloudContext(
                containerIdentifier: "iCloud.test.\(UUID().uuidString)", token: token, transport: server,
                scheduler: scheduler, engineScheduler: scheduler, server: URL(string: "wss://cloud.example.org:8443/a"))
        )
    }
}

extension WireParticipant {
    /// The owner, who has an ID of zeros.
    static func owner(_ user: String) -> WireParticipant {
        var owner = person(0, user, .accepted)
        (owner.role, owner.permission) = (.owner, .readWrite)
        return owner
    }

    /// - Parameters:
    ///   - number: each byte of the ID.
    ///   - user: empty: the caller.
    static func person(_ number: UInt8, _ user: String, _ status: WireParticipantStatus = .pending) -> WireParticipant {
        var person = WireParticipant()
        person.id = [UInt8](repeating: number, count: 16)
        person.user = user
        person.isCaller = user.isEmpty
        (person.role, person.permission, person.status) = (.privateUser, .readOnly, status)
        return person
    }

    /// As this library writes the ID.
    var idText: String { UUID(id)?.uuidString ?? "" }
}

extension WireRecord {
    /// The record of a zone-wide share.
    ///
    /// - Parameter others: all but the owner, who is the caller if `owner` is empty.
    static func share(
        tag: UInt8 = 1, owner: String = "", _ others: [WireParticipant] = [], link: String = "link"
    ) -> WireRecord {
        var record = WireRecord()
        (record.name, record.type, record.tag) = (CKRecordNameZoneWideShare, CKRecord.SystemType.share, [tag])
        record.createdBy = owner
        record.share.publicPermission = .noAccess
        record.share.participants = [.owner(owner)] + others
        record.share.link = link
        return record
    }

    /// The record of a zone-wide share, of which the server does not say who takes part.
    static var shareWithoutParticipants: WireRecord {
        var record = WireRecord()
        (record.name, record.type, record.tag) = (CKRecordNameZoneWideShare, CKRecord.SystemType.share, [1])
        return record
    }
}

extension WireZoneID {
    static func named(_ name: String, of owner: String = "") -> WireZoneID {
        var zone = WireZoneID()
        (zone.name, zone.owner) = (name, owner)
        return zone
    }
}

extension CKShare.Metadata {
    /// Of a share that nobody has asked a server for.
    static func test(in container: CKContainer, link: String) -> CKShare.Metadata {
        let zoneID = CKRecordZone.ID(zoneName: "Z\(link)", ownerName: "_bob")
        return CKShare.Metadata(
            .init(
                containerIdentifier: container.containerIdentifier ?? "", share: CKShare(recordZoneID: zoneID),
                hierarchicalRootRecordID: nil, rootRecord: nil, participantRole: .privateUser,
                participantStatus: .pending, participantPermission: .readOnly, ownerIdentity: CKUserIdentity(),
                link: link))
    }
}
