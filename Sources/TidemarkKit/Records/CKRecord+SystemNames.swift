// SPDX-License-Identifier: Apache-2.0

extension CKRecord {
    /// The record types that the system defines.
    public enum SystemType {
        /// A user.
        public static let userRecord: CKRecord.RecordType = "Users"
        /// A share.
        public static let share: CKRecord.RecordType = "cloudkit.share"
    }

    /// The names of the fields that every record has, for predicates and sorting.
    public enum SystemFieldKey {
        /// The record's ID.
        public static var recordID: CKRecord.FieldKey { "recordID" }
        /// The user who created it.
        public static var creatorUserRecordID: CKRecord.FieldKey { "creatorUserRecordID" }
        /// When it was created.
        public static var creationDate: CKRecord.FieldKey { "creationDate" }
        /// The user who last saved it.
        public static var lastModifiedUserRecordID: CKRecord.FieldKey { "lastModifiedUserRecordID" }
        /// When it was last saved.
        public static var modificationDate: CKRecord.FieldKey { "modificationDate" }
        /// Its parent.
        public static let parent: CKRecord.FieldKey = "parent"
        /// Its share.
        public static let share: CKRecord.FieldKey = "share"
    }
}
