// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

extension CKTool {
    struct ExportSchema: CKToolStoreCommand {
        static let right = CKToolRight.management(.viewer)
        static let configuration = CommandConfiguration(
            commandName: "export-schema", abstract: "Write the schema of a container, in the schema language.")

        @OptionGroup var access: CKToolAccess
        @OptionGroup var container: CKToolContainer
        @Option(
            name: .customLong("output-file"),
            help: ArgumentHelp("The file. Default: standard output.", valueName: "file"))
        var outputFile: String?

        var place: CKToolPlace? { container.place }

        func words(_ program: CKToolProgram) -> CKToolWords { CKToolWords("export-schema", in: container) }

        func run(_ program: CKToolProgram) async throws {
            try program.noteManagementToken(access.token)
            try await program.withConsole(container.place) { console in
                let text = try await console.store.schema(of: try await console.containerID()).schema.text
                guard let outputFile else { return try await console.write(text) }
                try program.write(text, toFile: outputFile)
            }
        }
    }

    struct ImportSchema: CKToolStoreCommand {
        static let right = CKToolRight.management(.editor)
        static let configuration = CommandConfiguration(
            commandName: "import-schema", abstract: "Replace the schema of a container by that of a file.",
            discussion: """
                In production nothing is removed. In development what records use is not removed. If the container does not \
                exist, it is created.
                """)

        @OptionGroup var access: CKToolAccess
        @OptionGroup var container: CKToolContainer
        @Flag(name: .customLong("validate"), help: "Also say that the schema is valid.") var saysValid = false
        @Option(help: ArgumentHelp("The schema's file.", valueName: "file")) var file: String

        var place: CKToolPlace? { container.place }

        func words(_ program: CKToolProgram) -> CKToolWords {
            var words = CKToolWords("import-schema", in: container)
            words.add(flag: "--validate", if: saysValid)
            words.add("--file", file: program.path(file))
            return words
        }

        func run(_ program: CKToolProgram) async throws {
            try program.noteManagementToken(access.token)
            let schema = try CKToolSchemaFile.read(file, program)
            try await program.withConsole(container.place, auditing: "import-schema") { console in
                let id = try await console.findOrCreate(try console.container())
                let conflicts = try await console.store.conflicts(of: schema, in: id)
                if !conflicts.isEmpty { throw CKToolSchemaFile.verdict(conflicts) }
                let differences = try await console.store.change(id, force: false) { _ in schema }
                for role in differences where role.takesRole { console.say("Removed: \(role.text)") }
                try await console.store.prepareQueries(in: id)
            }
            if saysValid { try await program.screen().write(CKToolSchemaFile.valid) }
        }
    }

    struct ValidateSchema: CKToolStoreCommand {
        static let right = CKToolRight.management(.viewer)
        static let configuration = CommandConfiguration(
            commandName: "validate-schema", abstract: "Say whether a schema's file could be imported. Changes nothing.")

        @OptionGroup var access: CKToolAccess
        @OptionGroup var container: CKToolContainer
        @Option(help: ArgumentHelp("The schema's file.", valueName: "file")) var file: String

        var place: CKToolPlace? { container.place }

        func words(_ program: CKToolProgram) -> CKToolWords {
            var words = CKToolWords("validate-schema", in: container)
            words.add("--file", file: program.path(file))
            return words
        }

        func run(_ program: CKToolProgram) async throws {
            try program.noteManagementToken(access.token)
            let schema = try CKToolSchemaFile.read(file, program)
            try await program.withConsole(container.place) { console in
                let key = try console.container()
                guard let id = try await console.store.container(key.identifier, key.environment) else { return }
                let conflicts = try await console.store.conflicts(of: schema, in: id)
                if !conflicts.isEmpty { throw CKToolSchemaFile.verdict(conflicts) }
            }
            try await program.screen().write(CKToolSchemaFile.valid)
        }
    }

    struct ResetSchema: CKToolStoreCommand {
        static let right = CKToolRight.management(.owner)
        static let configuration = CommandConfiguration(
            commandName: "reset-schema",
            abstract: "Make the development schema that of production, and delete the data.",
            discussion: """
                All records and zones of the development environment are deleted, as by their owners. Accounts and their \
                user records stay. Apple's tool does not ask, and so does this one.
                """)

        @OptionGroup var access: CKToolAccess
        @Option(name: .customLong("container-id"), help: ArgumentHelp("The container's identifier.", valueName: "id"))
        var containerID: String

        var place: CKToolPlace? { developmentPlace }
        private var developmentPlace: CKToolPlace { CKToolPlace(container: containerID, environment: .development) }

        func words(_ program: CKToolProgram) -> CKToolWords {
            var words = CKToolWords("reset-schema")
            words.add("--container-id", containerID)
            return words
        }

        func run(_ program: CKToolProgram) async throws {
            try program.noteManagementToken(access.token)
            try await program.withConsole(developmentPlace, auditing: "reset-schema") { console in
                let id = try await console.containerID()
                let production = try await console.store.container(containerID, .production)
                let schema: Schema =
                    if let production { try await console.store.schema(of: production).schema } else { Schema() }
                let tally = try await ContainerEmptying(console, try console.container()).run()
                _ = try await console.store.change(id, force: true) { _ in schema }
                try await console.store.prepareQueries(in: id)
                console.say("Deleted \(Amount.records(tally.recordCount)), \(Amount.zones(tally.zoneCount)).")
            }
        }
    }
}

/// A schema's file, and what is wrong with it, in the words of `validate-schema`.
enum CKToolSchemaFile {
    static let valid = "✅ Schema is valid.\n"

    /// - Throws: ``CKToolVerdict`` for a file that is no schema, ``AdminFailure`` for one that cannot be read.
    static func read(_ path: String, _ program: CKToolProgram) throws -> Schema {
        let text = try program.text(ofFile: path)
        do throws(SchemaSyntaxError) {
            return try Schema(parsing: text)
        } catch {
            throw CKToolVerdict(description: Self.text(of: error))
        }
    }

    static func text(of error: SchemaSyntaxError) -> String {
        let place = "at line \(error.position.line), column \(error.position.column)."
        guard let mismatch = error.mismatch else { return failed("\(error.message), \(place)") }
        return failed("Encountered \"\(mismatch.found)\" \(place)\nWas expecting:\n    \(mismatch.expected)")
    }

    static func verdict(_ differences: [SchemaDifference]) -> CKToolVerdict {
        let lines = differences.map(\.text).joined(separator: "\n")
        return CKToolVerdict(description: failed("These changes would lose what is stored:\n\(lines)"))
    }

    private static func failed(_ text: String) -> String { "❌ Schema validation failed: \(text)" }
}

extension AdminStore {
    /// What stands against replacing a container's schema: in production all that would be lost, in development what records
    /// use.
    fileprivate func conflicts(of schema: Schema, in container: ContainerID) async throws -> [SchemaDifference] {
        let current = try await self.schema(of: container)
        let differences = current.schema.differences(to: schema)
        if current.isFrozen { return differences.filter { $0.isDestructive || $0.takesRole } }
        return try await inUse(differences.filter(\.isDestructive), in: container)
    }
}
