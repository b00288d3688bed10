// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// How operations and calls go on, with real connections to a server in memory that does not answer everything.
@Suite struct CKOperationRunningTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer

    init() {
        server = ScriptedServer(scheduler)
    }

    private func configuration(
        request: TimeInterval? = nil, resource: TimeInterval? = nil, _ quality: QualityOfService? = nil
    ) -> CKOperation.Configuration {
        let configuration = CKOperation.Configuration()
        if let request { configuration.timeoutIntervalForRequest = request }
        if let resource { configuration.timeoutIntervalForResource = resource }
        if let quality { configuration.qualityOfService = quality }
        return configuration
    }

    /// Lets the server's side happen until `condition` holds.
    private func until(_ condition: () -> Bool) async throws {
        try await eventually {
            scheduler.runUntilIdle()
            return condition()
        }
    }

    private func code(_ error: (any Error)?) -> CKError.Code? { (error as? CKError)?.code }

    // MARK: Time

    @Test func `R-395: the time for all of the work bounds it, also where a request might take longer`() throws {
        server.hold { if case .fetchZones = $0.request { true } else { false } }
        let database = server.container().privateCloudDatabase
        for quality in [QualityOfService.userInteractive, .userInitiated, .default, .utility, .background] {
            let begin = scheduler.now
            let settings = configuration(resource: 5, quality)
            let error = #expect(throws: CKError.self) {
                try scheduler.complete {
                    try await database.configuredWith(configuration: settings) { try await $0.allRecordZones() }
                }
            }
            #expect(error?.code == .networkFailure && scheduler.now - begin == .seconds(5))
        }
    }

    @Test func `R-395, R-397: what is tried again and again ends in time, and not before`() throws {
        server.hold { if case .fetchZones = $0.request { true } else { false } }
        let database = server.container().privateCloudDatabase
        let settings = configuration(request: 20, resource: 100, .utility)
        let error = #expect(throws: CKError.self) {
            try scheduler.complete {
                try await database.configuredWith(configuration: settings) { try await $0.allRecordZones() }
            }
        }
        #expect(error?.code == .networkFailure && scheduler.now == .seconds(100))
        // 20 seconds each, and pauses of at most 1, 2, 4 and 8.
        #expect((4...5).contains(server.log.count { $0 == "alice fetchZones" }))
    }

    @Test func `R-395: an operation has one time for all of its requests`() throws {
        let operation = CKFetchDatabaseChangesOperation()
        operation.database = server.container().privateCloudDatabase
        operation.configuration = configuration(resource: 90)
        #expect(try operation.cloud.timeLeft == .seconds(90))
        scheduler.advance(by: .seconds(50))
        #expect(try operation.cloud.timeLeft == .seconds(40))
        scheduler.advance(by: .seconds(50))
        #expect(try operation.cloud.isOutOfTime)
    }

    @Test func `R-395: times that are none are the defaults, and those without end are long`() {
        for interval: TimeInterval in [0, -1, .nan, -TimeInterval.infinity] {
            let settings = configuration(request: interval, resource: interval)
            #expect(settings.requestTimeout == .seconds(60) && settings.resourceTimeout == .seconds(604_800))
        }
        for interval in [TimeInterval.infinity, .greatestFiniteMagnitude] {
            let settings = configuration(request: interval, resource: interval)
            #expect(settings.requestTimeout > .seconds(604_800) && settings.resourceTimeout > .seconds(604_800))
        }
        let settings = configuration(request: 0.25, resource: 2.5)
        #expect(settings.requestTimeout == .milliseconds(250) && settings.resourceTimeout == .milliseconds(2_500))
    }

    @Test func `R-395: a request without an answer is given up after its time`() throws {
        server.hold { if case .fetchZones = $0.request { true } else { false } }
        let database = server.container().privateCloudDatabase
        let error = #expect(throws: CKError.self) {
            try scheduler.complete {
                try await database.configuredWith(configuration: configuration(request: 7)) {
                    try await $0.allRecordZones()
                }
            }
        }
        #expect(error?.code == .networkFailure && scheduler.now == .seconds(7))
    }

    @Test func `R-396: asking who is signed in takes as long as a configured container says`() throws {
        server.hold { if case .hello = $0.request { true } else { false } }
        let container = server.container()
        let status = try scheduler.complete {
            try await container.configuredWith(configuration: configuration(request: 3)) {
                try await $0.accountStatus()
            }
        }
        #expect(status == .couldNotDetermine && scheduler.now == .seconds(3))
        let group = CKOperationGroup()
        group.defaultConfiguration.timeoutIntervalForRequest = 4
        #expect(throws: CKError.self) {
            try scheduler.complete {
                try await container.configuredWith(group: group) { try await $0.userRecordID() }
            }
        }
        #expect(scheduler.now == .seconds(7))
    }

    @Test func `R-375: a pause is between half and all of what it might be, or what the server says`() {
        let error = CKError(.networkFailure)
        for (failures, seconds) in [(0, 1.0), (1, 2), (3, 8), (8, 256), (9, 300), (1_000, 300)] {
            #expect(error.waitBeforeRetry(failures: failures, randomBits: 0) == .seconds(seconds / 2))
            let longest = error.waitBeforeRetry(failures: failures, randomBits: .max)
            #expect(longest > .seconds(seconds * 0.99) && longest <= .seconds(seconds))
        }
        let busy = CKError(.zoneBusy, message: "", retryAfter: 3)
        #expect(busy.waitBeforeRetry(failures: 5, randomBits: 0) == .seconds(3))
        let nonsense = CKError(.zoneBusy, message: "", retryAfter: .infinity)
        #expect(nonsense.waitBeforeRetry(failures: 0, randomBits: 0) == .seconds(86_400))
    }

    @Test func `R-372: devices that make keys of one zone at the same time are told how long to wait`() {
        #expect(CloudDatabase.zoneKeysBusy.code == .zoneBusy && CloudDatabase.zoneKeysBusy.retryAfterSeconds == 1)
    }

    // MARK: Urgency

    @Test func `R-395, R-397: an operation's own quality of service wins over its configuration's and its group's`()
        throws
    {
        let database = server.container().privateCloudDatabase
        typealias Quality = QualityOfService
        let rows: [(own: Quality, configuration: Quality?, group: Quality?, isPatient: Bool)] = [
            (.default, nil, nil, false), (.utility, nil, nil, true), (.background, nil, nil, true),
            (.default, .utility, nil, true), (.default, nil, .background, true),
            (.default, .userInitiated, .background, false), (.default, .default, .utility, false),
            (.userInitiated, .utility, .background, false), (.userInteractive, nil, .utility, false),
            (.background, .userInitiated, nil, true),
        ]
        for row in rows {
            let operation = CKFetchRecordZonesOperation()
            operation.database = database
            operation.qualityOfService = row.own
            if let quality = row.configuration { operation.configuration.qualityOfService = quality }
            if let quality = row.group {
                operation.group = CKOperationGroup()
                operation.group?.defaultConfiguration.qualityOfService = quality
            }
            #expect(try operation.cloud.isPatient == row.isPatient, "\(row)")
        }
    }

    // MARK: Cancelling

    @Test func `R-393: cancelling an operation ends the request that is under way`() async throws {
        server.hold { if case .fetchZones = $0.request { true } else { false } }
        let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        let results = Mutex<[CKError.Code?]>([])
        operation.fetchRecordZonesResultBlock = { result in results.withLock { $0.append(code(result.error)) } }
        server.container().privateCloudDatabase.add(operation)
        try await until { server.log.contains("alice fetchZones") }
        #expect(!operation.isFinished && operation.isExecuting)
        operation.cancel()
        try await until { operation.isFinished }
        #expect(results.withLock { $0 } == [.operationCancelled])
    }

    @Test func `R-401: cancelling the task of a call ends the request that is under way`() async throws {
        server.hold { if case .fetchZones = $0.request { true } else { false } }
        let database = server.container().privateCloudDatabase
        let task = Task { try await database.allRecordZones() }
        try await until { server.log.contains("alice fetchZones") }
        task.cancel()
        let error = await #expect(throws: CKError.self) { try await task.value }
        #expect(error?.code == .operationCancelled)
    }

    @Test func `R-393, R-401: a task that is cancelled already sends nothing`() async throws {
        let database = server.container().privateCloudDatabase
        _ = try scheduler.complete { try await database.databaseChanges(since: nil) }
        let log = server.log
        let task = Task {
            // As by a block that is told that the last piece of an asset is over.
            withUnsafeCurrentTask { $0?.cancel() }
            try await database.save(CKRecord(recordType: "Note"))
        }
        let error = await #expect(throws: CKError.self) { try await task.value }
        #expect(error?.code == .operationCancelled)
        scheduler.runUntilIdle()
        #expect(server.log == log)
    }

    @Test func `R-393: progress is not told of any more`() {
        let record = CKRecord(recordType: "Note")
        let told = Mutex(0)
        let save = CKModifyRecordsOperation(recordsToSave: [record])
        save.perRecordProgressBlock = { _, _ in told.withLock { $0 += 1 } }
        let progress = save.progress(of: [record])
        progress?(record.recordID, 0.5)
        save.cancel()
        progress?(record.recordID, 0.6)
        let fetch = CKFetchRecordsOperation(recordIDs: [record.recordID])
        fetch.perRecordProgressBlock = { _, _ in told.withLock { $0 += 1 } }
        let fetching = fetch.progress
        fetching?(record.recordID, 0.5)
        fetch.cancel()
        fetching?(record.recordID, 0.6)
        #expect(told.withLock { $0 } == 2)
    }

    // MARK: Blocks

    /// Begins many calls. The block of each waits for another call.
    private func waitInBlocks(_ begin: (CKDatabase, _ block: @escaping @Sendable () -> Void) -> Void) async throws {
        let context = CloudContext(
            containerIdentifier: "iCloud.test.wait", configuration: TidemarkConfiguration(url: nil, token: "t"))
        let container = CKContainer(context: context)
        let database = container.privateCloudDatabase
        // More than there are cores: were they called where tasks run, none of them would get on.
        let count = 4 * ProcessInfo.processInfo.activeProcessorCount
        let waited = Mutex<[Bool]>([])
        for _ in 0..<count {
            begin(database) {
                let semaphore = DispatchSemaphore(value: 0)
                database.modifyRecords(saving: [], deleting: []) { _ in semaphore.signal() }
                let isDone = semaphore.wait(timeout: .now() + 15) == .success
                waited.withLock { $0.append(isDone && !Thread.isMainThread) }
            }
        }
        try await eventually(within: .seconds(60)) { waited.withLock { $0.count == count } }
        #expect(waited.withLock { $0.allSatisfy { $0 } })
    }

    @Test func `R-390: blocks are called off the main thread, and one that waits for other calls holds up nothing`()
        async throws
    {
        try await waitInBlocks { database, block in
            let operation = CKModifyRecordsOperation()
            operation.modifyRecordsResultBlock = { _ in block() }
            database.add(operation)
        }
    }

    @Test func `R-390, R-401: a completion handler that waits for other calls holds up nothing`() async throws {
        try await waitInBlocks { database, block in
            database.modifyRecords(saving: [], deleting: []) { _ in block() }
        }
    }

    @Test func `R-394: an operation can be waited for`() {
        let operation = CKModifyRecordsOperation()
        operation.database = server.container().privateCloudDatabase
        let results = Mutex(0)
        operation.modifyRecordsResultBlock = { _ in results.withLock { $0 += 1 } }
        let queue = OperationQueue()
        queue.addOperation(operation)
        operation.waitUntilFinished()
        #expect(operation.isFinished && results.withLock { $0 } == 1)
        let others = [CKModifyRecordsOperation(), CKModifyRecordsOperation()]
        for other in others { other.database = operation.database }
        queue.addOperations(others, waitUntilFinished: true)
        #expect(others.allSatisfy { $0.isFinished })
    }

    @Test func `R-393, R-394: in a serial queue that is cancelled each operation has one result, in order`()
        async throws
    {
        server.hold { envelope in
            guard case .modifyRecords(let request) = envelope.request else { return false }
            return request.zones.first?.deletes == ["2"]
        }
        let database = server.container().privateCloudDatabase
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let results = Mutex<[String]>([])
        func add(_ number: Int) {
            let id = CKRecord.ID(recordName: "\(number)", zoneID: CKRecordZone.ID(zoneName: "Z"))
            let operation = CKModifyRecordsOperation(recordsToSave: nil, recordIDsToDelete: [id])
            operation.database = database
            operation.modifyRecordsResultBlock = { result in
                results.withLock { $0.append("\(number) \(code(result.error).map { "\($0)" } ?? "done")") }
            }
            operation.completionBlock = { results.withLock { $0.append("\(number) ended") } }
            queue.addOperation(operation)
        }
        func sent() -> [String] {
            server.envelopes.compactMap { envelope in
                guard case .modifyRecords(let request) = envelope.request else { return nil }
                return request.zones.first?.deletes.first
            }
        }
        for number in 0..<6 { add(number) }
        try await until { sent() == ["0", "1", "2"] }
        #expect(queue.operationCount == 4)
        // One after the other they are cancelled: the end of the first must not begin the next before its turn.
        queue.isSuspended = true
        queue.cancelAllOperations()
        #expect(queue.operations.allSatisfy { $0.isCancelled })
        queue.isSuspended = false
        let isOver = Mutex(false)
        let waiting = Task {
            try await blocking { queue.waitUntilAllOperationsAreFinished() }
            isOver.withLock { $0 = true }
        }
        try await until { isOver.withLock { $0 } }
        try await waiting.value
        // NB: a completion block is called beside what waits for the queue.
        try await until { results.withLock { $0.count { $0.hasSuffix("ended") } } == 6 }
        let told = results.withLock { $0.filter { !$0.hasSuffix("ended") } }
        #expect(told == ["0 done", "1 done"] + (2..<6).map { "\($0) operationCancelled" })
        #expect(sent() == ["0", "1", "2"], "what was cancelled before it began asks for nothing")
        // The queue goes on with what comes later.
        add(6)
        try await until { queue.operationCount == 0 }
        #expect(results.withLock { $0.contains("6 done") })
    }

    @Test func `R-391: an operation runs once, however many start it at the same time`() async throws {
        let database = server.container().privateCloudDatabase
        for _ in 0..<50 {
            let operation = CKModifyRecordsOperation()
            operation.database = database
            let count = Mutex(0)
            operation.modifyRecordsResultBlock = { _ in count.withLock { $0 += 1 } }
            try await blocking { DispatchQueue.concurrentPerform(iterations: 4) { _ in operation.start() } }
            try await eventually { operation.isFinished }
            #expect(count.withLock { $0 } == 1)
        }
    }

    @Test func `R-217: what concerns no zone in particular ends the fetch of all zones, as it is`() async throws {
        let offline = CloudContext(
            containerIdentifier: "iCloud.test.offline", configuration: TidemarkConfiguration(url: nil, token: "t"))
        server.refuse("alice")
        for (container, expected) in [
            (CKContainer(context: offline), CKError.Code.networkUnavailable),
            (server.container(), .accountTemporarilyUnavailable),
        ] {
            let operation = CKFetchRecordZoneChangesOperation(
                recordZoneIDs: ["A", "B", "C"].map { CKRecordZone.ID(zoneName: $0) })
            let zones = Mutex<[String]>([])
            let results = Mutex<[CKError.Code?]>([])
            operation.recordZoneFetchResultBlock = { id, result in
                if case .failure(let error) = result, code(error) == expected {
                    zones.withLock { $0.append(id.zoneName) }
                }
            }
            operation.fetchRecordZoneChangesResultBlock = { result in
                results.withLock { $0.append(code(result.error)) }
            }
            container.privateCloudDatabase.add(operation)
            try await until { operation.isFinished }
            #expect(zones.withLock { $0 } == ["A"] && results.withLock { $0 } == [expected])
        }
    }
}
