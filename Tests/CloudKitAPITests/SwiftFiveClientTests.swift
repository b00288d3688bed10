// SPDX-License-Identifier: Apache-2.0

import CloudKit
import SwiftFiveClient
import Testing

/// Code of before Swift 6: most of the test is that `Tests/ClientPrograms/SwiftFive` compiles.
@Suite struct SwiftFiveClientTests {
    @Test func `databases and operations are what protocols of an app ask for`() {
        let operation: any NotesSaving = CKModifyRecordsOperation()
        var progress: [Double] = []
        operation.perRecordProgressBlock = { progress.append($1) }
        operation.perRecordProgressBlock?(CKRecord(recordType: "Note"), 0.5)
        #expect(progress == [0.5])
        let database: any NotesDatabase = CKContainer(identifier: "iCloud.org.example.api").privateCloudDatabase
        #expect(database.databaseScope == .private)
    }
}
