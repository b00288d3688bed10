// SPDX-License-Identifier: Apache-2.0

/// A hash of a statement's text, by which lines about equal statements are found and counted.
///
/// PostgreSQL has its own id for a statement. An answer does not contain it, and a statement that asks for the id of the one before gets
/// its own. So the hash goes to PostgreSQL in a comment. It is in the log of PostgreSQL, beside the plan of `auto_explain`, and beside the
/// query id in `pg_stat_statements`.
package enum StatementHash {
    /// In hexadecimal digits.
    package static func text(of sql: String) -> String {
        // FNV-1a with 64 bits. It is the same on all servers, unlike Swift's hashes.
        let hash = sql.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// The statement with its hash in a comment after its first word.
    ///
    /// NB: since version 18, `pg_stat_statements` leaves out text before the first word. `pg_stat_activity` leaves out the end of a long
    /// statement.
    package static func marked(_ sql: String) -> String {
        let utf8 = sql.utf8
        let end = utf8.firstIndex { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") } ?? utf8.endIndex
        return "\(sql[..<end]) /* sql_id=\(text(of: sql)) */\(sql[end...])"
    }
}
