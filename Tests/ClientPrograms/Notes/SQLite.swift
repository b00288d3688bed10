// SPDX-License-Identifier: Apache-2.0

import CSQLite
import Foundation

/// One SQLite database. What fails ends the program: going on would lose what the user typed.
final class SQLite {
    enum Value {
        case text(String)
        case blob(Data?)
        case integer(Int)
    }

    /// A row of a result.
    struct Row {
        fileprivate let statement: OpaquePointer

        func text(_ column: Int32) -> String {
            sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
        }

        func blob(_ column: Int32) -> Data? {
            sqlite3_column_blob(statement, column).map {
                Data(bytes: $0, count: Int(sqlite3_column_bytes(statement, column)))
            }
        }

        func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(statement, column)) }
    }

    private var database: OpaquePointer?

    init(_ file: URL) {
        check(sqlite3_open(file.path, &database))
    }

    deinit {
        sqlite3_close(database)
    }

    /// Several statements without values.
    func execute(_ script: String) {
        check(sqlite3_exec(database, script, nil, nil, nil))
    }

    /// One statement, with a value for each `?`.
    func run(_ sql: String, _ values: [Value] = [], _ row: (Row) -> Void = { _ in }) {
        var statement: OpaquePointer?
        check(sqlite3_prepare_v2(database, sql, -1, &statement, nil))
        defer { sqlite3_finalize(statement) }
        for (place, value) in zip(Int32(1)..., values) {
            switch value {
            case .text(let text): check(sqlite_bind_text(statement, place, text))
            case .blob(nil): check(sqlite3_bind_null(statement, place))
            case .blob(let data?):
                check(data.withUnsafeBytes { sqlite_bind_blob(statement, place, $0.baseAddress, Int32($0.count)) })
            case .integer(let number): check(sqlite3_bind_int64(statement, place, Int64(number)))
            }
        }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: if let statement { row(Row(statement: statement)) }
            case SQLITE_DONE: return
            case let code: check(code)
            }
        }
    }

    private func check(_ code: Int32) {
        guard code == SQLITE_OK else { fatalError("SQLite: \(String(cString: sqlite3_errmsg(database)))") }
    }
}
