// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService

extension StorageConformance {
    static let schemas: [Scenario] = [
        Scenario("R-012: a container's schema is empty at first; development learns, production is frozen") { store in
            let development = try await store.second.schema(of: try await store.alice().container)
            try expect(!development.isFrozen && development.schema == Schema(), "empty, and it learns")
            let production = try await store.second.schema(of: try await store.productionContainer())
            try expect(production.isFrozen && production.schema == Schema(), "empty, and it is frozen")
            let after = try await store.first.learn(lesson("Note", "text", .string), in: production.container)
            try expectEqual(after, production, "a frozen schema learns nothing")
            try await expectError(.containerUnknown, "a container that is not there has no schema") {
                try await store.first.schema(of: ContainerID(987_654))
            }
            try await expectError(.containerUnknown, "it has no revision") {
                try await store.first.schemaRevision(of: ContainerID(987_654))
            }
        },
        Scenario("R-062: the first server that teaches a key is right, and both see it") { store in
            let container = try await store.alice().container
            let version = try await store.first.schema(of: container).version
            let first = try await store.first.learn(lesson("Note", "text", .string), in: container)
            let second = try await store.second.learn(lesson("Note", "text", .int64), in: container)
            try expectEqual(first.schema.types["Note"]?.fields, ["text": field(.string)], "what was taught")
            try expectEqual(second, first, "what is known stays")
            let third = try await store.second.learn(lesson("Note", "count", .int64, isEncrypted: true), in: container)
            let count = FieldSchema(SchemaFieldType(.int64), isEncrypted: true)
            try expectEqual(third.schema.types["Note"]?.fields, ["count": count], "what was taught, and no more")
            let whole = try await store.first.schema(of: container)
            let all = ["text": field(.string), "count": count]
            try expectEqual(whole.schema.types["Note"]?.fields, all, "what is new is added, and both see it")
            try expectEqual([third.version, whole.version], [version, version], "learning leaves the version")
            try expectEqual(try await store.first.schemaRevision(of: container), whole.revision, "rows are counted")
            try expect(whole.revision != second.revision, "what is learned is another revision")
            try expectEqual(whole.schema.types["Note"]?.grants, .standard, "grants are the standard ones")
        },
        Scenario("a type can be learned without fields") { store in
            let container = try await store.alice().container
            let fits = try await store.first.schema(of: container).verdict(onSaving: .init(), type: "Empty")
            guard case .teaches(let lesson) = fits else { return try expect(false, "an unknown type teaches") }
            let schema = try await store.first.learn(lesson, in: container)
            try expectEqual(schema.schema.types, ["Empty": RecordTypeSchema()], "the type alone")
        },
        Scenario("an operator's schema replaces what it was made from, and counts the version on") { store in
            let identity = try await store.alice()
            let old = try await store.first.learn(lesson("Note", "text", .string), in: identity.container)
            var note = RecordTypeSchema(
                fields: [
                    "text": FieldSchema(SchemaFieldType(.string), marks: .all), "tags": field(.string, list: true),
                ],
                systemMarks: [.recordID: .queryable, .creationDate: [.queryable, .sortable]],
                grants: Grants([.world: .read, .custom("Editor"): .all]))
            let other = RecordTypeSchema(fields: ["n": field(.asset)])
            var schema = Schema(types: ["Note": note, "Other": other], roles: ["Editor"])
            try expect(try await store.first.replaceSchema(old, by: schema), "nobody changed it meanwhile")
            let new = try await store.second.schema(of: identity.container)
            try expectEqual(new.schema, schema, "as it was given")
            // Two types, three fields and two marked system fields.
            try expectEqual(new.revision.rowCount, 7, "all of it counts")
            try expectEqual(try await store.first.schemaRevision(of: identity.container), new.revision, "the revision")
            try expect(new.version > old.version, "the version grows")
            try expect(!(try await store.first.replaceSchema(old, by: Schema())), "an old one is not replaced")

            note.fields["text"]?.marks = []
            note.fields["tags"] = nil
            note.systemMarks[.recordID] = nil
            note.grants = .standard
            schema = Schema(types: ["Note": note])
            try expect(try await store.second.replaceSchema(new, by: schema), "nobody changed it meanwhile")
            try expectEqual(
                try await store.first.schema(of: identity.container).schema, schema, "what is left out goes")
        },
        Scenario("an operator does not miss what was learned meanwhile") { store in
            let container = try await store.alice().container
            let old = try await store.first.schema(of: container)
            _ = try await store.second.learn(lesson("Note", "text", .string), in: container)
            try expect(!(try await store.first.replaceSchema(old, by: Schema(roles: ["Editor"]))), "it has changed")
            try expectEqual(try await store.first.schema(of: container).schema.roles, [], "nothing was written")
        },
        Scenario("a write transaction says by which schema it goes") { store in
            let identity = try await store.alice()
            let zone = ZoneKey(database: identity.privateDatabase, name: ZoneName.default)
            for _ in 0..<2 {
                let schema = try await store.first.schema(of: identity.container)
                let missing = ZoneKey(database: identity.privateDatabase, name: "missing")
                let transaction = try await store.second.beginWrite([zone.read(), missing.read()])
                await transaction.rollback()
                let stamp = SchemaStamp(container: identity.container, version: schema.version)
                try expectEqual(transaction.snapshots.map(\.schema), [stamp, stamp], "container and version")
                try expect(try await store.first.replaceSchema(schema, by: Schema(roles: ["Editor"])), "replaced")
            }
        },
    ]

    private static func field(_ element: SchemaFieldType.Element, list: Bool = false) -> FieldSchema {
        FieldSchema(SchemaFieldType(element, isList: list))
    }

    private static func lesson(
        _ type: String, _ key: String, _ element: SchemaFieldType.Element, isEncrypted: Bool = false
    ) -> SchemaLesson {
        SchemaLesson(fields: [type: [key: FieldSchema(SchemaFieldType(element), isEncrypted: isEncrypted)]])
    }
}

extension StorageFixture {
    fileprivate func productionContainer() async throws -> ContainerID {
        let identity = try await first.identity(
            credentialHash: StorageConformance.Credentials.alice, container: "iCloud.test", environment: .production,
            containersMax: .max, now: Self.now)
        return try require(identity, "a good credential has an identity").container
    }
}
