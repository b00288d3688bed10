// SPDX-License-Identifier: Apache-2.0

/// What to do when a file meets a record: decided by what each of them is, and what they were when they were last equal.
/// A version that is nil stands for "does not exist".
enum Meeting: Equatable {
    /// Nothing.
    case equal
    /// The file becomes what the record says.
    case takeRecord
    /// The record becomes what the file is.
    case keepFile
    /// The file moves aside, and becomes another record.
    case keepBoth

    init(file: String?, synced: String?, record: String?) {
        if file == record {
            self = .equal
        } else if file == synced {
            self = .takeRecord
        } else if record == synced || record == nil {
            // Only the file changed; or it changed here and was deleted there, and an edit outlives a deletion.
            self = .keepFile
        } else if file == nil {
            // Deleted here, edited there.
            self = .takeRecord
        } else {
            self = .keepBoth
        }
    }
}
