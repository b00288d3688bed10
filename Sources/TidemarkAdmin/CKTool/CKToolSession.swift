// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields
internal import TidemarkServer
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

/// A zone, as the account sees it whose credential is the user token. Rules, grants and feeds are those of its apps,
/// and its devices are told of changes.
struct CKToolSession: Sendable {
    let console: Console
    let service: CloudService
    let identity: Identity
    let scope: DatabaseScope
    let zone: ZoneKey
    /// What the account may read.
    let access: RecordAccess
    /// No device of the account's: all of them are told.
    let life: DeviceID

    /// Opens the zone for as long as `body` runs.
    ///
    /// - Parameters:
    ///   - credentialHash: of the user's credential. It is looked up here, in the container, and nowhere before.
    ///   - assets: where the content of assets is; nil if the command has none.
    static func with(
        _ credentialHash: [UInt8], _ place: CKToolZone, on console: Console, assets: (any AssetStore)? = nil,
        _ body: (CKToolSession) async throws -> Void
    ) async throws {
        let service = CloudService(
            storage: console.storage, assets: assets, scheduler: console.loop,
            limits: console.serverLimits ?? .standard, onMoved: { _ in })
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(try await open(credentialHash, place, on: console, service)))
        } catch {
            result = .failure(error)
        }
        await service.stop()
        try result.get()
    }

    private static func open(
        _ credentialHash: [UInt8], _ place: CKToolZone, on console: Console, _ service: CloudService
    ) async throws -> CKToolSession {
        let key = try console.container()
        let identity: Identity?
        do throws(StorageError) {
            identity = try await console.storage.identity(
                credentialHash: credentialHash, container: key.identifier, environment: key.environment,
                containersMax: 0, now: console.now)
        } catch {
            throw error.code == .containerUnknown ? AdminFailure.noContainer(key) : error
        }
        guard let identity else {
            throw AdminFailure(
                .notAllowed,
                "The user token is not valid: unknown, expired or revoked. Make a new one: tidemark admin credentials "
                    + "create NAME")
        }
        let (database, access) = try await database(place, key, identity, service)
        return CKToolSession(
            console: console, service: service, identity: identity, scope: place.scope,
            zone: ZoneKey(database: database, name: place.zoneName), access: access,
            life: DeviceID(high: console.loop.randomBits(), low: console.loop.randomBits()))
    }

    private static func database(
        _ place: CKToolZone, _ key: ContainerKey, _ identity: Identity, _ service: CloudService
    ) async throws -> (DatabaseID, RecordAccess) {
        switch place.scope {
        case .private: return (identity.privateDatabase, .owner(identity.user))
        case .public:
            let found = try await service.publicDatabase(of: key).mapError { AdminFailure($0) }.get()
            let access = try await service.readAccess(to: found, by: identity.user).mapError { AdminFailure($0) }.get()
            return (found.database, access)
        case .shared:
            guard let owner = place.ownerName else {
                throw AdminFailure(
                    .usage, "Missing --owner-name: give the record name of the user who shares the zone.")
            }
            let found = try await service.zoneOwners(named: [owner], in: key).mapError { AdminFailure($0) }.get()
            guard let database = found.first?.privateDatabase else { throw AdminFailure(.zoneNotFound) }
            return (database, RecordAccess(scope: .shared, user: identity.user))
        }
    }

    // MARK: Queries

    /// A query of the zone.
    struct Search: Sendable {
        let recordType: String
        let filters: [CKToolFilter]
        let sorts: [QuerySort]
    }

    /// Reads until there are so many records, or no more. A page has no more records than one request may change, and is in
    /// memory alone.
    ///
    /// - Parameter cursor: of an earlier call with the same query; empty to begin.
    /// - Returns: where a later call goes on; nil: there is no more.
    func eachPage(
        of search: Search, limit: Int, after cursor: [UInt8] = [], _ body: ([QueryMatch]) async throws -> Void
    ) async throws -> [UInt8]? {
        let query = try await query(search)
        var (place, left) = (cursor, limit)
        while true {
            let result = await service.queryRecords(
                query, in: zone.database, of: identity.container, by: access, cursor: place,
                recordsMax: min(left, itemsMax), for: WorkTurn(of: .account(identity.account.rawValue)))
            let page: QueryPage
            switch result {
            case .success(let success): page = success
            case .failure(let refusal):
                throw AdminFailure(AdminFailure(refusal.reason).status, refusal.text)
            }
            let matches = page.matches.filter { match in search.filters.allSatisfy { $0.keeps(match.record) } }
            left -= matches.count
            try await body(matches)
            guard let next = page.cursor?.bytes else { return nil }
            guard left > 0 else { return next }
            place = next
        }
    }

    private var itemsMax: Int { (console.serverLimits ?? .standard).itemsMax }

    private func query(_ search: Search) async throws -> Query {
        let names = Set(search.filters.flatMap(\.userNames))
        let key = try console.container()
        let users =
            names.isEmpty
            ? [:] : try await service.users(named: names, in: key).mapError { AdminFailure($0) }.get()
        let type =
            search.filters.contains(where: \.needsFieldType)
            ? try await console.store.schema(of: identity.container).schema.types[search.recordType] : nil
        let byName = Dictionary(users.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        do throws(InputMistake) {
            var parts: [QueryPredicate] = []
            for filter in search.filters { parts.append(try filter.predicate(users: byName, type: type)) }
            let sorts = search.sorts.isEmpty ? search.filters.compactMap(\.sort) : search.sorts
            return Query(
                recordType: search.recordType, zoneName: zone.name,
                predicate: parts.isEmpty ? .always(true) : parts.count == 1 ? parts[0] : .and(parts), sorts: sorts)
        } catch {
            throw AdminFailure(.usage, error.text)
        }
    }

    /// Records as they are written.
    func outputs(_ matches: [QueryMatch], _ keys: [String]?) async throws -> [OutputValue] {
        let store = try await console.storage.standing().incarnation
        let users = Set(matches.flatMap { [$0.record.createdBy, $0.record.modifiedBy] })
        let names = try await service.userRecordNames(of: users).mapError { AdminFailure($0) }.get()
        // An empty list has no type of its own.
        let types =
            matches.contains { $0.record.fields.contains { $0.type == .emptyList } }
            ? try await console.store.schema(of: identity.container).schema.types : [:]
        return matches.map { match in
            CKToolRecord(
                record: match.record, zone: match.zone, zoneName: match.zoneName, store: store, userNames: names,
                schema: types[match.record.type]?.fields ?? [:]
            ).output(keys)
        }
    }

    // MARK: Changes

    /// Saves a new record, and reads it again.
    ///
    /// - Parameter emptyLists: the types of empty lists, which are not in the fields.
    func create(
        _ recordType: String, named name: String, _ fields: FieldMap, emptyLists: [String: SchemaFieldType] = [:]
    ) async throws -> QueryMatch {
        let lesson = try await lesson(of: emptyLists, recordType)
        let save = RecordSave(name: name, type: recordType, tag: nil, fields: fields, parent: .unchanged)
        let outcome = try await change(saves: [save], deletes: [], counter: 1)
        if case .failed(let failure)? = outcome.saves.first { throw Self.failure(name, failure) }
        if !lesson.isEmpty {
            // Whoever may not save a record teaches nothing, so this comes after it.
            do throws(StorageError) {
                _ = try await console.storage.learn(lesson, in: identity.container)
            } catch {
                throw AdminFailure(
                    error, done: "The record \(name) was created. The schema did not get the types of its empty lists.")
            }
        }
        let lookup = try await service.records(named: [name], in: zone, by: access).mapError { AdminFailure($0) }.get()
        guard let found = lookup.records.first else { throw AdminFailure(.recordUnknown) }
        let record = try found.mapError { AdminFailure($0) }.get()
        return QueryMatch(zone: lookup.zone.id, zoneName: zone.name, record: record)
    }

    /// What empty lists teach a schema that is not frozen: a list of the declared type, as if it had elements.
    ///
    /// - Throws: ``AdminFailure`` if the schema has another type, or no room.
    private func lesson(
        of emptyLists: [String: SchemaFieldType], _ recordType: String
    ) async throws -> SchemaLesson {
        guard !emptyLists.isEmpty else { return SchemaLesson() }
        let current = try await console.store.schema(of: identity.container)
        do throws(SchemaRefusal) {
            let limits = console.serverLimits ?? .standard
            return try current.lesson(of: emptyLists, type: recordType, entriesMax: limits.schemaEntriesMax)
        } catch {
            throw AdminFailure(AdminFailure(error.reason).status, error.text)
        }
    }

    /// Deletes records.
    ///
    /// - Parameter counter: another one for each call.
    /// - Returns: how many, and what became of the others.
    func delete(_ names: [String], counter: UInt64) async throws -> (deletedCount: Int, failures: [AdminFailure]) {
        let outcome = try await change(saves: [], deletes: names, counter: counter)
        var failures: [AdminFailure] = []
        for (name, result) in zip(names, outcome.deletes) {
            if case .failed(let failure) = result { failures.append(Self.failure(name, failure)) }
        }
        return (names.count - failures.count, failures)
    }

    private static func failure(_ name: String, _ failure: ItemFailure) -> AdminFailure {
        AdminFailure(AdminFailure(failure.reason).status, "\(name): \(failure.detail ?? failure.reason.text)")
    }

    private func change(
        saves: [RecordSave], deletes: [String], counter: UInt64
    ) async throws -> RecordsOutcome {
        // A write reads its grants in the transaction that decides.
        let access = scope == .private ? access : RecordAccess(scope: scope, user: identity.user)
        let request = RecordsRequest(
            id: RequestID(device: life, counter: counter, lowestUnanswered: counter), key: zone, saves: saves,
            deletes: deletes, policy: .ifServerRecordUnchanged, isAtomic: false, user: identity.user, access: access)
        guard let answer = await service.modifyRecords([request], for: .account(identity.account.rawValue)).first else {
            throw AdminFailure(.serverFault)
        }
        let outcome = try answer.mapError { AdminFailure($0) }.get()
        // It is a hint: the servers' sweep makes up for a lost one.
        try? await console.storage.post([
            .zone(ZoneNotice(database: zone.database, life: .nobody, zoneName: zone.name))
        ])
        return outcome
    }
}
