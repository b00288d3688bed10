// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// What a ``SyncEngineJournal`` does with files, one call for each operation. ``JournalDisk`` does it on the disk.
protocol JournalFiles: Sendable {
    /// Takes the journal for one engine, and makes its directory.
    ///
    /// - Returns: the descriptor of the lock, which holds until it is closed.
    /// - Throws: `internalError` if another engine has it, or if the directory cannot be written.
    func lock(_ url: URL) throws(CKError) -> Int32

    /// Keeps a copy of a damaged journal before it is replaced, so that a person may still read it.
    func keepAside(_ url: URL, damagedLineCount: Int)

    /// Removes a file, if it is there.
    func remove(_ path: String)

    /// Makes a new file that only its user may read.
    func create(_ path: String) throws -> FileHandle

    func write(_ bytes: [UInt8], to file: FileHandle) throws

    /// Returns when all that was written is on the disk.
    func synchronize(_ file: FileHandle) throws

    /// Gives the journal's name to another file. The journal is the old file or the new one, whatever happens.
    func replace(_ url: URL, by path: String) throws

    /// Returns when the names in the journal's directory are on the disk.
    func synchronizeDirectory(of url: URL)
}
