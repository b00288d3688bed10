// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// What the scenarios of ``ConformanceTests`` share.
enum Both {
    static let notes = CKRecordZone.ID(zoneName: "Notes")

    /// Plays a scenario in memory and with a real server. What an app sees of it must be the same in both.
    ///
    /// - Returns: what it saw.
    static func clouds(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ scenario: @Sendable (any ConformingCloud) async throws -> [String]
    ) async throws -> [String] {
        let inMemory = try await scenario(MemoryCloud())
        let real = try await RealCloud.with { try await scenario($0) }
        #expect(inMemory == real, sourceLocation: sourceLocation)
        return inMemory
    }

    /// How work ended, as a scenario tells it.
    static func code(_ work: () async throws -> Void) async -> String {
        do {
            try await work()
            return "done"
        } catch let error as CKError {
            return "\(error.code)"
        } catch {
            return "\(error)"
        }
    }

    static func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: notes) }

    /// Saves notes of which one answer holds no more than a few.
    static func saveLongNotes(_ names: [String], in database: CKDatabase) async throws {
        for name in names {
            let record = note(name, ["a": "1"])
            record["long"] = String(repeating: "x", count: 900_000)
            try await database.save(record)
        }
    }

    static func note(_ name: String, _ fields: [String: any CKRecordValueProtocol]) -> CKRecord {
        let record = CKRecord(recordType: "Note", recordID: id(name))
        for (key, value) in fields { record[key] = value }
        return record
    }

    /// `a=1 b=2`, by key.
    static func text(_ record: CKRecord?) -> String {
        guard let record else { return "none" }
        return record.allKeys().sorted().map { "\($0)=\(record[$0] as? String ?? "?")" }.joined(separator: " ")
    }

    /// What `work` came to: the fields of a record, or the error as an app sees it.
    static func told(_ work: () async throws -> CKRecord) async -> String {
        do {
            return "saved \(text(try await work()))"
        } catch let error as CKError {
            return told(error)
        } catch {
            return "\(error)"
        }
    }

    static func told(_ error: CKError) -> String {
        var parts = ["\(error.code)"]
        if let record = error.serverRecord { parts.append("server(\(text(record)))") }
        if let record = error.clientRecord { parts.append("client(\(text(record)))") }
        if let record = error.ancestorRecord { parts.append("ancestor(\(text(record)))") }
        if error.userInfo[CKErrorUserDidResetEncryptedDataKey] != nil { parts.append("reset") }
        return parts.joined(separator: " ")
    }

    /// One line an item, by name.
    static func told<Value>(_ results: [CKRecord.ID: Result<Value, any Error>]) -> [String] {
        results.sorted { $0.key.recordName < $1.key.recordName }.map { id, result in
            switch result {
            case .success: "\(id.recordName) done"
            case .failure(let error): "\(id.recordName) \((error as? CKError).map { "\($0.code)" } ?? "\(error)")"
            }
        }
    }
}
