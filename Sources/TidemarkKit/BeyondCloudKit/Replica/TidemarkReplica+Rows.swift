// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The stored form of a replica: rows of a key and some bytes. Keys and contents are the replica's own. Later versions
/// read what earlier ones wrote.
extension TidemarkReplica: Codable {
    /// Restores a replica from its rows.
    ///
    /// - Parameter rows: everything that ``takeChangedRows()`` ever returned, by key, in its last version.
    /// - Throws: `DecodingError` if a row is damaged, or of a later version than this module knows.
    public convenience init(rows: [String: Data]) throws {
        try self.init(ReplicaState(rows: rows))
    }

    /// The rows that must be stored since the last call. For each key it has the row's new contents, or nil if the row
    /// must be deleted. If it could not be stored, store all ``rows``. For apps with a table of two columns:
    ///
    /// ```swift
    /// for (key, data) in replica.takeChangedRows() { table[key] = data }
    /// ```
    public func takeChangedRows() -> [String: Data?] {
        read { state in
            let rows = state.takeChangedRows()
            return Dictionary(uniqueKeysWithValues: rows.map { ($0.key, state.contents(of: $0)) })
        }
    }

    /// All rows, by key.
    public var rows: [String: Data] {
        read { state in state.rows.reduce(into: [String: Data]()) { $0[$1.key] = state.contents(of: $1) } }
    }

    /// Reads what `encode(to:)` wrote.
    public convenience init(from decoder: any Decoder) throws {
        try self.init(rows: decoder.singleValueContainer().decode([String: Data].self))
    }

    /// Writes the whole replica.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rows)
    }
}
