// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

/// What several users save in one public database, whose grants change meanwhile.
@Suite struct PublicDatabasesRecordsTests {
    private let fixture: ServiceFixture
    private let bob = UserID(987)

    init() throws { fixture = try ServiceFixture() }

    private func publicDatabase(_ service: CloudService) async throws -> DatabaseID {
        let container = ContainerKey(identifier: "iCloud.test", environment: .development)
        return try await service.publicDatabase(of: container).get().database
    }

    /// A save of a record, by a device whose bits both users have.
    private func save(
        by user: UserID, in database: DatabaseID, tag: ChangeTag? = nil, counter: UInt64
    ) throws -> RecordsRequest {
        let fields = try FieldMap([Field("text", .string("of \(user)"))])
        let save = RecordSave(name: "a", type: "Note", tag: tag, fields: fields, parent: .unchanged)
        return RecordsRequest(
            id: RequestID(DeviceID(high: 0, low: 1), counter), key: ZoneKey(database: database, name: ZoneName.default),
            saves: [save], deletes: [], policy: .ifServerRecordUnchanged, isAtomic: false, user: user,
            access: RecordAccess(scope: .public, user: user))
    }

    /// From now on each user may do this with each record, whoever made it.
    private func grant(_ permissions: Permissions) async throws {
        let store = MemoryStore(fixture.database)
        let current = try await store.schema(of: fixture.identity.container)
        var schema = current.schema
        schema.types["Note", default: RecordTypeSchema()].grants = Grants([.authenticated: permissions])
        #expect(try await store.replaceSchema(current, by: schema))
    }

    @Test func `R-111, R-742: who may no longer read a record gets it neither in a conflict nor in a repeat`() throws {
        let servers = [fixture.server(), fixture.server()]
        try fixture.scheduler.simulate {
            let database = try await publicDatabase(servers[0])
            /// What one server answers, and then the other one to the same request.
            func failures(of request: RecordsRequest) async throws -> [ItemFailure?] {
                var failures: [ItemFailure?] = []
                for server in servers {
                    failures.append(try await server.modify(request).get().saves.first?.failure)
                }
                return failures
            }
            try await grant(.all)
            let made = try save(by: fixture.identity.user, in: database, counter: 1)
            #expect(await servers[0].modify(made).numbers == [1])
            let (new, old) = (
                try save(by: bob, in: database, counter: 1), try save(by: bob, in: database, tag: .foreign, counter: 2)
            )
            let (exists, changed) = (try await failures(of: new), try await failures(of: old))
            #expect(exists.map(\.?.reason) == [.recordExists, .recordExists] && exists[0] == exists[1])
            #expect(changed.map(\.?.reason) == [.recordChanged, .recordChanged] && changed[0] == changed[1])
            for failure in exists + changed { #expect(failure?.serverRecord?.createdBy == fixture.identity.user) }

            var counter: UInt64 = 2
            for (permissions, reasons) in [
                (.create, [.notPermitted, .recordMissing]), ([], [.createNotPermitted, .recordMissing]),
                // Who may read it is told that it is there.
                (.read, [.notPermitted, .notPermitted]),
            ] as [(Permissions, [FailureReason])] {
                try await grant(permissions)
                for (tag, reason) in zip([nil, .foreign] as [ChangeTag?], reasons) {
                    counter += 1
                    let first = try save(by: bob, in: database, tag: tag, counter: counter)
                    let expected = ItemFailure(reason)
                    #expect(try await failures(of: first) == [expected, expected], "\(permissions)")
                }
                let gone: [ItemFailure?] = [ItemFailure(.recordMissing), ItemFailure(.recordMissing)]
                #expect(try await failures(of: new) == (permissions == .read ? exists : gone), "\(permissions)")
                #expect(try await failures(of: old) == (permissions == .read ? changed : gone), "\(permissions)")
            }
            // a grant of writing alone includes reading.
            try await grant(.write)
            #expect(try await failures(of: new) == exists)
            let another = try save(by: bob, in: database, counter: counter + 1)
            #expect(try await failures(of: another) == exists)
        }
    }
}

extension SaveOutcome {
    fileprivate var failure: ItemFailure? {
        if case .failed(let failure) = self { failure } else { nil }
    }
}
