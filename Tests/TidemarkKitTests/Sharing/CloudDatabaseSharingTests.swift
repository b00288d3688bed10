// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Zones of other users, and an engine that follows them, on a server that answers as a test says.
@Suite struct CloudDatabaseSharingTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let container: CKContainer
    private static let zoneID = CKRecordZone.ID(zoneName: "Plans", ownerName: "_bob")

    init() {
        server = ScriptedServer(scheduler)
        container = .scripted(server, scheduler)
    }

    /// The zone of `_bob` with one note. Once its sharing has ended, the zone is gone.
    private func serve(_ hasEnded: Locked<Bool>) {
        server.answer { envelope in
            switch envelope.request {
            case .fetchDatabaseChanges(let feed):
                var answer = WireFetchDatabaseChangesAnswer()
                if hasEnded.withLock({ $0 }) {
                    var end = WireZoneEnd()
                    end.zone = .named("Plans", of: "_bob")
                    if feed.token != [9] { answer.ended = [end] }
                    answer.token = [9]
                } else {
                    answer.changed = [.named("Plans", of: "_bob")]
                    answer.token = feed.token + [1]
                }
                return .fetchDatabaseChanges(answer)
            case .fetchZoneChanges(let feed):
                var answer = WireFetchZoneChangesAnswer()
                answer.token = feed.token + [2]
                var change = WireZoneChange()
                (change.record.name, change.record.type, change.record.tag) = ("n", "Note", [1])
                change.record.createdBy = "_bob"
                answer.changes = [change]
                return .fetchZoneChanges(answer)
            case .modifyZones(let request):
                var answer = WireModifyZonesAnswer()
                answer.saves = request.saves.map { _ in
                    var result = WireZoneResult()
                    result.failure.code = .badDatabase
                    return result
                }
                answer.deletes = request.deletes.map { _ in
                    var result = WireZoneResult()
                    result.done = WireDone()
                    return result
                }
                return .modifyZones(answer)
            default: return nil
            }
        }
    }

    private func engine(_ delegate: RecordingDelegate, automatically: Bool = false) -> CKSyncEngine {
        var configuration = CKSyncEngine.Configuration(
            database: container.sharedCloudDatabase, stateSerialization: nil, delegate: delegate)
        configuration.automaticallySync = automatically
        return CKSyncEngine(configuration)
    }

    private func requests<Request>(_ request: (WireClientEnvelope.OneOfRequest) -> Request?) -> [Request] {
        server.envelopes.compactMap(\.request).compactMap(request)
    }

    /// With which tokens zones were asked for.
    private var tokens: [[UInt8]] {
        requests { request -> [UInt8]? in
            if case .fetchZoneChanges(let feed) = request { feed.token } else { nil }
        }
    }

    @Test func `R-034, R-025: a zone that is shared as a whole names its share`() throws {
        server.answer { envelope in
            guard case .fetchZones(let request) = envelope.request else { return nil }
            var answer = WireFetchZonesAnswer()
            answer.zones = request.zones.map { id in
                var result = WireZoneResult()
                result.zone.id = id
                result.zone.capabilities = 3
                result.zone.isShared = id.owner == "_bob"
                return result
            }
            return .fetchZones(answer)
        }
        let ids = [Self.zoneID, CKRecordZone.ID(zoneName: "Plans", ownerName: "_carol")]
        let zones = try scheduler.complete { [container] in
            try await container.sharedCloudDatabase.recordZones(for: ids)
        }
        let shared = try #require(try zones[ids[0]]?.get())
        #expect(shared.share?.recordID == CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: Self.zoneID))
        #expect(shared.share?.action == CKRecord.ReferenceAction.none)
        #expect(shared.capabilities == [.fetchChanges, .atomic])
        #expect(try zones[ids[1]]?.get().share == nil)
    }

    @Test func `R-225, R-320, R-549: an engine tells of the owner's zone, and of its end as of any zone's`() throws {
        let hasEnded = Locked(false)
        serve(hasEnded)
        let delegate = RecordingDelegate()
        var fetched: [CKRecord] = []
        var ended: [CKRecordZone.ID] = []
        delegate.onEvent = { event, _ in
            switch event {
            case .fetchedRecordZoneChanges(let changes): fetched += changes.modifications.map(\.record)
            case .fetchedDatabaseChanges(let changes): ended += changes.deletions.map(\.zoneID)
            default: break
            }
        }
        let engine = engine(delegate)
        try scheduler.complete { try await engine.fetchChanges() }
        #expect(fetched.map(\.recordID) == [CKRecord.ID(recordName: "n", zoneID: Self.zoneID)])
        #expect(fetched.first?.creatorUserRecordID?.recordName == "_bob" && ended.isEmpty)
        hasEnded.withLock { $0 = true }
        try scheduler.complete { try await engine.fetchChanges() }
        #expect(ended == [Self.zoneID])
        // Shared again, it is read from its beginning.
        hasEnded.withLock { $0 = false }
        try scheduler.complete { try await engine.fetchChanges() }
        #expect(tokens == [[], []] && fetched.count == 2)
    }

    /// What a delegate is told of that could not be sent.
    private final class ToldFailures {
        private(set) var ofRecords: [CKRecord.ID: [CKError.Code]] = [:]
        private(set) var ofZones: [CKError.Code] = []

        init(_ delegate: RecordingDelegate) {
            delegate.onEvent = { [self] event, _ in
                switch event {
                case .sentRecordZoneChanges(let sent):
                    for failure in sent.failedRecordSaves {
                        ofRecords[failure.record.recordID, default: []].append(failure.error.code)
                    }
                case .sentDatabaseChanges(let sent): ofZones += sent.failedZoneSaves.map(\.error.code)
                default: break
                }
            }
        }
    }

    @Test func `F-23, R-023, R-330, R-523: pending changes end with access, told once, and are saved nowhere else`()
        throws
    {
        let hasEnded = Locked(false)
        serve(hasEnded)
        let delegate = RecordingDelegate()
        let told = ToldFailures(delegate)
        let engine = engine(delegate)
        try scheduler.complete { try await engine.fetchChanges() }
        let ids = (0..<100).map { CKRecord.ID(recordName: "r\($0)", zoneID: Self.zoneID) }
        for id in ids { delegate.records[id] = CKRecord(recordType: "Note", recordID: id) }
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Self.zoneID))])
        engine.state.add(pendingRecordZoneChanges: ids.map { .saveRecord($0) })
        hasEnded.withLock { $0 = true }
        // hearing of the end alone changes nothing.
        try scheduler.complete { try await engine.fetchChanges() }
        #expect(engine.state.pendingRecordZoneChanges.count == 100)
        for _ in 0..<3 { try? scheduler.complete { try await engine.sendChanges() } }
        #expect(told.ofZones == [.badDatabase] && engine.state.pendingDatabaseChanges.isEmpty)
        #expect(told.ofRecords.count == 100 && told.ofRecords.values.allSatisfy { $0 == [.zoneNotFound] })
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        let databases = requests { request -> WireDatabaseScope? in
            switch request {
            case .modifyRecords(let request): request.database
            case .modifyZones(let request): request.database
            default: nil
            }
        }
        #expect(databases.count == 2 && databases.allSatisfy { $0 == .shared })
    }

    @Test func `F-23, R-508, R-584: an engine that syncs by itself sends what has no access any more once`() throws {
        let hasEnded = Locked(false)
        serve(hasEnded)
        let delegate = RecordingDelegate()
        let told = ToldFailures(delegate)
        let engine = engine(delegate, automatically: true)
        scheduler.advance(by: .seconds(30))
        #expect(tokens.first == [], "the zone is known")
        let ids = (0..<100).map { CKRecord.ID(recordName: "r\($0)", zoneID: Self.zoneID) }
        for id in ids { delegate.records[id] = CKRecord(recordType: "Note", recordID: id) }
        hasEnded.withLock { $0 = true }
        engine.state.add(pendingDatabaseChanges: [.saveZone(CKRecordZone(zoneID: Self.zoneID))])
        engine.state.add(pendingRecordZoneChanges: ids.map { .saveRecord($0) })
        scheduler.advance(by: .seconds(60))
        #expect(told.ofZones == [.badDatabase] && engine.state.pendingDatabaseChanges.isEmpty)
        #expect(told.ofRecords.count == 100 && told.ofRecords.values.allSatisfy { $0 == [.zoneNotFound] })
        #expect(engine.state.pendingRecordZoneChanges.isEmpty)
        #expect(server.log.count { $0.contains(" modify") } == 2, "\(server.log)")
        let count = server.log.count
        scheduler.advance(by: .seconds(60))
        #expect(server.log.count == count, "nothing is asked for: \(server.log.suffix(3))")
        // it looks four times an hour, and sends nothing.
        scheduler.advance(by: .seconds(3_600))
        let later = server.log.dropFirst(count)
        #expect(!later.contains { $0.contains(" modify") } && (1...10).contains(later.count), "\(later)")
        #expect(told.ofRecords.values.allSatisfy { $0.count == 1 } && told.ofZones.count == 1)
    }

    @Test(arguments: [true, false])
    func `R-225, R-330: a share that was lost and came back before the list told of it arrives anew`(
        isSave: Bool
    ) throws {
        serve(Locked(false))
        let delegate = RecordingDelegate()
        var fetched: [CKSyncEngine.Event.FetchedRecordZoneChanges] = []
        delegate.onEvent = { event, _ in
            if case .fetchedRecordZoneChanges(let changes) = event { fetched.append(changes) }
        }
        let engine = engine(delegate)
        try scheduler.complete { try await engine.fetchChanges() }
        // The scripted server knows no zone of a save. A fetch of the zone fails as well for once.
        let id = CKRecord.ID(recordName: "r", zoneID: Self.zoneID)
        if isSave {
            delegate.records[id] = CKRecord(recordType: "Note", recordID: id)
            engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
            try? scheduler.complete { try await engine.sendChanges() }
        } else {
            server.answer { envelope in
                switch envelope.request {
                case .fetchDatabaseChanges(let feed):
                    var answer = WireFetchDatabaseChangesAnswer()
                    answer.changed = [.named("Plans", of: "_bob")]
                    answer.token = feed.token + [1]
                    return .fetchDatabaseChanges(answer)
                case .fetchZoneChanges:
                    var failure = WireFailure()
                    failure.code = .zoneNotFound
                    return .failure(failure)
                default: return nil
                }
            }
            try? scheduler.complete { try await engine.fetchChanges() }
            serve(Locked(false))
        }
        let count = tokens.count
        try scheduler.complete { try await engine.fetchChanges() }
        #expect(Array(tokens.dropFirst(count)) == [[]], "from the beginning")
        #expect(fetched.map { $0.modifications.map(\.record.recordID.recordName) } == [["n"], ["n"]])
        // so the app hears which of its records are not there any more.
        #expect(fetched.first?.fullFetchReason == nil && fetched.last?.fullFetchReason != nil)
    }

    @Test(arguments: [true, false])
    func `R-207, R-225, R-549: a zone that has ended and is there again is read anew, and edits stay`(
        isOneAnswer: Bool
    ) throws {
        serve(Locked(false))
        let delegate = RecordingDelegate()
        var heard: [String] = []
        delegate.onEvent = { event, _ in
            guard case .fetchedDatabaseChanges(let changes) = event else { return }
            heard += changes.deletions.map { "\($0.zoneID.zoneName) ended" }
            heard += changes.modifications.map { "\($0.zoneID.zoneName) changed" }
        }
        let engine = engine(delegate)
        try scheduler.complete { try await engine.fetchChanges() }
        let edited = CKRecord.ID(recordName: "r", zoneID: Self.zoneID)
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(edited)])
        server.answer { envelope in
            switch envelope.request {
            case .fetchDatabaseChanges(let feed):
                let isFirst = feed.token != [9]
                var answer = WireFetchDatabaseChangesAnswer()
                var end = WireZoneEnd()
                end.zone = .named("Plans", of: "_bob")
                if isFirst { answer.ended = [end] }
                if isOneAnswer || !isFirst { answer.changed = [end.zone] }
                answer.token = isFirst ? [9] : [9, 1]
                answer.moreComing = isFirst && !isOneAnswer
                return .fetchDatabaseChanges(answer)
            case .fetchZoneChanges(let feed):
                var answer = WireFetchZoneChangesAnswer()
                answer.token = feed.token + [3]
                return .fetchZoneChanges(answer)
            default: return nil
            }
        }
        try scheduler.complete { try await engine.fetchChanges() }
        #expect(heard == ["Plans changed", "Plans ended", "Plans changed"])
        #expect(tokens == [[], []], "the old token is forgotten")
        #expect(engine.state.pendingRecordZoneChanges.count == 1, "R-523")
    }

    @Test func `R-032, R-330: an engine that deletes the zone leaves, and forgets it`() throws {
        serve(Locked(false))
        let delegate = RecordingDelegate()
        let engine = engine(delegate)
        try scheduler.complete { try await engine.fetchChanges() }
        engine.state.add(pendingDatabaseChanges: [.deleteZone(Self.zoneID)])
        try scheduler.complete { try await engine.sendChanges() }
        let deletes = requests { request -> [WireZoneID]? in
            if case .modifyZones(let request) = request { request.deletes } else { nil }
        }
        #expect(deletes == [[.named("Plans", of: "_bob")]] && engine.state.pendingDatabaseChanges.isEmpty)
        try scheduler.complete { try await engine.fetchChanges() }
        #expect(tokens == [[], []], "nothing is known of it any more")
    }
}
