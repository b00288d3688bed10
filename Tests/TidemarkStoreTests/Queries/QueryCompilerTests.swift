// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

@testable import TidemarkPostgres
@testable import TidemarkStore

@Suite struct QueryCompilerTests {
    /// Keys that have no field, or one of another type, are what a predicate may also ask for.
    private static let types = [
        RecordTypeSchema(fields: [:]),
        RecordTypeSchema(fields: QueryDice.schemaFields),
        RecordTypeSchema(fields: QueryDice.schemaFields.mapValues { _ in FieldSchema(SchemaFieldType(.string)) }),
    ]

    @Test func `a statement has a value for each parameter of its text, and none that the text lacks`() throws {
        var dice = QueryDice(random: SeededRandom())
        for round in 0..<3_000 {
            let query = dice.query(users: [UserID(1)], dates: [0, 1])
            let page = QueryPageQuery(
                database: DatabaseID(1), query: query, recordsMax: 10, bytesMax: 1_000)
            var compiler = QueryCompiler(page, type: Self.types[round % Self.types.count], indexes: [])
            let compiled = compiler.compile()
            let numbers = compiled.sql.matches(of: /\$([0-9]+)/).compactMap { Int($0.1) }
            #expect(
                Set(numbers) == Set(1...compiled.parameters.values.count),
                "seed \(dice.random.seed), round \(round): \(query)")
        }
    }
}
