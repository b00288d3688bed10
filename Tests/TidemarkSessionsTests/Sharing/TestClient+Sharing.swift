// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkWire

/// What owners and participants do with shares.
extension TestClient {
    /// Shares a zone, or changes its share.
    ///
    /// - Parameter tag: of the CKShare record; empty for a new share.
    /// - Returns: the CKShare record as the server shows it afterwards.
    @discardableResult
    func share(_ zone: String, _ permission: WireSharePermission, tag: [UInt8] = []) throws -> WireRecord {
        let answer = try ask(.modifyRecords(ShareRequests.share(zone, permission, tag: tag, stamp())))
        guard case .modifyRecords(let records)? = answer,
            case .saved(let saved)? = records.zones.first?.saves.first?.result
        else { throw SessionWorld.Unexpected(answer) }
        #expect(saved.hasRecord && saved.record.tag == saved.tag)
        return saved.record
    }

    func accept(_ link: String, declines: Bool = false) throws -> WireShareMetadataResult {
        let answer = try ask(ShareRequests.accept(link, declines: declines))
        guard case .acceptShares(let results)? = answer, let result = results.results.first else {
            throw SessionWorld.Unexpected(answer)
        }
        return result
    }

    /// Accepts a share that is for the client.
    ///
    /// - Returns: the zone.
    func join(_ link: String) throws -> WireZoneID {
        let result = try accept(link)
        guard case .metadata(let metadata)? = result.result else {
            throw SessionWorld.Unexpected(.failure(result.failure))
        }
        return metadata.zone
    }

    /// Saves a record in a zone of another.
    ///
    /// - Returns: why it failed.
    func save(_ name: String, in zone: WireZoneID) throws -> WireErrorCode? {
        let answer = try ask(.modifyRecords(ShareRequests.saving([name], in: zone, stamp())))
        guard case .modifyRecords(let records)? = answer else { throw SessionWorld.Unexpected(answer) }
        guard case .failure(let failure)? = records.zones.first?.saves.first?.result else { return nil }
        return failure.failure.code
    }

    func changes(of zone: WireZoneID, token: [UInt8] = []) throws -> WireFetchZoneChangesAnswer {
        let answer = try ask(ShareRequests.page(of: zone, after: token))
        guard case .fetchZoneChanges(let changes)? = answer else { throw SessionWorld.Unexpected(answer) }
        return changes
    }

    func sharedChanges(token: [UInt8] = []) throws -> WireFetchDatabaseChangesAnswer {
        let answer = try ask(ShareRequests.sharedFeed(after: token))
        guard case .fetchDatabaseChanges(let changes)? = answer else { throw SessionWorld.Unexpected(answer) }
        return changes
    }

    /// As above, with the page of a zone that may come along.
    func sharedChanges(
        token: [UInt8], then zone: WireZoneID, after zoneToken: [UInt8] = []
    ) throws -> WireFetchDatabaseChangesAnswer {
        var request = WireFetchDatabaseChanges()
        (request.database, request.token) = (.shared, token)
        var then = WireFetchZoneChanges()
        (then.database, then.zone, then.token) = (.shared, zone, zoneToken)
        request.then = then
        let answer = try ask(.fetchDatabaseChanges(request))
        guard case .fetchDatabaseChanges(let changes)? = answer else { throw SessionWorld.Unexpected(answer) }
        return changes
    }

    /// Leaves a zone of another.
    func leave(_ zone: WireZoneID) throws {
        let answer = try ask(ShareRequests.delete(zone, stamp()))
        guard case .modifyZones(let zones)? = answer, zones.deletes.first?.failure.code == .unspecified else {
            throw SessionWorld.Unexpected(answer)
        }
    }

    func subscribeToShared() throws {
        let answer = try ask(ShareRequests.subscribeToShared())
        guard case .modifySubscriptions(let results)? = answer, results.saves.first?.subscription.id == "shared" else {
            throw SessionWorld.Unexpected(answer)
        }
    }
}

/// Alice, with a shared zone that has a record, and Bob, who takes part.
struct SharingPair {
    let alice: TestClient
    let bob: TestClient
    let share: WireRecord
    /// As Bob sees it.
    let zone: WireZoneID

    /// - Parameter second: Bob's server; nil: Alice's.
    init(
        _ world: SessionWorld, _ permission: WireSharePermission = .readWrite, second: SessionWorld.Server? = nil
    ) throws {
        alice = try world.enter("alice", device: 1)
        try alice.makeZone("notes")
        try alice.save("a", in: "notes")
        share = try alice.share("notes", permission)
        bob = try world.enter("bob", device: 1, server: second)
        zone = try bob.join(share.share.link)
    }

    /// The tag of the CKShare record, as the owner sees it.
    func newestTag() throws -> [UInt8] {
        let answer = try alice.ask(.fetchZoneChanges(TestClient.zoneChanges("notes")))
        guard case .fetchZoneChanges(let page)? = answer else { throw SessionWorld.Unexpected(answer) }
        return page.changes.map(\.record).first { $0.name == Share.zoneWideName }?.tag ?? []
    }
}
