// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// Keeps a ``ListStore`` in sync with two databases: one's own lists are in the private one, and those of others in the shared
/// one. Each has an engine.
///
/// What is to be sent follows from the rows. So nothing is lost if the program dies between an edit and the engine's next
/// state update.
actor ListSync: CKSyncEngineDelegate {
    let container: CKContainer
    let store: ListStore
    /// The fields of rows whose records were handed to an engine, as they were then.
    var sent: [CKRecord.ID: ListEntry.Fields] = [:]
    private(set) var engines: [CKDatabase.Scope: CKSyncEngine] = [:]
    private let changed: @Sendable (ListPicture) -> Void
    private let tell: @Sendable (String) -> Void

    /// - Parameters:
    ///   - changed: is called when there may be something else to show.
    ///   - tell: is called with what a person must hear, because something of theirs was not sent.
    init(
        directory: URL, in container: CKContainer = .default(), changed: @escaping @Sendable (ListPicture) -> Void,
        tell: @escaping @Sendable (String) -> Void
    ) throws {
        store = try ListStore(directory: directory)
        self.container = container
        self.changed = changed
        self.tell = tell
    }

    func start(automatically: Bool) {
        for database in [container.privateCloudDatabase, container.sharedCloudDatabase] {
            let scope = database.databaseScope
            var configuration = CKSyncEngine.Configuration(
                database: database, stateSerialization: store.engineState(scope), delegate: self)
            configuration.automaticallySync = automatically
            engines[scope] = CKSyncEngine(configuration)
        }
        for entry in store.entries where entry.isDirty { pend(entry) }
    }

    /// Everything that there is to sync goes to one of two engines.
    func engine(of zoneID: CKRecordZone.ID) -> CKSyncEngine? { engines[zoneID.scope] }

    private static let roundsMax = 10

    /// Fetches and sends until nothing is left to send.
    func sync() async throws {
        for _ in 0..<Self.roundsMax {
            if try await syncOnce() { return }
        }
        throw ListsError.notSettled
    }

    /// - Returns: false if there is more to do.
    private func syncOnce() async throws -> Bool {
        var isSettled = true
        for scope in [CKDatabase.Scope.private, .shared] {
            guard let engine = engines[scope] else { continue }
            do {
                try await engine.fetchChanges()
                try await engine.sendChanges()
            } catch let error as CKError where error.code == .partialFailure || error.code == .zoneNotFound {
                // The events have said what became of each record. A zone may go while it is fetched.
                isSettled = false
            } catch let error as CKError {
                guard let seconds = error.retryAfterSeconds else { throw error }
                try await Task.sleep(for: .seconds(seconds))
                isSettled = false
            }
            let state = engine.state
            if !state.pendingRecordZoneChanges.isEmpty || !state.pendingDatabaseChanges.isEmpty { isSettled = false }
        }
        return isSettled
    }

    /// What a person sees.
    var picture: ListPicture { ListPicture(store) }

    func show() { changed(picture) }

    /// What of theirs did not come to the others.
    func say(_ entry: ListEntry, _ why: String) {
        let text = entry.fields.text
        tell(entry.isDeleted ? "\(text) was not deleted: \(why)" : "\(text) was not sent: \(why)")
    }

    // MARK: What people do

    func makeList(_ title: String) {
        var list = ListEntry(id: newID(in: .lists()), kind: .list)
        list.fields.text = title
        put(list)
    }

    func add(_ text: String, to name: String) throws {
        let list = try find(name, .list)
        try check(list)
        addItem(ListEntry.Fields(text: text, list: list.id.recordName), in: list.id.zoneID)
    }

    func edit(_ name: String, _ change: (inout ListEntry.Fields) -> Void) throws {
        var entry = try find(name)
        try check(entry)
        change(&entry.fields)
        put(entry)
    }

    func move(_ name: String, to listName: String) throws {
        var item = try find(name, .item)
        let list = try find(listName, .list)
        guard item.id.zoneID == list.id.zoneID else { throw ListsError.otherOwner }
        try check(item)
        try check(list)
        item.fields.list = list.id.recordName
        put(item)
    }

    /// Deletes an item, or one's own list with all that is in it.
    func delete(_ name: String) throws {
        var entry = try find(name)
        try check(entry)
        if entry.kind == .list {
            guard entry.isMine else { throw ListsError.notOwner(entry.fields.text) }
        }
        entry.isDeleted = true
        store.transaction {
            // Items first: the server does not delete a list alone that has something in it.
            for var item in store.items(of: entry.id) {
                item.isDeleted = true
                put(item)
            }
            put(entry)
        }
    }

    /// The one list or item of that ID or text.
    func find(_ name: String, _ kind: ListEntry.Kind? = nil) throws -> ListEntry {
        let entries = store.entries.filter { !$0.isDeleted && (kind == nil || $0.kind == kind) }
        if let entry = entries.first(where: { $0.id.recordName == name }) { return entry }
        let found = entries.filter { $0.fields.text == name }
        guard let entry = found.first else { throw ListsError.unknown(name) }
        guard found.count == 1 else { throw ListsError.ambiguous(name) }
        return entry
    }

    /// The server decides who may write. To ask the store first spares people a refusal.
    private func check(_ entry: ListEntry) throws {
        let list = entry.kind == .list ? entry : entry.listID.flatMap { store[$0] }
        guard let list, !list.isMine else { return }
        guard let shareID = list.shareID, let share = store.shares.first(where: { $0.id == shareID }) else { return }
        guard share.mayWrite else { throw ListsError.readOnly(list.fields.text) }
    }

    // MARK: Rows and what is pending

    func addItem(_ fields: ListEntry.Fields, in zoneID: CKRecordZone.ID) {
        var item = ListEntry(id: newID(in: zoneID), kind: .item)
        item.fields = fields
        put(item)
    }

    private func newID(in zoneID: CKRecordZone.ID) -> CKRecord.ID {
        CKRecord.ID(recordName: UUID().uuidString, zoneID: zoneID)
    }

    /// Stores a row, and sees to it that what is pending is what the row says.
    func put(_ entry: ListEntry) {
        store.put(entry)
        if entry.isDirty { pend(entry) } else { settle(entry.id) }
    }

    func pend(_ entry: ListEntry) {
        engine(of: entry.id.zoneID)?.state.add(pendingRecordZoneChanges: [entry.pendingChange])
    }

    /// Removes a row of which the server has nothing.
    func forget(_ entry: ListEntry) {
        sent[entry.id] = nil
        store.remove(entry.id)
        settle(entry.id)
    }

    /// The row says that there is nothing to send.
    func settle(_ id: CKRecord.ID) {
        engine(of: id.zoneID)?.state.remove(pendingRecordZoneChanges: [.saveRecord(id), .deleteRecord(id)])
    }
}
