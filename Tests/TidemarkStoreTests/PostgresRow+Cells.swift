// SPDX-License-Identifier: Apache-2.0

import CTidemarkLibpq
import Glibc
import Testing

@testable import TidemarkPostgres

extension PostgresRow {
    struct Cell {
        let name: String
        let type: PostgresType
        /// The bytes that PostgreSQL sends; nil for null.
        let sent: [UInt8]?
    }

    /// A row as PostgreSQL sends it.
    static func made(of cells: [Cell]) throws -> PostgresRow {
        let result = try #require(PQmakeEmptyPGresult(nil, PGRES_TUPLES_OK))
        let names = cells.map { strdup($0.name) }
        defer { names.forEach { free($0) } }
        var attributes = zip(cells, names).map { cell, name in
            PGresAttDesc(
                name: name, tableid: 0, columnid: 0, format: 1, typid: cell.type.rawValue, typlen: -1, atttypmod: -1)
        }
        PQsetResultAttrs(result, Int32(cells.count), &attributes)
        for (index, cell) in cells.enumerated() {
            var bytes = (cell.sent ?? []).map { CChar(bitPattern: $0) }
            PQsetvalue(result, 0, Int32(index), &bytes, cell.sent == nil ? -1 : Int32(bytes.count))
        }
        return PostgresRows(owning: result)[0]
    }
}
