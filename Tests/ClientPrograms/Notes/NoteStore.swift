// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation

/// The rows, and what the engine wants to find at its next start, in one SQLite database.
final class NoteStore {
    private let database: SQLite

    init(directory: URL) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        database = SQLite(directory.appendingPathComponent("notes.sqlite"))
        database.execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            CREATE TABLE IF NOT EXISTS note (
                id TEXT PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, tags BLOB NOT NULL,
                server_fields BLOB, system_fields BLOB, is_deleted INTEGER NOT NULL
            );
            CREATE TABLE IF NOT EXISTS engine (id INTEGER PRIMARY KEY CHECK (id = 0), state BLOB NOT NULL);
            """)
    }

    private static let columns = "id, title, body, tags, server_fields, system_fields, is_deleted"

    /// All rows, deleted ones that the server may still have among them.
    var notes: [Note] { select("") }

    subscript(id: String) -> Note? { select("WHERE id = ?", [.text(id)]).first }

    private func select(_ condition: String, _ values: [SQLite.Value] = []) -> [Note] {
        var notes: [Note] = []
        database.run("SELECT \(Self.columns) FROM note \(condition)", values) { row in
            var note = Note(id: row.text(0))
            note.fields = Note.Fields(
                title: row.text(1), body: row.text(2), tags: decode(row.blob(3)) ?? [])
            note.serverFields = decode(row.blob(4))
            note.systemFields = row.blob(5)
            note.isDeleted = row.integer(6) != 0
            notes.append(note)
        }
        return notes
    }

    /// Inserts or updates a row.
    func put(_ note: Note) {
        database.run(
            "INSERT OR REPLACE INTO note (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                .text(note.id), .text(note.fields.title), .text(note.fields.body), .blob(encode(note.fields.tags)),
                .blob(note.serverFields.map(encode)), .blob(note.systemFields), .integer(note.isDeleted ? 1 : 0),
            ])
    }

    func remove(_ id: String) {
        database.run("DELETE FROM note WHERE id = ?", [.text(id)])
    }

    func removeAll() {
        database.run("DELETE FROM note")
    }

    func engineState() -> CKSyncEngine.State.Serialization? {
        var state: CKSyncEngine.State.Serialization?
        database.run("SELECT state FROM engine") { state = decode($0.blob(0)) }
        return state
    }

    /// Rows come first: a state that is older than they are only fetches some changes again.
    func setEngineState(_ state: CKSyncEngine.State.Serialization) {
        database.run("INSERT OR REPLACE INTO engine (id, state) VALUES (0, ?)", [.blob(encode(state))])
    }

    private func encode(_ value: some Encodable) -> Data {
        do { return try JSONEncoder().encode(value) } catch { fatalError("cannot be stored: \(error)") }
    }

    private func decode<Value: Decodable>(_ data: Data?) -> Value? {
        data.flatMap { try? JSONDecoder().decode(Value.self, from: $0) }
    }
}
