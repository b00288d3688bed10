// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A journal of pending changes. CloudKit has none: there an added change is lost if the process ends before the next
/// `stateUpdate` is stored.
extension CKSyncEngine.Configuration {
    /// A file in which the engine keeps all changes that are still to be sent; nil (the default) for no file.
    ///
    /// With it, `state.add(pendingRecordZoneChanges:)` and its siblings, `remove` and the setter of
    /// `hasPendingUntrackedChanges` return only when the change is on the disk. That takes a few milliseconds instead
    /// of microseconds, so add many changes in one call. When an engine starts, it has the pending changes of its state
    /// and of the journal, whatever happened to the process in between. A change leaves the journal when the delegate
    /// has handled the event with its outcome.
    ///
    /// Making the engine reads the file and rewrites it. The file belongs to the engine: use one file for each engine,
    /// in a directory that lasts. The engine creates files beside it that end in `.lock` and `.new`. Store the state in
    /// `handleEvent` before it returns, and give engine and state back together: if you delete one, delete the other.
    ///
    /// If lines of the file are damaged, the log says so. The damaged file is kept under a name that ends in
    /// `.damaged`. All changes of the state are then pending, besides those of the readable lines. A change may be sent
    /// twice, but none is dropped because a line is missing. If the file cannot be written, the engine goes on without
    /// it, and says so in the log and in ``CKSyncEngine/journalError``.
    public var journalFile: URL? {
        get { journal }
        set { journal = newValue }
    }
}

extension CKSyncEngine {
    /// Why pending changes are not durable at present: the journal cannot be read, locked or written. Nil if the
    /// journal works, or if there is none. Writing is tried again with each change, the rest with the next engine.
    public var journalError: CKError? { driver.journalError }
}
