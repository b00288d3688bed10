// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkTestSupport

@testable internal import TidemarkPostgres

@Suite struct PostgresValueTests {
    /// A value, the type to cast it to, and what PostgreSQL calls it: the server judges what we have sent.
    static let cases: [(PostgresValue, String, String)] = [
        (.bool(true), "bool", "true"), (.bool(false), "bool", "false"),
        (.int2(.min), "int2", "-32768"), (.int2(.max), "int2", "32767"),
        (.int4(.min), "int4", "-2147483648"), (.int4(-1), "int4", "-1"),
        (.int8(.min), "int8", "-9223372036854775808"), (.int8(.max), "int8", "9223372036854775807"),
        (.float8(-0.1), "float8", "-0.1"), (.float8(.infinity), "float8", "Infinity"),
        (.text(""), "text", ""), (.text("naïve 日本 🌊"), "text", "naïve 日本 🌊"),
        (.bytea([]), "bytea", "\\x"), (.bytea([0, 255, 16]), "bytea", "\\x00ff10"),
        (.uuid(Array(0..<16)), "uuid", "00010203-0405-0607-0809-0a0b0c0d0e0f"),
        (.timestamp(milliseconds: 0), "timestamptz", "1970-01-01 00:00:00+00"),
        (.timestamp(milliseconds: 1_700_000_000_123), "timestamptz", "2023-11-14 22:13:20.123+00"),
        (.timestamp(milliseconds: -1), "timestamptz", "1969-12-31 23:59:59.999+00"),
        (.textArray(["", nil, "a b", "NULL"]), "text[]", "{\"\",NULL,\"a b\",\"NULL\"}"),
    ]

    /// Arrays that are sent, and never read.
    static let sentArrays: [(PostgresType, [PostgresValue], String, String)] = [
        (.bool, [.bool(true), .null, .bool(false)], "bool[]", "{t,NULL,f}"),
        (.int4, [.int4(1), .int4(-2), .null], "int4[]", "{1,-2,NULL}"),
        (.int8, [], "int8[]", "{}"),
        (.int8, [.int8(.min), .null, .int8(.max)], "int8[]", "{\(Int64.min),NULL,\(Int64.max)}"),
        (.float8, [.float8(0.5), .null], "float8[]", "{0.5,NULL}"),
        (
            .uuid, [.uuid([UInt8](repeating: 0xab, count: 16)), .null], "uuid[]",
            "{abababab-abab-abab-abab-abababababab,NULL}"
        ),
        (
            .timestamptz, [.timestamp(milliseconds: 1), .null], "timestamptz[]",
            "{\"1970-01-01 00:00:00.001+00\",NULL}"
        ),
        (.bytea, [.bytea([]), .null, .bytea([1])], "bytea[]", "{\"\\\\x\",NULL,\"\\\\x01\"}"),
    ]

    @Test func `every type arrives as it was sent, and comes back the same`() async throws {
        try await withPool(settings: [("timezone", "UTC")]) { pool in
            for (value, type, text) in Self.cases {
                let statement = Statement(
                    .read, "cast", "SELECT $1::\(type), ($1::\(type))::text", [try #require(value.type)])
                let rows = try await pool.execute([statement(value)])
                #expect(try rows[0][0].string(1) == text)
                #expect(try read(rows[0][0], like: value) == value)
            }
        }
    }

    @Test func `an array of every type arrives as it was sent`() async throws {
        try await withPool(settings: [("timezone", "UTC")]) { pool in
            for (elementType, elements, type, text) in Self.sentArrays {
                var array = PostgresArray(of: elementType)
                for element in elements { array.append(element) }
                let statement = Statement(.read, "cast_array", "SELECT ($1::\(type))::text", [elementType.array])
                let rows = try await pool.execute([statement(.array(array))])
                #expect(try rows[0][0].string(0) == text)
            }
        }
    }

    @Test func `null is null in every type`() async throws {
        try await withPool { pool in
            for (value, type, _) in Self.cases {
                let statement = Statement(.read, "null_cast", "SELECT $1::\(type)", [try #require(value.type)])
                let row = try await pool.execute([statement(.null)])[0][0]
                #expect(try row.isNull(0))
                let error = await postgresError { _ = try read(row, like: value) }
                #expect(error?.code == .unexpectedResult)
            }
            let row = try await pool.execute([Sample.echo(.null)])[0][0]
            #expect(try row.int64(ifPresent: 0) == nil)
        }
    }

    @Test func `a column is only read as what it is`() async throws {
        try await withPool { pool in
            let statement = Statement(.read, "mixed", "SELECT 1::int4, 'x'::text, 'n'::name, 'v'::varchar, NULL::int8")
            let row = try await pool.execute([statement()])[0][0]
            #expect(try row.string(2) == "n" && row.string(3) == "v")
            #expect(throws: PostgresError.self) { try row.int64(0) }
            #expect(throws: PostgresError.self) { try row.bytes(1) }
            #expect(throws: PostgresError.self) { try row.int64(4) }
            #expect(throws: PostgresError.self) { try row.int64(5) }
            #expect(throws: PostgresError.self) { try row.int64(-1) }
        }
    }

    @Test func `rows outlive their pool and are a collection`() async throws {
        let statement = Statement(
            .read, "series", "SELECT g::int8, repeat('x', 1000)::bytea FROM generate_series(1, 5000) g")
        let rows = try await withPool { pool in try await pool.execute([statement()])[0] }
        #expect(rows.count == 5000 && rows.affectedCount == 5000)
        #expect(try rows.map { try $0.int64(0) } == Array(1...5000))
        #expect(try rows[4999].bytes(1).count == 1000)
    }

    @Test func `a time before 2000 rounds down to milliseconds`() async throws {
        try await withPool { pool in
            let statement = Statement(.read, "time", "SELECT '1999-12-31 23:59:59.999999+00'::timestamptz")
            let row = try await pool.execute([statement()])[0][0]
            #expect(try row.milliseconds(0) == 946_684_799_999)
        }
    }

    @Test func `an array that is cut or changed anywhere is refused or read, never more`() throws {
        var encoder = ParameterEncoder()
        encoder.encode([.textArray(["ab", nil, "", "c"])])
        let whole = Array(encoder.bytes.dropLast())
        func decode(_ bytes: [UInt8]) -> [String?]? {
            bytes.withUnsafeBytes { decodeTextArray($0) }
        }
        #expect(decode(whole) == ["ab", nil, "", "c"])
        for count in whole.indices { #expect(decode(Array(whole[..<count])) == nil) }
        for index in whole.indices {
            for value in [0, 1, 0x7f, 0x80, 0xff] as [UInt8] {
                var changed = whole
                changed[index] = value
                #expect((decode(changed)?.count ?? 0) <= 4)
            }
        }
    }

    @Test func `R-722: memory of a large statement is freed once it is sent, that of small ones is used again`() {
        var encoder = ParameterEncoder()
        encoder.encode([.bytea(Array(repeating: 7, count: 1_000))])
        encoder.sent()
        #expect(encoder.bytes.capacity >= 1_000)
        encoder.encode([.bytea(Array(repeating: 7, count: ParameterEncoder.capacityKept))])
        #expect(encoder.bytes.capacity > ParameterEncoder.capacityKept)
        encoder.sent()
        #expect(encoder.bytes.capacity <= ParameterEncoder.capacityKept)
    }

    private func texts(_ row: PostgresRow) throws -> [String?] {
        try #require(decodeTextArray(try row.present(0, row.value(0, .textArray))))
    }

    private func read(_ row: PostgresRow, like value: PostgresValue) throws -> PostgresValue {
        switch value {
        case .null: .null
        case .bool: .bool(try row.bool(0))
        case .int2: .int2(try row.int16(0))
        case .int4: .int4(try row.int32(0))
        case .int8: .int8(try row.int64(0))
        case .float8: .float8(try row.double(0))
        case .text: .text(try row.string(0))
        case .bytea: .bytea(try row.bytes(0))
        case .uuid: .uuid(try row.uuid(0))
        case .timestamp: .timestamp(milliseconds: try row.milliseconds(0))
        case .array: .textArray(try texts(row))
        }
    }
}
