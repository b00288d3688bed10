// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkDomain
import TidemarkSessions
import TidemarkTestKit
import TidemarkWire

/// What comes with CKShare records.
@Suite struct RequestRouterSharesTests {
    /// A request whose answer has the CKShare record of the pair's zone.
    enum Asking: CaseIterable {
        case byName, changes, query, save

        func request(_ pair: SharingPair) throws -> WireClientEnvelope.OneOfRequest {
            switch self {
            case .byName:
                var part = WireZoneRecordNames()
                part.zone = TestClient.zone("notes")
                part.names = [Share.zoneWideName]
                var request = WireFetchRecords()
                request.database = .private
                request.zones = [part]
                return .fetchRecords(request)
            case .changes: return .fetchZoneChanges(TestClient.zoneChanges("notes"))
            case .query:
                var request = WireQueryRecords()
                request.database = .private
                request.query.recordType = Share.recordType
                request.query.zone = TestClient.zone("notes")
                return .queryRecords(request)
            case .save:
                var request = try pair.alice.saving(Share.zoneWideName, in: "notes")
                request.policy = .ifServerRecordUnchanged
                request.zones[0].saves[0].type = Share.recordType
                request.zones[0].saves[0].tag = try pair.newestTag()
                return .modifyRecords(request)
            }
        }

        /// Nil: the request failed.
        static func records(in answer: WireServerEnvelope.OneOfAnswer?) -> [WireRecord]? {
            let records: [WireRecord]
            switch answer {
            case .fetchRecords(let answer)?: records = answer.results.map(\.record)
            case .fetchZoneChanges(let answer)?: records = answer.changes.map(\.record)
            case .queryRecords(let answer)?: records = answer.matches.map(\.record)
            case .modifyRecords(let answer)?:
                guard case .saved(let saved)? = answer.zones.first?.saves.first?.result else { return nil }
                records = [saved.record]
            default: return nil
            }
            let shares = records.filter { $0.name == Share.zoneWideName }
            return shares.isEmpty ? nil : shares
        }
    }

    @Test func `R-188: a page of CKShare records is short, and their shares are read together`() throws {
        let world = SessionWorld { $0.limits.pageSharesMax = 5 }
        let alice = try world.enter("alice", device: 1)
        for number in 1...7 {
            try alice.makeZone("zone \(number)")
            try alice.share("zone \(number)", .readOnly)
        }
        var request = WireQueryRecords()
        request.database = .private
        request.query.recordType = Share.recordType
        var pages: [[Bool]] = []
        for _ in 1...2 {
            // More reads than these fail.
            world.server.faults.always(.callSent, .reject, after: 4)
            let answer = try alice.ask(.queryRecords(request))
            guard case .queryRecords(let page)? = answer else { throw SessionWorld.Unexpected(answer) }
            pages.append(page.matches.map(\.record.hasShare))
            request.cursor = page.cursor
        }
        #expect(pages.map(\.count) == [5, 2] && pages.joined().allSatisfy { $0 } && request.cursor.isEmpty)
    }

    @Test func `R-188, R-723: of the shares of one page some are read at once, and all of them come`() throws {
        var readCounts: [Int] = []
        for together in [5, 2] {
            let world = SessionWorld { $0.limits.sharesTogetherMax = together }
            let alice = try world.enter("alice", device: 1)
            for number in 1...5 {
                try alice.makeZone("zone \(number)")
                try alice.share("zone \(number)", .readOnly)
            }
            var request = WireQueryRecords()
            request.database = .private
            request.query.recordType = Share.recordType
            let before = world.server.faults.count(of: .callSent)
            let answer = try alice.ask(.queryRecords(request))
            guard case .queryRecords(let page)? = answer else { throw SessionWorld.Unexpected(answer) }
            #expect(page.matches.count == 5 && page.matches.map(\.record.hasShare).allSatisfy { $0 })
            readCounts.append(world.server.faults.count(of: .callSent) - before)
        }
        #expect(readCounts[1] == readCounts[0] + 2, "three reads instead of one")
    }

    @Test func `R-716, I-7: for conflicts no more shares are read than the answer has room for, some at once`() throws {
        let world = SessionWorld {
            $0.limits.pageSharesMax = 4
            // Six of the shares.
            $0.limits.answerBytesMax = 1_300
        }
        let alice = try world.enter("alice", device: 1)
        var zones: [WireZoneModifications] = []
        for number in 1...16 {
            let name = "zone \(number)"
            try alice.makeZone(name)
            let first = try alice.share(name, .readOnly)
            try alice.share(name, .readWrite, tag: first.tag)
            var save = WireRecordSave()
            save.name = Share.zoneWideName
            save.type = Share.recordType
            save.tag = first.tag
            save.share.publicPermission = .noAccess
            var part = WireZoneModifications()
            part.zone = TestClient.zone(name)
            part.saves = [save]
            zones.append(part)
        }
        let one = try conflicts(of: Array(zones.prefix(1)), as: alice, in: world)
        let all = try conflicts(of: zones, as: alice, in: world)
        #expect(one.failures.count == 1 && all.failures.count == 16)
        #expect(all.failures.allSatisfy { $0.failure.code == .serverRecordChanged })
        let shown = all.failures.filter(\.hasServerRecord)
        #expect(shown.count == 6 && shown.allSatisfy { $0.serverRecord.hasShare })
        // Four shares are read at once, and four more, with which the answer is full. Beside that 16 conflicts read what
        // one does.
        #expect(all.readCount == one.readCount + 1)
    }

    /// What a request answers whose saves all fail, and how often it reads.
    private func conflicts(
        of zones: [WireZoneModifications], as client: TestClient, in world: SessionWorld
    ) throws -> (failures: [WireSaveFailure], readCount: Int) {
        var request = WireModifyRecords()
        (request.database, request.stamp, request.zones) = (.private, client.stamp(), zones)
        let before = world.server.faults.count(of: .callSent)
        let answer = try client.ask(.modifyRecords(request))
        guard case .modifyRecords(let records)? = answer else { throw SessionWorld.Unexpected(answer) }
        return (records.zones.flatMap(\.saves).map(\.failure), world.server.faults.count(of: .callSent) - before)
    }

    @Test(arguments: Asking.allCases)
    func `R-309, R-312: a CKShare record does not come without its share, whichever read of the store fails`(
        asking: Asking
    ) throws {
        var failureCount = 0
        for sparedCount in 0..<16 {
            let world = SessionWorld()
            let pair = try SharingPair(world)
            let request = try asking.request(pair)
            world.server.faults.always(.callSent, .reject, after: sparedCount)
            guard let records = Asking.records(in: try pair.alice.ask(request)) else {
                failureCount += 1
                continue
            }
            #expect(records.map(\.hasShare) == [true], "\(sparedCount) reads")
            let roles = records[0].share.participants.map(\.role)
            #expect(roles == [.owner, .publicUser], "\(sparedCount) reads")
            break
        }
        #expect((1..<16).contains(failureCount), "it is shown, but not without a read")
    }
}
