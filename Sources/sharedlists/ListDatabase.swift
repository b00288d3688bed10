// SPDX-License-Identifier: Apache-2.0

import CSharedListsSQLite
import Foundation

/// One SQLite database. What fails ends the program, because to go on would lose what somebody typed.
final class ListDatabase {
    enum Value {
        case text(String)
        case optionalText(String?)
        case blob(Data?)
        case flag(Bool)
    }

    /// A row of a result.
    struct Row {
        fileprivate let statement: OpaquePointer

        func text(_ column: Int32) -> String { optionalText(column) ?? "" }

        /// By its length: a text may hold any character, also one of value 0.
        func optionalText(_ column: Int32) -> String? {
            guard let start = sqlite3_column_text(statement, column) else { return nil }
            let count = Int(sqlite3_column_bytes(statement, column))
            return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
        }

        func blob(_ column: Int32) -> Data? {
            sqlite3_column_blob(statement, column).map {
                Data(bytes: $0, count: Int(sqlite3_column_bytes(statement, column)))
            }
        }

        func flag(_ column: Int32) -> Bool { sqlite3_column_int(statement, column) != 0 }
    }

    private var database: OpaquePointer?

    init(_ file: URL) {
        check(sqlite3_open(file.path, &database))
        // Somebody may look into the file meanwhile.
        check(sqlite3_busy_timeout(database, Self.busyMilliseconds))
    }

    deinit {
        sqlite3_close(database)
    }

    private static let busyMilliseconds: Int32 = 60_000

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
            case .text(let text), .optionalText(let text?):
                var text = text
                check(text.withUTF8 { lists_bind_text(statement, place, $0.baseAddress, Int32($0.count)) })
            case .blob(let data?):
                check(data.withUnsafeBytes { lists_bind_blob(statement, place, $0.baseAddress, Int32($0.count)) })
            case .optionalText(nil), .blob(nil):
                check(sqlite3_bind_null(statement, place))
            case .flag(let flag):
                check(sqlite3_bind_int(statement, place, flag ? 1 : 0))
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
        guard code != SQLITE_OK else { return }
        let text = String(cString: sqlite3_errmsg(database))
        FileHandle.standardError.write(
            Data("sharedlists: the database of the lists cannot be used: \(text). Nothing more is done.\n".utf8))
        exit(1)
    }
}
