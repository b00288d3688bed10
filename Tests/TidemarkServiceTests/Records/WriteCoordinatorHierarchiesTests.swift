// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// What a write reads and looks at for the sake of shared hierarchies.
@Suite struct WriteCoordinatorHierarchiesTests {
    private static let device = DeviceID(high: 2, low: 2)

    private static func save(_ name: String, parent: ParentChange = .unchanged) -> RecordSave {
        RecordSave(name: name, type: "Note", tag: nil, fields: FieldMap(), parent: parent)
    }

    private static let share = RecordSave(
        name: "S", type: Share.recordType, tag: nil, fields: FieldMap(), parent: .unchanged,
        share: ShareSave(recordName: "S", rootName: "a", tag: nil))

    @Test func `R-999: while hierarchies are not shared, no loop of a server does so or makes links for it`() throws {
        let fixture = try ServiceFixture()
        let shared = SharedWrites()
        let services = (0..<2).map { _ in fixture.server(sharedWrites: shared) }
        try fixture.scheduler.simulate { () async throws in
            var counter: UInt64 = 0
            func share(at service: CloudService) async throws -> [FailureReason?] {
                counter += 1
                let request = RecordsRequest(
                    id: RequestID(Self.device, counter), key: fixture.key(), saves: [Self.share, Self.save("a")],
                    deletes: [], policy: .allKeys, isAtomic: false, user: fixture.identity.user,
                    access: .owner(fixture.identity.user))
                return try await service.modify(request).get().saves.map { save in
                    if case .failed(let failure) = save { failure.reason } else { nil }
                }
            }
            shared.serveHierarchies(false)
            // More often than a zone has links that no share has taken.
            for _ in 0..<Limits().untakenLinksMax {
                for service in services {
                    #expect(try await share(at: service) == [.hierarchiesUnavailable, .batchFailed])
                }
            }
            shared.serveHierarchies(true)
            #expect(try await share(at: services[1]) == [nil, nil])
        }
    }

    /// a > b > c, b > d; and x. The hierarchy of a is shared, and a transaction without a place reads one relative.
    @Test func `R-776, R-978: what is below a record that moves takes a place, and is looked at elsewhere`() throws {
        var settings = WriteSettings()
        (settings.relativesFree, settings.visitsOnLoopMax) = (1, 1)
        let fixture = try ServiceFixture()
        let elsewhere = CountingExecutor(fixture.scheduler)
        let script = FaultScript()
        let service = fixture.server(
            faults: script.plan, sharedWrites: SharedWrites(settings: settings, largeGroups: elsewhere))
        try fixture.scheduler.simulate {
            /// - Returns: how many transactions it took, and how much was done elsewhere.
            func modify(_ counter: UInt64, _ saves: [RecordSave]) async throws -> (begun: Int, elsewhere: Int) {
                let before = (script.count(.beginSent), elsewhere.count)
                let request = RecordsRequest(
                    id: RequestID(Self.device, counter), key: fixture.key(), saves: saves, deletes: [],
                    policy: .allKeys, isAtomic: false, user: fixture.identity.user,
                    access: .owner(fixture.identity.user))
                let numbers = await service.modify(request).numbers
                try #require(numbers.count == saves.count && !numbers.contains(nil))
                return (script.count(.beginSent) - before.0, elsewhere.count - before.1)
            }
            func covered() async throws -> Set<String> {
                let read = ZoneRead(
                    key: fixture.key(), recordNames: ["a", "b", "c", "d", "x"], parentNames: [], lives: [])
                let transaction = try await MemoryStore(fixture.database).beginWrite([read])
                await transaction.rollback()
                return Set((transaction.snapshots.first?.hierarchies?.covers ?? [:]).keys)
            }
            _ = try await modify(1, ["a", "x"].map { Self.save($0) } + [Self.save("b", parent: .set("a"))])
            _ = try await modify(2, ["c", "d"].map { Self.save($0, parent: .set("b")) })
            let shared = try await modify(3, [Self.share, Self.save("a")])
            #expect(shared.begun == 2 && shared.elsewhere > 0)
            #expect(try await covered() == ["a", "b", "c", "d"])
            let moved = try await modify(4, [Self.save("b", parent: .set("x"))])
            #expect(moved.begun == 2 && moved.elsewhere > 0)
            #expect(try await covered() == ["a"])
            // Its parent stays, so nothing below it is read.
            let kept = try await modify(5, [Self.save("b", parent: .set("x"))])
            #expect(kept.begun == 1 && kept.elsewhere == 0)
            // Nothing is below it.
            let alone = try await modify(6, [Self.save("c", parent: .set("a"))])
            #expect(alone.begun == 1 && alone.elsewhere == 0)
            #expect(try await covered() == ["a", "c"])
        }
    }
}
