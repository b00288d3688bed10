// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFairness
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// Quotas in transactions.
@Suite struct WriteCoordinatorQuotaTests {
    private let device = DeviceID(high: 2, low: 2)
    private let container = ContainerKey(identifier: "iCloud.test", environment: .development)

    /// Alice's database may hold so many records as ``ServiceFixture/saving(_:deleting:zone:text:id:policy:isAtomic:)``
    /// makes them, with names of one letter.
    private func fixture(zones: [String] = ["notes"], recordsMax: Int64) throws -> ServiceFixture {
        let fixture = try ServiceFixture(zones: zones)
        let save = try fixture.saving(["r"], id: RequestID(device, 1)).saves[0]
        let recordBytes = save.fields.byteCount + save.name.utf8.count + save.type.utf8.count + 128
        let bytesMax = Int64(recordBytes) * recordsMax
        #expect(fixture.database.setQuota(StorageQuota(privateBytes: bytesMax), of: container))
        return fixture
    }

    private func reasons(_ outcome: Result<RecordsOutcome, FailureReason>) -> [FailureReason?] {
        guard case .success(let outcome) = outcome else { return [] }
        return outcome.saves.map { if case .failed(let failure) = $0 { failure.reason } else { nil } }
    }

    @Test func `R-011: zones of one database share its room, also in one transaction`() throws {
        let zones = ["a", "b", "c"]
        let fixture = try fixture(zones: zones, recordsMax: 4)
        let script = FaultScript()
        let service = fixture.server(faults: script.plan)
        let outcomes = try fixture.scheduler.simulate {
            let parts = try zones.map { try fixture.saving(["x", "y"], zone: $0, id: RequestID(device, 1)) }
            return await service.modifyRecords(parts, for: .account(1))
        }
        #expect(script.count(.commitSent) == 1)
        #expect(outcomes.map(reasons) == [[nil, nil], [nil, nil], [.quotaExceeded, .quotaExceeded]])
    }

    @Test func `R-011: servers that write at once in zones of one database do not fill the same room`() throws {
        let zones = (0..<6).map { "z\($0)" }
        let fixture = try fixture(zones: zones, recordsMax: 3)
        let script = FaultScript(always: [.commitSent: .delay(.milliseconds(5))])
        let outcomes = try fixture.scheduler.simulate {
            var tasks: [Task<Result<RecordsOutcome, FailureReason>, Never>] = []
            for zone in zones {
                let service = fixture.server(faults: script.plan)
                let request = try fixture.saving(["x"], zone: zone, id: RequestID(device, 1))
                tasks.append(fixture.scheduler.run { await service.modify(request) })
            }
            return await tasks.values()
        }
        #expect(outcomes.flatMap(reasons).count { $0 == nil } == 3)
        #expect(outcomes.flatMap(reasons).count { $0 == .quotaExceeded } == 3)
    }

    @Test func `R-706: what was rolled back has not been counted, and what was committed counts once`() throws {
        let fixture = try fixture(recordsMax: 2)
        // The answer to the first commit is lost: it is found in what is remembered.
        let script = FaultScript(first: [.commitAnswered: [.disconnect]])
        var plan = script.plan
        plan.rejects = { changes in changes.contains { $0.records.contains { $0.name == "z" } } }
        let service = fixture.server(faults: plan)
        let outcomes = try fixture.scheduler.simulate {
            var outcomes: [Result<RecordsOutcome, FailureReason>] = []
            for (index, name) in ["a", "z", "b", "c"].enumerated() {
                let request = try fixture.saving([name], id: RequestID(device, UInt64(index) + 1))
                outcomes.append(await service.modify(request))
            }
            return outcomes
        }
        #expect(outcomes.map(\.reason) == [nil, .serverFault, nil, nil])
        #expect(outcomes.map(reasons) == [[nil], [], [nil], [.quotaExceeded]])
    }

    /// Saves and deletes many records, one after another. Returns why saves failed, the most bytes of tombstones that
    /// were there, and the oldest number from which tokens still hold.
    private func churn(
        _ fixture: ServiceFixture
    ) throws -> (reasons: Set<FailureReason?>, tombstoneBytesMax: Int64, oldestTokenNumber: ChangeNumber?) {
        var limits = Limits()
        limits.tombstoneBytesMin = 500
        let service = fixture.server(limits: limits)
        return try fixture.scheduler.simulate {
            var result: (Set<FailureReason?>, Int64, ChangeNumber?) = ([], 0, nil)
            for number in 10..<50 {
                for isSave in [true, false] {
                    let request = try fixture.saving(
                        isSave ? ["r\(number)"] : [], deleting: isSave ? [] : ["r\(number)"],
                        id: RequestID(device, UInt64(number * 2 + (isSave ? 0 : 1))))
                    result.0.formUnion(reasons(await service.modify(request)))
                    let read = ZoneRead(key: fixture.key(), recordNames: [], parentNames: [], lives: [])
                    let transaction = try await MemoryStore(fixture.database).beginWrite([read])
                    await transaction.rollback()
                    let snapshot = transaction.snapshots[0]
                    result.1 = max(result.1, snapshot.tombstoneBytes)
                    result.2 = snapshot.zone?.oldestTokenNumber
                }
            }
            return result
        }
    }

    @Test func `R-755: whoever saves and deletes again and again has room, and the server forgets old deletions`()
        throws
    {
        let (reasons, tombstoneBytesMax, oldestTokenNumber) = try churn(try fixture(recordsMax: 2))
        #expect(reasons == [nil])
        // A tombstone has 131 bytes. The request after the one that makes them too many finds them, and no answer waits
        // until they are forgotten.
        #expect((4 * 131...6 * 131).contains(tombstoneBytesMax))
        #expect(try #require(oldestTokenNumber) > 0)
    }

    @Test func `R-755: without a quota no deletion is forgotten`() throws {
        #expect(try churn(try ServiceFixture()).oldestTokenNumber == 0)
    }

    @Test func `R-733: devices that come again and again leave a bounded number of tokens, although nothing fits`()
        throws
    {
        let zones = ["a", "b"]
        let fixture = try fixture(zones: zones, recordsMax: 0)
        var limits = Limits()
        limits.clientTokensMax = 5
        let service = fixture.server(limits: limits)
        let tokens: [[UInt8]] = try fixture.scheduler.simulate {
            for number in UInt64(1)...40 {
                // A new device each time, and always the same life.
                let id = RequestID(
                    device: DeviceID(high: 3, low: number), life: device, counter: number, lowestUnanswered: number)
                let request = RecordsRequest(
                    id: id, key: fixture.key(zones[Int(number % 2)]), saves: try fixture.saving(["r"], id: id).saves,
                    deletes: [], policy: .allKeys, isAtomic: false, user: fixture.identity.user,
                    access: .owner(fixture.identity.user), clientToken: [UInt8(number)])
                let outcome = await service.modify(request)
                #expect(reasons(outcome) == [.quotaExceeded])
            }
            var tokens: [[UInt8]] = []
            for number in UInt64(1)...40 {
                let page = try await MemoryStore(fixture.database).zonePage(
                    ZonePageQuery(
                        key: fixture.key(zones[Int(number % 2)]), after: nil, recordsMax: 1, bytesMax: 1,
                        device: DeviceID(high: 3, low: number), reader: nil,
                        tombstonesPassedMax: Limits().tombstonesPassedMax))
                tokens.append(page.clientToken)
            }
            return tokens
        }
        #expect(tokens.filter { !$0.isEmpty } == [[36], [37], [38], [39], [40]])
    }

    @Test func `R-157: a request that did not fit is answered as it was, also when there is room by now`() throws {
        let fixture = try fixture(recordsMax: 1)
        let service = fixture.server()
        let outcomes = try fixture.scheduler.simulate {
            let refused = try fixture.saving(["x", "y"], id: RequestID(device, 1))
            var outcomes = [await service.modify(refused)]
            let freeing = try fixture.saving([], deleting: ["x"], id: RequestID(device, 2))
            _ = await service.modify(freeing)
            outcomes.append(await service.modify(refused))
            let again = try fixture.saving(["y"], id: RequestID(device, 3))
            outcomes.append(await service.modify(again))
            return outcomes
        }
        #expect(outcomes.map(reasons) == [[nil, .quotaExceeded], [nil, .quotaExceeded], [nil]])
    }
}
