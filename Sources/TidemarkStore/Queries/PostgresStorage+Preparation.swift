// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkPostgres
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkSockets

extension PostgresStorage {
    private static let settlingTimeMax = Duration.seconds(30)

    /// Gives a type the marks that a query needs, and its records the index values for them, in this order:
    /// - The schema is marked and its version incremented, so that every later write computes the new values.
    /// - Transactions that may write by an older version end.
    /// - The values of existing records are computed.
    /// - The marks become ready, and queries may use them.
    ///
    /// Each step can be repeated, and several servers may do it at once. Indexes are built after that, while queries go
    /// on. In production only an operator marks, and the last steps may be missing.
    ///
    /// - Parameter turn: the query's place, which others have meanwhile. Its owner is who takes a turn, and
    ///   whose places its indexes take. Nobody's are an operator's, because others who are nobody get no marks
    ///
    /// - Throws: `zoneBusy` if it takes longer than a query waits; the preparation goes on. `crowded` if the owner has too
    ///   many, or too many queries wait for preparations.
    func prepare(_ type: QueryType, for query: Query, _ turn: WorkTurn) async throws(StorageError) {
        let owner = turn.owner
        let marks = type.isFrozen ? RecordMarks() : type.missingMarks(for: query)
        let key = Preparations.Key(container: type.container, type: type.name)
        let preparation = preparations.join(key, for: owner) { [self] () async throws(StorageError) in
            try await mark(type.name, marks, in: type.container)
            try await fillIndexValues(of: type.name, in: type.container)
            await buildIndexes(of: type, for: query, of: owner)
        }
        try await turn.stepAside { () async throws(StorageError) in
            try await preparations.wait(for: preparation, for: owner)
        }
    }

    private func buildIndexes(of type: QueryType, for query: Query, of owner: WorkOwner) async {
        do {
            let schema = try await schema(of: type.container)
            guard var marked = schema.schema.types[type.name] else { return }
            let places = IndexPlaces(of: schema, for: owner.accountID)
            // In development only what this query needs: others' marks take none of this account's places.
            if places != nil { marked = marked.keeping(schema.schema.marksNeeded(by: query, searchesAll: true)) }
            indexBuilder.buildSoon(PhysicalIndex.all(for: marked, named: type.name), within: places)
        } catch {
            error.note()
        }
    }

    private func mark(_ type: String, _ marks: RecordMarks, in container: ContainerID) async throws(StorageError) {
        for _ in 0..<10 {
            let current = try await schema(of: container)
            let marked = current.schema.marking(type, marks)
            if marked == current.schema { return }
            if try await replaceSchema(current, by: marked) { return }
        }
        throw StorageError(.zoneBusy, detail: "the schema keeps changing")
    }

    /// Computes the index values of all records of a type, and makes its marks ready.
    func fillIndexValues(of type: String, in container: ContainerID) async throws(StorageError) {
        let current = try await schema(of: container)
        guard let schema = current.schema.types[type] else { return }
        try await waitForWriters()
        let writer = IndexColumnWriter(schema)
        var scan = RecordScan(self, container: container)
        while !writer.isEmpty, let page = try await scan.nextPage(types: [type]) {
            if !page.isEmpty { try await fill(page, writer) }
        }
        _ = try await writeRepeatably(sql.queries.markReady((container, type, current.version)))
    }

    /// It locks the zones first, as everything that writes records, so that nothing deadlocks.
    private func fill(_ page: [ScannedRecord], _ writer: IndexColumnWriter) async throws(StorageError) {
        // a page has megabytes, and its texts may take seconds.
        let rows = await withTaskExecutorPreference(globalConcurrentExecutor) {
            page.map { record in
                IndexValuesRow(
                    record: record,
                    indexValues: writer.column(
                        of: record.fields, scope: IndexColumn.scope(record.database, record.zone)))
            }
        }
        _ = try await writeRepeatably(
            sql.queries.lockZones((page[0].database, Set(page.map(\.zone)).sorted())), sql.queries.fill(rows))
    }

    /// Returns when every transaction has ended that may have read an older version of a schema. Such a transaction
    /// locked its zones before it read the version.
    private func waitForWriters() async throws(StorageError) {
        let old = try await writers()
        let deadline = pool.loop.now + Self.settlingTimeMax
        while pool.loop.now < deadline {
            if old.isEmpty { return }
            if try await writers().isDisjoint(with: old) { return }
            try? await pool.loop.sleep(for: .milliseconds(10))
        }
        throw StorageError(.zoneBusy, detail: "a transaction of another program does not end")
    }

    private func writers() async throws(StorageError) -> Set<String> {
        Set(try await read(sql.queries.writers()))
    }
}

extension WorkOwner {
    /// Nil for nobody.
    fileprivate var accountID: AccountID? {
        switch self {
        case .account(let number): AccountID(number)
        case .newcomer, .nobody: nil
        }
    }
}
