// SPDX-License-Identifier: Apache-2.0

/// The home of the save policies.
public enum CKModifyRecordsOperation {
    /// What a save may overwrite (section 5 of the rules).
    public enum RecordSavePolicy: Int, Sendable {
        /// Only the version that the record was fetched as; else `serverRecordChanged`.
        case ifServerRecordUnchanged = 0
        /// The keys that were changed, whatever the server has.
        case changedKeys = 1
        /// All keys that the record holds, whatever the server has.
        case allKeys = 2
    }
}
