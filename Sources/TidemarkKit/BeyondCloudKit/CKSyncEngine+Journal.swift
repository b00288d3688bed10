// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A journal of pending changes. CloudKit has nothing of this: there a change that is added is lost if the process ends before
/// the next `stateUpdate` is stored.
extension CKSyncEngine.Configuration {
    /// A file in which the engine keeps all changes that are still to be sent; nil (the default): none.
    ///
    /// With it, `state.add(pendingRecordZoneChanges:)` and its siblings, `remove` and the setter of
    /// `hasPendingUntrackedChanges` too, return only when the change is on the disk: a few milliseconds instead of
    /// microseconds. Add many changes in one call rather than one by one. An engine that starts has what is pending by its
    /// state and by the journal, whatever happened to the process in between. A change leaves the journal when the delegate
    /// has handled the event that tells what became of it.
    ///
    /// Making the engine reads the file and writes it anew. The file is the engine's own: one file for each engine, in a
    /// directory that lasts (beside it come files that end in `.lock` and `.new`). If lines of it are damaged, the log says so, the
    /// file as it was is kept under a name that ends in `.damaged`, and all that the state has is pending beside what the other
    /// lines say: a change may be sent twice, none is dropped for want of a line. Store the state in `handleEvent` before it
    /// returns, and give engine and state back together: whoever deletes one deletes the other. If the file cannot be
    /// written the engine goes on without, and says so in the log and in ``CKSyncEngine/journalError``.
    public var journalFile: URL? {
        get { journal }
        set { journal = newValue }
    }
}

extension CKSyncEngine {
    /// Why pending changes are not durable at present: the journal cannot be read, locked or written. Nil while all is well,
    /// and without a journal. Writing is tried again with each change, the rest with the next engine.
    public var journalError: CKError? { driver.journalError }
}
