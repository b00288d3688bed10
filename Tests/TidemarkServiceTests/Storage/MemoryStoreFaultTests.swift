// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// What the double does when things go wrong: the simulation is worth no more than this.
@Suite struct MemoryStoreFaultTests {
    private func commit(
        _ fixture: ServiceFixture, faults: FaultPlan
    ) throws -> (code: StorageError.Code?, records: [RecordState]) {
        try fixture.scheduler.simulate {
            let store = MemoryStore(fixture.database, faults: faults)
            var code: StorageError.Code?
            do {
                let read = ZoneRead(key: fixture.key(), recordNames: [], parentNames: [], lives: [])
                let transaction = try await store.beginWrite([read])
                let overlay = ZoneOverlay(
                    snapshot: transaction.snapshots[0], store: StoreIncarnation(1), limits: Limits())
                let id = RequestID(DeviceID(high: 5, low: 5), 1)
                _ = overlay.apply(
                    try fixture.saving(["a"], id: id), now: Timestamp(milliseconds: 1_700_000_000_000))
                try await transaction.commit([try #require(overlay.changes)])
            } catch let error as StorageError {
                code = error.code
            }
            // Whoever comes next waits until it is settled.
            let next = try await MemoryStore(fixture.database).beginWrite(
                [ZoneRead(key: fixture.key(), recordNames: [], parentNames: [], lives: [])])
            await next.rollback()
            return (code, try await fixture.records())
        }
    }

    @Test(arguments: [
        (FaultPoint.beginSent, Fault.disconnect, StorageError.Code.unavailable, 0),
        (.beginLocked, .disconnect, .unavailable, 0),
        (.beginAnswered, .disconnect, .unavailable, 0),
        (.beginLocked, .crash, .unavailable, 0),
        (.commitSent, .reject, .rejected, 0),
        (.commitSent, .disconnect, .commitUnknown, 0),
        (.commitAnswered, .disconnect, .commitUnknown, 1),
        (.commitAnswered, .crash, .commitUnknown, 1),
        (.commitSent, .commitLate(after: .milliseconds(500)), .commitUnknown, 1),
    ])
    func `a fault at a point of a transaction has this error, and this is written`(
        _ point: FaultPoint, _ fault: Fault, _ code: StorageError.Code, _ recordCount: Int
    ) throws {
        let fixture = try ServiceFixture()
        let result = try commit(fixture, faults: FaultScript(first: [point: [fault]]).plan)
        #expect(result.code == code)
        #expect(result.records.count == recordCount)
    }

    @Test func `a commit under way when its server dies takes place or not`() throws {
        var counts: Set<Int> = []
        for seed in 0..<20 as Range<UInt64> {
            let fixture = try ServiceFixture(seed: seed)
            let result = try commit(fixture, faults: FaultScript(first: [.commitSent: [.crash]]).plan)
            #expect(result.code == .commitUnknown)
            counts.insert(result.records.count)
        }
        #expect(counts == [0, 1])
    }

    @Test func `what is under way when the store is restored writes nothing, and holds nobody up`() throws {
        let fixture = try ServiceFixture()
        let (backup, server) = (fixture.database.backUp(), fixture.server())
        try fixture.scheduler.simulate {
            let saving = try fixture.saving(["a"], id: RequestID(DeviceID(high: 5, low: 5), 1))
            let old = fixture.server(faults: FaultScript(always: [.commitSent: .delay(.seconds(1))]).plan)
            let late = fixture.scheduler.run { await old.modify(saving) }
            try await fixture.scheduler.sleep(for: .milliseconds(500))
            fixture.database.restore(backup)
            let start = fixture.scheduler.now
            #expect(await server.modify(saving).reason == nil)
            #expect(fixture.scheduler.now - start < .milliseconds(100))
            let records = try await fixture.records()
            _ = await late.value
            #expect(try await fixture.records() == records)
        }
    }

    @Test func `a frozen server frees its zones after a while, and its commit fails`() throws {
        let fixture = try ServiceFixture()
        let read = ZoneRead(key: fixture.key(), recordNames: [], parentNames: [], lives: [])
        try fixture.scheduler.simulate {
            let frozen = try await MemoryStore(fixture.database).beginWrite([read])
            try await fixture.scheduler.sleep(for: .seconds(4))
            let next = try await MemoryStore(fixture.database).beginWrite([read])
            #expect(fixture.scheduler.now < .seconds(6))
            await next.rollback()
            await #expect(throws: StorageError.self) { try await frozen.commit([]) }
        }
    }

    @Test func `changes of shares that PostgreSQL would refuse are not written, and complained of`() throws {
        let now = Timestamp(milliseconds: 1_700_000_000_000)
        func changes(at number: ChangeNumber, isNew: Bool = true, rowCount: UInt64 = 1) -> SharingChanges {
            var changes = SharingChanges(ShareNumber(1), at: number)
            if isNew { changes.insertedShare = Share(number: ShareNumber(1)) }
            changes.inserted = (0..<rowCount).map {
                Participant(id: ParticipantID(high: 1, low: $0), user: UserID(7), addedAt: now)
            }
            return changes
        }
        let cases: [(SharingChanges, Bool)] = [
            (changes(at: 1), true),
            (changes(at: 0), false), (changes(at: 2), false),  // not the number of a change
            (changes(at: 1, isNew: false), false),  // of a share that is not there
            (changes(at: 1, rowCount: 2), false),  // two rows of one user
        ]
        for (changes, isRight) in cases {
            let fixture = try ServiceFixture()
            let shares = try fixture.scheduler.simulate {
                let store = MemoryStore(fixture.database)
                let read = ZoneRead(key: fixture.key(), recordNames: [], parentNames: [], lives: [])
                let transaction = try await store.beginWrite([read])
                let zone = try #require(transaction.snapshots[0].zone)
                let record = RecordState(
                    name: Share.zoneWideName, type: Share.recordType, fields: FieldMap(), changeNumber: 1,
                    isDeleted: false, parent: nil, createdAt: now, createdBy: UserID(1),
                    createdByDevice: DeviceID(high: 0, low: 1), modifiedAt: now, modifiedBy: UserID(1), batchEnd: 1)
                try await transaction.commit([
                    ZoneChanges(
                        database: zone.key.database, zone: zone.id, changeNumber: 1, records: [record], memories: [:],
                        clientTokensMax: 1, sharing: [changes])
                ])
                return try await store.sharing(of: zone.key, .whole)?.sharing.shares.count
            }
            #expect(shares == (isRight ? 1 : 0))
            #expect(fixture.database.complaints.isEmpty == isRight)
        }
    }
}
