// SPDX-License-Identifier: Apache-2.0

import CTidemarkLibpq
import Foundation
import Testing
import TidemarkDomain
import TidemarkTestSupport

@testable import TidemarkPostgres
@testable import TidemarkStore

/// What each statement of the store declares is what PostgreSQL says of it. No statement is named here: they are found.
@Suite struct StatementsTests {
    @Test func `a statement's parameters and columns are those that PostgreSQL describes`() async throws {
        let statements = Self.all(in: sql)
        #expect(statements.count > 130)
        #expect(Set(statements.map(\.statement.serverName)).count == statements.count)
        try await StoreFixture.run { fixture in
            let server = try Server(url: fixture.database.url)
            for declared in statements {
                let statement = declared.statement
                guard let columns = server.columns(of: statement, types: statement.parameterTypes) else {
                    Issue.record("\(statement.serverName): \(server.errorText)")
                    continue
                }
                Self.checkParameters(of: statement, server)
                if declared.hasColumns { try Self.checkColumns(of: declared, columns) }
            }
        }
    }

    /// If a statement that writes said that it reads, it would be sent again although a lost COMMIT may have written it.
    @Test func `a statement says that it writes if and only if it does`() {
        for statement in Self.all(in: sql).map(\.statement) {
            let text = statement.sql.replacing(/(FOR|FOR NO KEY|DO) UPDATE/, with: "")
            let writes = text.contains(/\b(INSERT INTO|UPDATE|DELETE FROM|setval|nextval|pg_notify)\b/)
            #expect((statement.effect == .write) == writes, "\(statement.serverName): \(statement.sql)")
        }
    }

    @Test func `a statement that is not in the list of all statements cannot be called`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources/TidemarkStore")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var groups = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains(/static (let|var)[^\n]*(DeclaredStatement|= Statement\()/), "\(file.path)")
            guard file.lastPathComponent != "Statements.swift" else { continue }
            groups += text.matches(of: /struct \w+Statements: Sendable/).count
            #expect(!text.contains(/Statements\(\)/), "\(file.path)")
        }
        #expect(groups == Mirror(reflecting: sql).children.count)
    }

    private static func all(in group: Any) -> [any AnyDeclaredStatement] {
        Mirror(reflecting: group).children.flatMap { child in
            (child.value as? any AnyDeclaredStatement).map { [$0] } ?? all(in: child.value)
        }
    }

    /// Leaves out one type after the other. If PostgreSQL can tell it from the text, it must be the declared one.
    private static func checkParameters(of statement: Statement, _ server: Server) {
        for index in statement.parameterTypes.indices {
            var types = statement.parameterTypes
            types[index] = PostgresType(rawValue: 0)
            guard server.columns(of: statement, types: types) != nil else { continue }
            let (declared, told) = (statement.parameterTypes[index].rawValue, server.parameterTypes[index])
            #expect(declared == told, "\(statement.serverName): parameter \(index + 1) of\n\(statement.sql)")
        }
        #expect(
            server.columns(of: statement, types: statement.parameterTypes) != nil
                && server.parameterTypes.count == statement.parameterTypes.count)
    }

    /// A row with a value of the right type in each column can be read; and of each column there is a row that cannot be
    /// read if the column has another type. So each column is read.
    private static func checkColumns(of declared: any AnyDeclaredStatement, _ columns: [Column]) throws {
        let name = declared.statement.serverName
        let nulls: [Int?] = [nil] + columns.indices.map { $0 }
        do {
            try declared.reads(Column.row(columns))
        } catch {
            Issue.record("\(name): \(String(reflecting: error))")
        }
        let readable = nulls.filter { null in (try? declared.reads(Column.row(columns, null: null))) != nil }
        for index in columns.indices {
            var others = columns
            others[index].type = PostgresType(rawValue: 600)
            let isRead = readable.contains { null in
                null != index && (try? declared.reads(Column.row(others, null: null))) == nil
            }
            #expect(isRead, "\(name): nobody reads its column \(columns[index].name)")
        }
    }
}

/// A column of a result, as PostgreSQL describes it.
private struct Column {
    let name: String
    var type: PostgresType

    /// A row with a value in each column but one.
    static func row(_ columns: [Column], null: Int? = nil) throws -> PostgresRow {
        try PostgresRow.made(
            of: columns.enumerated().map { index, column in
                PostgresRow.Cell(name: column.name, type: column.type, sent: index == null ? nil : column.sample)
            })
    }

    private var sample: [UInt8] {
        switch type {
        case .bool: [1]
        case .int2: [0, 1]
        case .int4: [0, 0, 0, 1]
        case .int8, .float8, .timestamptz: [0, 0, 0, 0, 0, 0, 0, 1]
        case .bytea where name == "memory": RequestMemory().encoded
        case .bytea where name == "sha256": [UInt8](repeating: 1, count: 32)
        case .bytea: []
        case .uuid: [UInt8](repeating: 1, count: 16)
        case .textArray: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 25]
        default: Array("a".utf8)
        }
    }
}

/// A connection that prepares statements and asks what they are.
private final class Server {
    private let connection: OpaquePointer
    private(set) var parameterTypes: [UInt32] = []

    init(url: String) throws {
        connection = try #require(PQconnectdb(url))
        try #require(PQstatus(connection) == CONNECTION_OK)
    }

    deinit { PQfinish(connection) }

    var errorText: String { String(cString: PQerrorMessage(connection)) }

    /// The columns of the statement with these types of parameters; nil if it cannot be prepared.
    func columns(of statement: Statement, types: [PostgresType]) -> [Column]? {
        let prepared = PQprepare(connection, "", statement.sql, Int32(types.count), types.map { Oid($0.rawValue) })
        defer { PQclear(prepared) }
        guard PQresultStatus(prepared) == PGRES_COMMAND_OK else { return nil }
        let described = PQdescribePrepared(connection, "")
        defer { PQclear(described) }
        guard PQresultStatus(described) == PGRES_COMMAND_OK else { return nil }
        parameterTypes = (0..<PQnparams(described)).map { PQparamtype(described, $0) }
        return (0..<PQnfields(described)).map { column in
            Column(
                name: String(cString: PQfname(described, column)),
                type: PostgresType(rawValue: PQftype(described, column)))
        }
    }
}
