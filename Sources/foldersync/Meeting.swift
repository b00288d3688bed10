// SPDX-License-Identifier: Apache-2.0

/// Decides what to do when a file meets a record, from the current versions of both and the version at their last sync.
/// Nil stands for "does not exist".
enum Meeting: Equatable {
    /// Do nothing.
    case equal
    /// The file gets the record's content.
    case takeRecord
    /// The record gets the file's content.
    case keepFile
    /// The file gets another name, and becomes another record.
    case keepBoth

    init(file: String?, synced: String?, record: String?) {
        if file == record {
            self = .equal
        } else if file == synced {
            self = .takeRecord
        } else if record == synced || record == nil {
            // Only the file changed. Or it changed here and was deleted there, and an edit outlives a deletion.
            self = .keepFile
        } else if file == nil {
            // It was deleted here and edited there.
            self = .takeRecord
        } else {
            self = .keepBoth
        }
    }
}
