// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkCrypto
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkService
import TidemarkTestKit

/// Other users of the fixture's container, and shares of the zones of its user.
extension ServiceFixture {
    static let container = ContainerKey(identifier: "iCloud.test", environment: .development)

    /// Another user of the container.
    func user(_ name: String, by service: CloudService) async throws -> Identity {
        let hash = SHA256.hash(Array(name.utf8))
        database.issueCredential(hash: hash, account: name)
        return try #require(
            try await service.authenticate(
                credentialHash: hash, container: Self.container.identifier, environment: .development,
                createsContainer: true, device: DeviceID(high: 0, low: 2), deviceName: "test"
            ).get())
    }

    /// A request of the zone's owner that saves or deletes its CKShare record.
    func sharing(_ share: ShareSave?, zone: String = "notes", counter: UInt64) -> RecordsRequest {
        let save = share.map {
            RecordSave(
                name: $0.recordName, type: Share.recordType, tag: $0.tag, fields: FieldMap(), parent: .unchanged,
                share: $0)
        }
        return RecordsRequest(
            id: RequestID(DeviceID(high: 0, low: 1), counter), key: key(zone), saves: save.map { [$0] } ?? [],
            deletes: save == nil ? [Share.zoneWideName] : [], policy: .ifServerRecordUnchanged, isAtomic: true,
            user: identity.user, access: .owner(identity.user))
    }

    /// The zone's owner shares it, changes the share, or ends it.
    ///
    /// - Returns: the tag of the CKShare record; nil if it was deleted.
    @discardableResult
    func share(
        _ permission: SharePermission? = .readWrite, _ participants: [ParticipantSave]? = nil, tag: ChangeTag? = nil,
        zone: String = "notes", counter: UInt64, by service: CloudService
    ) async throws -> ChangeTag? {
        let save = ShareSave(tag: tag, publicPermission: permission, participants: participants)
        let outcome = try await service.modify(sharing(save, zone: zone, counter: counter)).get()
        guard case .saved(let metadata)? = outcome.saves.first else {
            Issue.record("\(outcome)")
            return nil
        }
        let store = try await MemoryStore(database).incarnation()
        return .version(store: store, zone: metadata.zone, number: metadata.changeNumber)
    }

    /// The tag of the CKShare record as it is now.
    func shareTag(zone: String = "notes") async throws -> ChangeTag {
        let store = MemoryStore(database)
        let read = try #require(try await store.sharing(of: key(zone), .whole))
        let record = try #require(try await records(in: zone).first { $0.name == Share.zoneWideName })
        return .version(store: try await store.incarnation(), zone: read.zone.id, number: record.changeNumber)
    }

    func secret(zone: String = "notes") async throws -> [UInt8] {
        try #require(try await MemoryStore(database).sharing(of: key(zone), .whole)?.sharing.secret)
    }

    /// A user takes part in the share of a zone.
    func accept(_ user: Identity, zone: String = "notes", by service: CloudService) async throws {
        let accepted = try await service.acceptShares(ofLinks: [try await secret(zone: zone)], for: user.bearer).get()
        _ = try accepted[0].get()
    }
}

extension Identity {
    /// The user, who comes to shares with the device 2.
    var bearer: LinkBearer {
        LinkBearer(user: user, viewer: sharedDatabase, life: sharedAccess.marking(DeviceID(high: 0, low: 2)))
    }

    var sharedAccess: RecordAccess { RecordAccess(scope: .shared, user: user) }

    /// An invitation of the user.
    func invited(_ permission: SharePermission = .readWrite) -> ParticipantSave {
        ParticipantSave(
            id: ParticipantID(high: 1, low: UInt64(user.rawValue)), person: .user(user), permission: permission)
    }
}

extension [Result<ShareMetadata, FailureReason>] {
    var reasons: [FailureReason?] { map(\.reason) }
}
