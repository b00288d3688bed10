// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The lists, their items and shares, and what the engines want to find at their next start, in one SQLite database.
final class ListStore {
    private let database: ListDatabase

    /// - Parameter directory: is made if it does not exist.
    init(directory: URL) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        database = ListDatabase(directory.appendingPathComponent("lists.sqlite"))
        database.execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            CREATE TABLE IF NOT EXISTS entry (
                owner TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL, is_done INTEGER NOT NULL,
                list TEXT, server_fields BLOB, system_fields BLOB, is_deleted INTEGER NOT NULL,
                PRIMARY KEY (owner, name)
            );
            CREATE INDEX IF NOT EXISTS entry_by_list ON entry (owner, list);
            CREATE TABLE IF NOT EXISTS share (
                owner TEXT NOT NULL, name TEXT NOT NULL, link TEXT, members BLOB NOT NULL, PRIMARY KEY (owner, name)
            );
            CREATE TABLE IF NOT EXISTS engine (scope TEXT PRIMARY KEY, state BLOB NOT NULL);
            """)
    }

    /// What `work` changes is in the file completely, or not at all.
    func transaction(_ work: () -> Void) {
        database.execute("BEGIN IMMEDIATE")
        work()
        database.execute("COMMIT")
    }

    // MARK: Lists and items

    private static let columns = "owner, name, kind, text, is_done, list, server_fields, system_fields, is_deleted"

    /// All rows, deleted ones that the server may still have among them.
    var entries: [ListEntry] { select("ORDER BY rowid") }

    subscript(id: CKRecord.ID) -> ListEntry? { select("WHERE owner = ? AND name = ?", key(id)).first }

    func items(of list: CKRecord.ID) -> [ListEntry] { select("WHERE owner = ? AND list = ? ORDER BY rowid", key(list)) }

    func entries(of zoneID: CKRecordZone.ID) -> [ListEntry] {
        select("WHERE owner = ? ORDER BY rowid", [.text(zoneID.ownerName)])
    }

    private func select(_ condition: String, _ values: [ListDatabase.Value] = []) -> [ListEntry] {
        var entries: [ListEntry] = []
        database.run("SELECT \(Self.columns) FROM entry \(condition)", values) { row in
            guard let kind = ListEntry.Kind(rawValue: row.text(2)) else { return }
            var entry = ListEntry(id: CKRecord.ID(recordName: row.text(1), zoneID: .lists(of: row.text(0))), kind: kind)
            entry.fields = ListEntry.Fields(text: row.text(3), isDone: row.flag(4), list: row.optionalText(5))
            entry.serverFields = decode(row.blob(6))
            entry.systemFields = row.blob(7)
            entry.isDeleted = row.flag(8)
            entries.append(entry)
        }
        return entries
    }

    /// Inserts or updates a row.
    func put(_ entry: ListEntry) {
        let fields = entry.fields
        database.run(
            """
            INSERT INTO entry (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (owner, name) DO UPDATE SET
                text = excluded.text, is_done = excluded.is_done, list = excluded.list,
                server_fields = excluded.server_fields, system_fields = excluded.system_fields,
                is_deleted = excluded.is_deleted
            """,
            key(entry.id) + [
                .text(entry.kind.rawValue), .text(fields.text), .flag(fields.isDone), .optionalText(fields.list),
                .blob(entry.serverFields.map(encode)), .blob(entry.systemFields), .flag(entry.isDeleted),
            ])
    }

    func remove(_ id: CKRecord.ID) {
        database.run("DELETE FROM entry WHERE owner = ? AND name = ?", key(id))
    }

    // MARK: Shares

    var shares: [ListShare] {
        var shares: [ListShare] = []
        database.run("SELECT owner, name, link, members FROM share ORDER BY rowid") { row in
            let id = CKRecord.ID(recordName: row.text(1), zoneID: .lists(of: row.text(0)))
            shares.append(ListShare(id: id, link: row.optionalText(2), members: decode(row.blob(3)) ?? []))
        }
        return shares
    }

    func put(_ share: ListShare) {
        database.run(
            """
            INSERT INTO share (owner, name, link, members) VALUES (?, ?, ?, ?)
            ON CONFLICT (owner, name) DO UPDATE SET link = excluded.link, members = excluded.members
            """,
            key(share.id) + [.optionalText(share.link), .blob(encode(share.members))])
    }

    func removeShare(_ id: CKRecord.ID) {
        database.run("DELETE FROM share WHERE owner = ? AND name = ?", key(id))
    }

    func removeShares(of zoneID: CKRecordZone.ID) {
        database.run("DELETE FROM share WHERE owner = ?", [.text(zoneID.ownerName)])
    }

    private func key(_ id: CKRecord.ID) -> [ListDatabase.Value] {
        [.text(id.zoneID.ownerName), .text(id.recordName)]
    }

    // MARK: Engines

    func engineState(_ scope: CKDatabase.Scope) -> CKSyncEngine.State.Serialization? {
        var state: CKSyncEngine.State.Serialization?
        database.run("SELECT state FROM engine WHERE scope = ?", [.text(name(scope))]) { state = decode($0.blob(0)) }
        return state
    }

    /// Rows come first: a state that is older than they are only fetches some changes again.
    func setEngineState(_ state: CKSyncEngine.State.Serialization, _ scope: CKDatabase.Scope) {
        database.run(
            "INSERT OR REPLACE INTO engine (scope, state) VALUES (?, ?)", [.text(name(scope)), .blob(encode(state))])
    }

    private func name(_ scope: CKDatabase.Scope) -> String { scope == .private ? "private" : "shared" }

    private func encode(_ value: some Encodable) -> Data {
        do { return try JSONEncoder().encode(value) } catch { fatalError("cannot be stored: \(error)") }
    }

    private func decode<Value: Decodable>(_ data: Data?) -> Value? {
        data.flatMap { try? JSONDecoder().decode(Value.self, from: $0) }
    }
}
