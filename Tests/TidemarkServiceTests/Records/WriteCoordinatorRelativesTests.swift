// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// Requests that have many relatives read, and are refused.
@Suite struct WriteCoordinatorRelativesTests {
    /// A save that is refused, because it has no tag. In its zone there is a line of five records.
    private func refused(_ name: String, zone: String, in fixture: ServiceFixture, counter: UInt64) -> RecordsRequest {
        let id = RequestID(DeviceID(high: 2, low: 1), counter)
        return request([save(name, parent: .set("line 4"))], zone: zone, in: fixture, id)
    }

    private func save(_ name: String, parent: ParentChange = .unchanged) -> RecordSave {
        RecordSave(name: name, type: "Note", tag: nil, fields: FieldMap(), parent: parent)
    }

    private func request(
        _ saves: [RecordSave], zone: String, in fixture: ServiceFixture, _ id: RequestID,
        policy: SavePolicy = .ifServerRecordUnchanged
    ) -> RecordsRequest {
        RecordsRequest(
            id: id, key: fixture.key(zone), saves: saves, deletes: [], policy: policy,
            isAtomic: false, user: fixture.identity.user, access: .owner(fixture.identity.user))
    }

    /// Fills the zones with their lines, and with records that refused saves name.
    private func arrange(_ zones: [String], in fixture: ServiceFixture) async throws {
        let line = (0..<5).map { save("line \($0)", parent: $0 == 0 ? .unchanged : .set("line \($0 - 1)")) }
        let others = (1...20).map { save("refused \($0)") }
        for zone in zones {
            let id = RequestID(DeviceID(high: 3, low: 3), 1)
            let outcome = await fixture.server().modify(request(line + others, zone: zone, in: fixture, id))
            try #require(outcome.numbers.count == 25 && !outcome.numbers.contains(nil))
        }
    }

    /// One account's refused saves come to six zones at almost the same time. A commit takes 5 ms. Another account saves
    /// in one of the zones.
    @Test func `R-776: an account's changes of many relatives go one by one, others' beside them`() throws {
        let zones = (0..<6).map { "z\($0)" }
        let fixture = try ServiceFixture(zones: zones)
        let scheduler = fixture.scheduler
        let script = FaultScript(always: [.commitSent: .delay(.milliseconds(5))])
        var settings = WriteSettings()
        settings.relativesFree = 2
        let service = fixture.server(faults: script.plan, settings: settings)
        try scheduler.simulate {
            try await arrange(zones, in: fixture)
            let start = scheduler.now
            var tasks: [Task<Void, Never>] = []
            for zone in zones {
                let request = refused("refused 1", zone: zone, in: fixture, counter: 1)
                tasks.append(
                    scheduler.run {
                        let outcome = await service.modifyRecords([request], for: .account(1))[0]
                        #expect(outcome.numbers == [nil])
                    })
                try await scheduler.sleep(for: .microseconds(100))
            }
            let other = request([save("new")], zone: "z5", in: fixture, RequestID(DeviceID(high: 2, low: 2), 1))
            let outcome = await service.modifyRecords([other], for: .account(2))[0]
            #expect(outcome.numbers.count == 1 && !outcome.numbers.contains(nil))
            #expect(scheduler.now - start < .milliseconds(15), "it waits for no place")
            for task in tasks { await task.value }
            #expect(scheduler.now - start >= .milliseconds(30), "the six go one after another")
        }
    }

    /// Shares a root in each zone. Five records are below one that is below the root.
    private func arrangeHierarchies(_ zones: [String], in fixture: ServiceFixture) async throws {
        let leaves = (1...5).map { save("leaf \($0)", parent: .set("branch")) }
        let records = [save("root"), save("branch", parent: .set("root")), save("other")] + leaves
        for zone in zones {
            let share = RecordSave(
                name: "share", type: Share.recordType, tag: nil, fields: FieldMap(), parent: .unchanged,
                share: ShareSave(recordName: "share", rootName: "root", tag: nil),
                freshSecret: Array(zone.utf8) + [UInt8](repeating: 0x5E, count: 14))
            let id = RequestID(DeviceID(high: 3, low: 3), 1)
            let outcome = await fixture.server().modify(request(records + [share], zone: zone, in: fixture, id))
            try #require(outcome.numbers.count == 9 && !outcome.numbers.contains(nil))
        }
    }

    /// One account moves a record with five below it out of its share, in six zones at almost the same time. A commit takes
    /// 5 ms. Another account saves meanwhile.
    @Test func `F-19, R-776, R-978: an account's moves of what is shared go one by one, others' saves beside them`()
        throws
    {
        let zones = (0..<6).map { "z\($0)" }
        let fixture = try ServiceFixture(zones: zones)
        let scheduler = fixture.scheduler
        let script = FaultScript(always: [.commitSent: .delay(.milliseconds(5))])
        var settings = WriteSettings()
        settings.relativesFree = 2
        let service = fixture.server(faults: script.plan, settings: settings)
        try scheduler.simulate {
            try await arrangeHierarchies(zones, in: fixture)
            let start = scheduler.now
            var tasks: [Task<Void, Never>] = []
            for zone in zones {
                let request = request(
                    [save("branch", parent: .set("other"))], zone: zone, in: fixture,
                    RequestID(DeviceID(high: 2, low: 1), 1), policy: .changedKeys)
                tasks.append(
                    scheduler.run {
                        let outcome = await service.modifyRecords([request], for: .account(1))[0]
                        #expect(outcome.numbers.count == 1 && !outcome.numbers.contains(nil))
                    })
                try await scheduler.sleep(for: .microseconds(100))
            }
            let other = request([save("new")], zone: "z5", in: fixture, RequestID(DeviceID(high: 2, low: 2), 1))
            let outcome = await service.modifyRecords([other], for: .account(2))[0]
            #expect(outcome.numbers.count == 1 && !outcome.numbers.contains(nil))
            #expect(scheduler.now - start < .milliseconds(15), "it waits for no place")
            for task in tasks { await task.value }
            #expect(scheduler.now - start >= .milliseconds(30), "the six go one after another")
        }
    }

    /// One account sends twenty to a zone, which are too much for one transaction. A commit takes 30 ms.
    @Test func `R-776: a zone's requests that go one after another leave turns to others' requests`() throws {
        let fixture = try ServiceFixture()
        let scheduler = fixture.scheduler
        let script = FaultScript(always: [.commitSent: .delay(.milliseconds(30))])
        var settings = WriteSettings()
        settings.groupVisitsMax = 5
        let service = fixture.server(faults: script.plan, settings: settings)
        try scheduler.simulate {
            try await arrange(["notes"], in: fixture)
            let start = scheduler.now
            var tasks: [Task<Void, Never>] = []
            for counter in 1...20 as ClosedRange<UInt64> {
                let request = refused("refused \(counter)", zone: "notes", in: fixture, counter: counter)
                tasks.append(
                    scheduler.run {
                        let outcome = await service.modifyRecords([request], for: .account(1))[0]
                        #expect(outcome.numbers == [nil])
                    })
            }
            try await scheduler.sleep(for: .milliseconds(35))
            let other = request([save("new")], zone: "notes", in: fixture, RequestID(DeviceID(high: 2, low: 2), 1))
            let outcome = await service.modifyRecords([other], for: .account(2))[0]
            #expect(outcome.numbers.count == 1 && !outcome.numbers.contains(nil))
            #expect(scheduler.now - start < .milliseconds(300))
            for task in tasks { await task.value }
            #expect(scheduler.now - start >= .milliseconds(600), "they go one after another")
        }
    }
}
