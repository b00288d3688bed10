// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation

/// A small database of files: one for each row, each written whole or not at all.
struct NoteStore {
    private let rows: URL
    private let stateFile: URL
    private(set) var notes: [String: Note] = [:]

    init(directory: URL) throws {
        rows = directory.appendingPathComponent("notes", isDirectory: true)
        stateFile = directory.appendingPathComponent("engine.plist")
        try FileManager.default.createDirectory(at: rows, withIntermediateDirectories: true)
        for file in try FileManager.default.contentsOfDirectory(at: rows, includingPropertiesForKeys: nil)
        where file.pathExtension == "json" {
            let note = try JSONDecoder().decode(Note.self, from: Data(contentsOf: file))
            notes[note.id] = note
        }
    }

    subscript(id: String) -> Note? { notes[id] }

    /// Inserts or updates a row.
    mutating func put(_ note: Note) {
        notes[note.id] = note
        write { try JSONEncoder().encode(note).write(to: file(of: note.id), options: .atomic) }
    }

    mutating func remove(_ id: String) {
        guard notes.removeValue(forKey: id) != nil else { return }
        write { try FileManager.default.removeItem(at: file(of: id)) }
    }

    mutating func removeAll() {
        for id in Array(notes.keys) { remove(id) }
    }

    /// What the engine wants to find at its next start.
    func engineState() -> CKSyncEngine.State.Serialization? {
        guard let data = try? Data(contentsOf: stateFile) else { return nil }
        return try? PropertyListDecoder().decode(CKSyncEngine.State.Serialization.self, from: data)
    }

    /// Rows come first: a state that is older than they are only fetches some changes again.
    func setEngineState(_ state: CKSyncEngine.State.Serialization) {
        write { try PropertyListEncoder().encode(state).write(to: stateFile, options: .atomic) }
    }

    private func file(of id: String) -> URL {
        rows.appendingPathComponent(Data(id.utf8).map { String(format: "%02x", $0) }.joined() + ".json")
    }

    private func write(_ work: () throws -> Void) {
        do { try work() } catch { fatalError("the store cannot be written: \(error)") }
    }
}
