// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

@testable import TidemarkPostgres
@testable import TidemarkStore

@Suite struct QueryCompilerTests {
    /// A predicate may also ask for keys that have no field, or one of another type.
    private static let types = [
        QueryDice.type(searching: QueryDice.texts),
        RecordTypeSchema(fields: QueryDice.fieldTypes.mapValues { _ in FieldSchema(SchemaFieldType(.string)) }),
        RecordTypeSchema(),
    ]

    @Test func `a statement has a value for each parameter of its text, and none that the text lacks`() throws {
        var dice = QueryDice(random: SeededRandom())
        let statements = QueryStatementCache()
        for round in 0..<3_000 {
            let query = dice.query(users: [UserID(1)], dates: [0, 1])
            let position = QueryPosition(
                values: query.effectiveSorts.map { _ in IndexValue(.string("a"), for: .order, in: "") },
                recordName: "n", zoneName: "notes")
            var page = QueryPageQuery(
                database: DatabaseID(1), query: query, after: round.isMultiple(of: 2) ? nil : position, recordsMax: 10,
                bytesMax: 1_000)
            if round.isMultiple(of: 3) { page.hierarchies = [ShareNumber(1), ShareNumber(2)] }
            var compiler = QueryCompiler(page, type: Self.types[round % Self.types.count], indexes: [])
            let compiled = compiler.compile()
            // Traps if values and types disagree.
            _ = statements.statement(compiled).bind(compiled.parameters.values)
            let numbers = compiled.sql.matches(of: /\$([0-9]+)/).compactMap { Int($0.1) }
            #expect(
                Set(numbers) == Set(1...compiled.parameters.values.count),
                "seed \(dice.random.seed), round \(round): \(query)")
        }
    }
}
