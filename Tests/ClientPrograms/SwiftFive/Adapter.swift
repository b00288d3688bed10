// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation

/// A database as an app hides it from its own code: with closures that say nothing of concurrency.
public protocol NotesDatabase {
    var databaseScope: CKDatabase.Scope { get }
    func save(_ record: CKRecord, completionHandler: @escaping (CKRecord?, Error?) -> Void)
    func save(_ zone: CKRecordZone, completionHandler: @escaping (CKRecordZone?, Error?) -> Void)
    func fetch(withRecordID recordID: CKRecord.ID, completionHandler: @escaping (CKRecord?, Error?) -> Void)
    func delete(
        withRecordZoneID zoneID: CKRecordZone.ID, completionHandler: @escaping (CKRecordZone.ID?, Error?) -> Void)
    func fetchAllSubscriptions(completionHandler: @escaping ([CKSubscription]?, Error?) -> Void)
}

extension CKDatabase: NotesDatabase {}

/// The same of an operation, for doubles in the app's tests.
public protocol NotesSaving: AnyObject {
    var savePolicy: CKModifyRecordsOperation.RecordSavePolicy { get set }
    var configuration: CKOperation.Configuration! { get set }
    var perRecordProgressBlock: ((CKRecord, Double) -> Void)? { get set }
    var perRecordSaveBlock: ((CKRecord.ID, Result<CKRecord, Error>) -> Void)? { get set }
    var modifyRecordsResultBlock: ((Result<Void, Error>) -> Void)? { get set }
    var modifyRecordsCompletionBlock: (([CKRecord]?, [CKRecord.ID]?, Error?) -> Void)? { get set }
}

extension CKModifyRecordsOperation: NotesSaving {}

/// Hands closures on that nobody says anything of.
class NotesAdapter {
    let database: CKDatabase
    var saved: [String] = []

    init(database: CKDatabase) {
        self.database = database
    }

    func save(_ record: CKRecord, completionHandler: @escaping (CKRecord?, Error?) -> Void) {
        database.save(record, completionHandler: completionHandler)
    }

    func names(of recordType: String, completionHandler: @escaping ([String], Error?) -> Void) {
        var names: [String] = []
        let query = CKQuery(recordType: recordType, predicate: NSPredicate(value: true))
        let operation = CKQueryOperation(query: query)
        operation.recordFetchedBlock = { record in names.append(record.recordID.recordName) }
        operation.queryCompletionBlock = { [weak self] _, error in
            self?.saved = names
            completionHandler(names, error)
        }
        database.add(operation)
    }

    func status(completionHandler: @escaping (Bool) -> Void) {
        var isAvailable = false
        CKContainer.default().accountStatus { [weak self] status, error in
            isAvailable = status == .available && error == nil
            self?.saved.append("\(isAvailable)")
            completionHandler(isAvailable)
        }
    }
}
