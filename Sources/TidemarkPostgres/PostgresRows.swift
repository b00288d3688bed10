// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkLibpq
internal import Glibc
internal import Synchronization

/// The result of one statement: rows of binary columns in libpq's memory. It does not change, so any thread may read
/// it.
package final class PostgresRows: @unchecked Sendable, RandomAccessCollection {
    private let result: OpaquePointer
    /// The number of rows.
    package let count: Int
    let columnCount: Int32
    /// The types of the columns.
    private let types: [PostgresType]
    /// Where to look first for a name. Columns are mostly read in their order, row after row.
    private let nextColumn = Atomic<Int32>(0)

    /// Takes over the result, and frees it with the last reference.
    init(owning result: OpaquePointer) {
        self.result = result
        count = Int(PQntuples(result))
        columnCount = PQnfields(result)
        types = (0..<columnCount).map { PostgresType(rawValue: PQftype(result, $0)) }
    }

    deinit {
        PQclear(result)
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { count }

    package subscript(position: Int) -> PostgresRow {
        precondition(position >= 0 && position < count)
        return PostgresRow(rows: self, index: Int32(truncatingIfNeeded: position))
    }

    /// How many rows an INSERT, UPDATE or DELETE has changed, or a SELECT has returned.
    package var affectedCount: Int {
        PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
    }

    /// The command tag that the server returned: `COMMIT`, `INSERT 0 1` …
    var commandTag: String {
        PQcmdStatus(result).map { String(cString: $0) } ?? ""
    }

    /// The bytes of all columns of a row.
    func byteCount(ofRow row: Int) -> Int {
        let row = Int32(truncatingIfNeeded: row)
        return (0..<columnCount).reduce(0) { $0 + Int(PQgetlength(result, row, $1)) }
    }

    /// The bytes of a column, valid as long as the rows; nil for null.
    @inline(__always)
    func column(_ row: Int32, _ column: Int) throws(PostgresError) -> UnsafeRawBufferPointer? {
        guard column >= 0, column < Int(columnCount) else {
            throw PostgresError(.unexpectedResult, detail: "column \(column) of \(columnCount)")
        }
        let column = Int32(truncatingIfNeeded: column)
        let length = Int(PQgetlength(result, row, column))
        // Only a value without bytes may be null, so most values need one call less.
        if length == 0, PQgetisnull(result, row, column) != 0 { return nil }
        return UnsafeRawBufferPointer(start: PQgetvalue(result, row, column), count: length)
    }

    /// The number of a column with this name.
    func column(named name: StaticString) throws(PostgresError) -> Int {
        let wanted = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        let next = nextColumn.load(ordering: .relaxed)
        if next < columnCount, let found = PQfname(result, next), strcmp(found, wanted) == 0 {
            nextColumn.store(next + 1, ordering: .relaxed)
            return Int(next)
        }
        // A new row, as a rule, which begins with one of the first.
        for column in 0..<columnCount {
            guard let found = PQfname(result, column) else { break }
            if strcmp(found, wanted) == 0 {
                nextColumn.store(column + 1, ordering: .relaxed)
                return Int(column)
            }
        }
        throw PostgresError(.unexpectedResult, detail: "there is no column \(name)")
    }

    @inline(__always)
    func type(of column: Int) -> PostgresType { types[column] }
}
