// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkFields
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// What an app changes after it has handed something over has no effect on what was begun.
@Suite struct HandedOverTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let container: CKContainer

    init() {
        server = ScriptedServer(scheduler)
        container = server.container()
        server.answer { Self.answer($0) }
    }

    /// A server that takes whatever it is given.
    private static func answer(_ envelope: WireClientEnvelope) -> WireServerEnvelope.OneOfAnswer? {
        switch envelope.request {
        case .modifySubscriptions(let request):
            var answer = WireModifySubscriptionsAnswer()
            answer.saves = request.saves.map { _ in
                var result = WireSubscriptionResult()
                result.done = WireDone()
                return result
            }
            return .modifySubscriptions(answer)
        case .modifyZones(let request):
            var answer = WireModifyZonesAnswer()
            answer.saves = request.saves.map { id in
                var result = WireZoneResult()
                result.zone.id = id
                return result
            }
            return .modifyZones(answer)
        case .modifyRecords(let request):
            var answer = WireModifyRecordsAnswer()
            answer.zones = request.zones.map { zone in
                var results = WireZoneModificationResults()
                results.saves = zone.saves.map { _ in
                    var result = WireSaveResult()
                    result.saved.tag = [1]
                    return result
                }
                return results
            }
            return .modifyRecords(answer)
        case .queryRecords: return .queryRecords(WireQueryRecordsAnswer())
        default: return nil
        }
    }

    private var requests: [WireClientEnvelope.OneOfRequest] { server.envelopes.compactMap(\.request) }

    private func until(_ condition: () -> Bool) async throws {
        try await eventually {
            scheduler.runUntilIdle()
            return condition()
        }
    }

    private func note(_ text: String) -> CKRecord {
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n"))
        note["text"] = text
        return note
    }

    private func texts() -> [String?] {
        requests.compactMap { if case .modifyRecords(let request) = $0 { request } else { nil } }
            .flatMap(\.zones).flatMap(\.saves).map { save in
                let fields = try? FieldMap(validating: save.fields, keys: .app)
                guard case .string(let text)? = try? fields?.first(where: { $0.key == "text" })?.value() else {
                    return nil
                }
                return text
            }
    }

    // MARK: Objects

    @Test func `R-288: a subscription has settings of its own for its pushes, and each copy has`() throws {
        let info = CKSubscription.NotificationInfo(alertBody: "before")
        let subscription = CKDatabaseSubscription(subscriptionID: "s")
        subscription.notificationInfo = info
        info.alertBody = "after"
        #expect(subscription.notificationInfo?.alertBody == "before")
        // As in CloudKit, they can be changed in place.
        subscription.notificationInfo?.title = "title"
        #expect(subscription.notificationInfo?.title == "title" && info.title == nil)
        let copy = try #require(subscription.copy() as? CKDatabaseSubscription)
        copy.notificationInfo?.title = "copy's"
        #expect(subscription.notificationInfo?.title == "title")
    }

    @Test func `R-288: a copy of a share's metadata has a share of its own`() throws {
        let share = CKShare(recordZoneID: CKRecordZone.ID(zoneName: "Z"))
        let metadata = CKShare.Metadata(
            .init(
                containerIdentifier: "iCloud.test", share: share, participantRole: .privateUser,
                participantStatus: .pending, participantPermission: .readOnly,
                ownerIdentity: share.owner.userIdentity))
        let copy = try #require(metadata.copy() as? CKShare.Metadata)
        copy.share["title"] = "copy's"
        copy.share.publicPermission = .readOnly
        #expect(share["title"] == nil && share.publicPermission == .none && copy == metadata)
    }

    @Test func `R-288: zones that wait to be saved by an engine are those that were given`() throws {
        let delegate = RecordingDelegate()
        var configuration = CKSyncEngine.Configuration(
            database: container.privateCloudDatabase, stateSerialization: nil, delegate: delegate)
        configuration.automaticallySync = false
        let engine = CKSyncEngine(configuration)
        let zone = CKRecordZone(zoneName: "Z")
        engine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
        zone.encryptionScope = .perZone
        for _ in 0..<2 {
            guard case .saveZone(let kept)? = engine.state.pendingDatabaseChanges.first else {
                Issue.record("The zone does not wait.")
                return
            }
            #expect(kept.encryptionScope == .perRecord)
            // What it hands out is a copy.
            kept.encryptionScope = .perZone
        }
    }

    // MARK: Calls with completion handlers

    @Test func `R-288: a subscription is saved as it was when the call was made, and another object comes back`()
        async throws
    {
        let subscription = CKDatabaseSubscription(subscriptionID: "s")
        subscription.notificationInfo = CKSubscription.NotificationInfo(alertBody: "before")
        let saved = Mutex<CKSubscription?>(nil)
        container.privateCloudDatabase.save(subscription) { result, _ in saved.withLock { $0 = result } }
        subscription.notificationInfo?.alertBody = "after"
        subscription.recordType = "Other"
        try await until { saved.withLock { $0 != nil } }
        let request = requests.compactMap { if case .modifySubscriptions(let request) = $0 { request } else { nil } }
        #expect(request.first?.saves.map(\.notificationInfo.alertBody) == ["before"])
        #expect(request.first?.saves.map(\.recordType) == [""])
        let result = try #require(saved.withLock { $0 })
        #expect(result !== subscription && result.notificationInfo?.alertBody == "before")
    }

    @Test func `R-288: so are a zone, a query and a record`() async throws {
        let database = container.privateCloudDatabase
        let count = Mutex(0)
        let zone = CKRecordZone(zoneName: "Z")
        database.save(zone) { _, _ in count.withLock { $0 += 1 } }
        zone.encryptionScope = .perZone
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        database.fetch(withQuery: query) { _ in count.withLock { $0 += 1 } }
        query.sortDescriptors = [NSSortDescriptor(key: "text", ascending: true)]
        let record = note("before")
        database.save(record) { _, _ in count.withLock { $0 += 1 } }
        record["text"] = "after"
        try await until { count.withLock { $0 } == 3 }
        for request in requests {
            switch request {
            case .modifyZones(let request): #expect(request.encryptionScopes == [.unspecified])
            case .queryRecords(let request): #expect(request.query.sorts.isEmpty)
            default: break
            }
        }
        #expect(texts() == ["before"])
        #expect(record["text"] as? String == "after" && record.changedKeys() == ["text"])
        #expect(record.recordChangeTag != nil, "it is saved, and has changed since")
        let many = note("before")
        database.modifyRecords(saving: [many], deleting: []) { _ in count.withLock { $0 += 1 } }
        many["text"] = "after"
        try await until { count.withLock { $0 } == 4 }
        #expect(texts() == ["before", "before"])
    }

    // MARK: Operations

    @Test func `R-288: an operation tells of what it began with`() async throws {
        let operation = CKModifySubscriptionsOperation()
        let subscription = CKDatabaseSubscription(subscriptionID: "s")
        subscription.notificationInfo = CKSubscription.NotificationInfo(alertBody: "before")
        operation.subscriptionsToSave = [subscription]
        let told = Mutex<[String]>([])
        let isOver = Mutex(false)
        operation.perSubscriptionSaveBlock = { id, result in
            told.withLock { $0.append("\(id) \((try? result.get())?.notificationInfo?.alertBody ?? "-")") }
        }
        operation.modifySubscriptionsResultBlock = { _ in isOver.withLock { $0 = true } }
        server.answer { envelope in
            if case .modifySubscriptions? = envelope.request {
                subscription.notificationInfo = nil
                operation.subscriptionsToSave = []
            }
            return Self.answer(envelope)
        }
        container.privateCloudDatabase.add(operation)
        try await until { isOver.withLock { $0 } }
        #expect(told.withLock { $0 } == ["s before"])
    }

    @Test func `R-288: a fetch of zones goes on with the configurations that it began with`() async throws {
        let zones = [CKRecordZone.ID(zoneName: "A"), CKRecordZone.ID(zoneName: "B")]
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration(resultsLimit: 3, desiredKeys: ["a"])
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: zones, configurationsByRecordZoneID: [zones[0]: configuration, zones[1]: configuration])
        let isOver = Mutex(false)
        operation.fetchRecordZoneChangesResultBlock = { _ in isOver.withLock { $0 = true } }
        server.answer { envelope in
            guard case .fetchZoneChanges(let request)? = envelope.request else { return nil }
            (configuration.resultsLimit, configuration.desiredKeys) = (9, nil)
            (operation.fetchAllChanges, operation.configurationsByRecordZoneID) = (false, nil)
            var answer = WireFetchZoneChangesAnswer()
            (answer.token, answer.moreComing) = ([1], request.token.isEmpty)
            return .fetchZoneChanges(answer)
        }
        container.privateCloudDatabase.add(operation)
        try await until { isOver.withLock { $0 } }
        let sent = requests.compactMap { request -> String? in
            guard case .fetchZoneChanges(let fetch) = request else { return nil }
            return "\(fetch.zone.name) \(fetch.limit) \(fetch.desiredKeys.keys)"
        }
        #expect(sent == ["A 3 [\"a\"]", "A 3 [\"a\"]", "B 3 [\"a\"]", "B 3 [\"a\"]"])
    }

    @Test func `R-288, R-395: an operation has the settings that it began with`() async throws {
        server.hold { if case .fetchZones = $0.request { true } else { false } }
        let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        let group = CKOperationGroup()
        group.defaultConfiguration.timeoutIntervalForRequest = 7
        operation.group = group
        operation.configuration.timeoutIntervalForResource = 11
        container.privateCloudDatabase.add(operation)
        try await until { server.log.contains("alice fetchZones") }
        group.defaultConfiguration.timeoutIntervalForRequest = 70
        operation.configuration.timeoutIntervalForResource = 110
        #expect(operation.effectiveConfiguration.timeoutIntervalForRequest == 7)
        #expect(operation.effectiveConfiguration.timeoutIntervalForResource == 11)
        #expect(operation.configuration.timeoutIntervalForResource == 110)
        operation.cancel()
        try await until { operation.isFinished }
    }
}
