// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The code of the article *The journal*.
struct Reading: Codable {
    var celsius: Double
    var measuredAt: Date
}

actor Thermometer: CKSyncEngineDelegate {
    private(set) var readings: [String: Reading] = [:]
    private(set) var problems: [String] = []
    private let readingsFile: URL
    private let stateFile: URL
    private let journalFile: URL
    private let zone = CKRecordZone(zoneName: "Readings")
    private(set) var engine: CKSyncEngine?

    init(directory: URL) throws {
        readingsFile = directory.appendingPathComponent("readings.json")
        stateFile = directory.appendingPathComponent("state.json")
        journalFile = directory.appendingPathComponent("pending.journal")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        if let data = try Self.data(in: readingsFile) {
            readings = try JSONDecoder().decode([String: Reading].self, from: data)
        }
    }

    private static func data(in file: URL) throws -> Data? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        return try Data(contentsOf: file)
    }

    func start(in database: CKDatabase) throws {
        let state = try Self.data(in: stateFile).map {
            try JSONDecoder().decode(CKSyncEngine.State.Serialization.self, from: $0)
        }
        var configuration = CKSyncEngine.Configuration(database: database, stateSerialization: state, delegate: self)
        configuration.journalFile = journalFile
        let engine = CKSyncEngine(configuration)
        if let error = engine.journalError { problems.append(error.localizedDescription) }
        self.engine = engine
    }

    func measured(_ celsius: Double) throws {
        guard let engine else { throw CKError(.internalError) }
        let name = UUID().uuidString
        readings[name] = Reading(celsius: celsius, measuredAt: Date())
        try JSONEncoder().encode(readings).write(to: readingsFile, options: .atomic)
        let id = CKRecord.ID(recordName: name, zoneID: zone.zoneID)
        engine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
    }

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? {
        let changes = syncEngine.state.pendingRecordZoneChanges.filter(context.options.scope.contains)
        return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in await self.record(id) }
    }

    private func record(_ id: CKRecord.ID) -> CKRecord? {
        guard let reading = readings[id.recordName] else { return nil }
        let record = CKRecord(recordType: "Reading", recordID: id)
        record["celsius"] = reading.celsius
        record["measuredAt"] = reading.measuredAt
        return record
    }

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
        switch event {
        case .stateUpdate(let update):
            try? JSONEncoder().encode(update.stateSerialization).write(to: stateFile, options: .atomic)
        case .accountChange(let change):
            syncEngine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
            syncEngine.state.add(pendingRecordZoneChanges: change.unsentRecordZoneChanges)
        case .sentRecordZoneChanges(let sent):
            for failure in sent.failedRecordSaves { handle(failure.error, of: failure.record.recordID, syncEngine) }
        default:
            break
        }
    }

    private func handle(_ error: CKError, of id: CKRecord.ID, _ syncEngine: CKSyncEngine) {
        switch error.code {
        case .zoneNotFound:
            syncEngine.state.add(pendingDatabaseChanges: [.saveZone(zone)])
            syncEngine.state.add(pendingRecordZoneChanges: [.saveRecord(id)])
        case .serverRecordChanged:
            break
        default:
            problems.append(error.localizedDescription)
        }
    }
}
