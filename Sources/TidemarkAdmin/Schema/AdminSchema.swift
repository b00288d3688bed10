// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminSchema: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Record types and fields, in CloudKit's schema language (.ckdb).",
        subcommands: [Export.self, Import.self, Validate.self, Diff.self, Promote.self])

    struct Export: AdminCommand {
        static let configuration = CommandConfiguration(
            "export", abstract: "Print the schema.", discussion: "It has one form, whatever --output says.",
            examples: "tidemark admin schema export --container iCloud.com.example.notes > notes.ckdb")
        static let role = OperatorRole.viewer

        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            try await console.write(try await console.store.schema(of: try await console.containerID()).schema.text)
        }
    }

    struct Import: AdminCommand {
        static let configuration = CommandConfiguration(
            "import", abstract: "Replace the schema with that of a file.",
            discussion: """
                In development, what the file does not have is removed if no record uses it. In production nothing is \
                removed. The command shows the changes, as `diff` does. If the container does not exist, the command creates \
                it, and says so.
                """,
            examples: "tidemark admin schema import notes.ckdb --container iCloud.com.example.notes")
        static let role = OperatorRole.editor

        @Argument(help: "The file; - for standard input.") var file: String
        @Flag(help: "In development: also remove and change what records use. The records keep their values.")
        var force = false
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let schema = try SchemaFile.read(file, console.screen)
            let key = try console.container()
            let planned = try await currentSchema(console).differences(to: schema)
            let action = "replace the schema of \(key.identifier) in \(key.environment.name)"
            if let id = try await console.store.container(key.identifier, key.environment) {
                let isFrozen = try await console.store.schema(of: id).isFrozen
                try await console.store.checkLoss(planned, isFrozen: isFrozen, force: force, in: id)
            }
            if key.environment == .development, let loss = SchemaFile.loss(planned, force: force) {
                try await console.confirm(action, loss: loss)
            } else {
                try console.plan("\(action). \(Amount.text(planned.count, "change"))")
            }
            let id = try await console.findOrCreate(key)
            let differences = try await console.store.change(id, force: force) { _ in schema }
            try await console.store.prepareQueries(in: id)
            try await console.report(differences)
        }

        /// Empty for a container that does not exist yet.
        private func currentSchema(_ console: Console) async throws -> Schema {
            let key = try console.container()
            guard let id = try await console.store.container(key.identifier, key.environment) else { return Schema() }
            return try await console.store.schema(of: id).schema
        }
    }

    struct Validate: LocalCommand {
        static let configuration = CommandConfiguration(
            "validate", abstract: "Check whether a file is a schema. Needs no database.",
            examples: "tidemark admin schema validate notes.ckdb")

        @Argument(help: "The file; - for standard input.") var file: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ screen: Screen) async throws {
            let schema = try SchemaFile.read(file, screen)
            let fieldCount = schema.types.values.reduce(0) { $0 + $1.fields.count }
            screen.say("Good: \(schema.types.count) record types, \(fieldCount) fields, \(schema.roles.count) roles.")
        }
    }

    struct Diff: AdminCommand {
        static let configuration = CommandConfiguration(
            "diff", abstract: "Show what `import` of a file would change, or, without a file, what `promote` would.",
            examples: "tidemark admin schema diff notes.ckdb --container iCloud.com.example.notes",
            "tidemark admin schema diff --container iCloud.com.example.notes")
        static let role = OperatorRole.viewer

        @Argument(help: "The file; - for standard input.") var file: String?
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let key = try console.container()
            if let file {
                let schema = try SchemaFile.read(file, console.screen)
                return try await console.show(
                    try await console.store.currentSchema(key).differences(to: schema), as: SchemaFile.columns)
            }
            let development = try await console.store.developmentSchema(key.identifier)
            let production = try await console.store.currentSchema(
                ContainerKey(identifier: key.identifier, environment: .production))
            let differences = production.differences(to: try production.promotingOrError(development))
            try await console.show(differences, as: SchemaFile.columns)
        }
    }

    struct Promote: AdminCommand {
        static let configuration = CommandConfiguration(
            "promote", abstract: "Add to production what only development has.",
            discussion: "Nothing is removed from production. It shows the changes, as `diff` does.",
            examples: "tidemark admin schema promote --container iCloud.com.example.notes")
        static let role = OperatorRole.editor

        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let identifier = try console.container().identifier
            let source = try await console.store.developmentSchema(identifier)
            let key = ContainerKey(identifier: identifier, environment: .production)
            if console.isDryRun {
                let current = try await console.store.currentSchema(key)
                let count = current.differences(to: try current.promotingOrError(source)).count
                try console.plan(
                    "add to the production schema of \(identifier) what only development has: "
                        + Amount.text(count, "change"))
            }
            let production = try await console.findOrCreate(key)
            let differences = try await console.store.change(production, force: false) {
                try $0.promotingOrError(source)
            }
            try await console.store.prepareQueries(in: production)
            try await console.report(differences)
        }
    }
}

/// Reads schemas, and shows how they differ.
enum SchemaFile {
    /// - Throws: ``AdminFailure``, with a text that begins with file, line and column.
    static func read(_ path: String, _ screen: Screen) throws(AdminFailure) -> Schema {
        let text = try screen.open(path).text(byteCountMax: textBytesMax)
        do throws(SchemaSyntaxError) {
            return try Schema(parsing: text)
        } catch {
            throw AdminFailure(.failedCheck, "\(path):\(error)")
        }
    }

    /// Far more than any schema has.
    private static let textBytesMax = 16 << 20

    /// What nobody gets back; nil if there is nothing. Without `force`, types and fields go only if no record uses them.
    static func loss(_ differences: [SchemaDifference], force: Bool) -> String? {
        let (roles, others) = (differences.count(where: \.takesRole), differences.count(where: \.isDestructive))
        guard roles > 0 || force && others > 0 else { return nil }
        return
            "\(Amount.text(roles, "role")) will be lost, with who has them. \(others) types and fields will be removed or "
            + "changed."
    }

    static var columns: [Column<SchemaDifference>] {
        [
            Column("CHANGE", key: "change", isName: true) { .text($0.text) },
            Column("DESTROYS", key: "destroys") { .flag($0.isDestructive) },
        ]
    }
}

extension Console {
    fileprivate func report(_ differences: [SchemaDifference]) async throws {
        try await show(differences, as: SchemaFile.columns)
        say(differences.isEmpty ? "Nothing to change." : "Changed.")
    }

    /// A schema may be applied before an app's first device connects. A new container is reported at once, because its
    /// name may be mistyped.
    func findOrCreate(_ key: ContainerKey) async throws -> ContainerID {
        if let id = try await store.container(key.identifier, key.environment) { return id }
        let id = try await store.createContainer(key.identifier, key.environment)
        say("Created container \(key.identifier) in \(key.environment.name).")
        return id
    }
}

extension Schema {
    /// As ``promoting(_:)``, with an error for people.
    fileprivate func promotingOrError(_ source: Schema) throws -> Schema {
        do throws(SchemaConflict) {
            return try promoting(source)
        } catch {
            throw AdminFailure.refused(
                "Production has these fields with other types, which never change. Use other keys:", error.differences)
        }
    }
}

extension AdminStore {
    /// Empty for a container that exists in the other environment only.
    ///
    /// - Throws: ``AdminFailure`` if there is no such container at all.
    fileprivate func currentSchema(_ key: ContainerKey) async throws -> Schema {
        if let id = try await container(key.identifier, key.environment) { return try await schema(of: id).schema }
        // NB: written out, because Swift 6.3 crashes when it optimises a loop over the environments here.
        let other = key.environment == .production ? ContainerEnvironment.development : .production
        if try await container(key.identifier, other) != nil { return Schema() }
        throw AdminFailure.noContainer(key)
    }

    /// The schema from which promotion starts.
    ///
    /// - Throws: ``AdminFailure`` if there is no such container in development.
    fileprivate func developmentSchema(_ identifier: String) async throws -> Schema {
        let key = ContainerKey(identifier: identifier, environment: .development)
        guard let id = try await container(identifier, .development) else { throw AdminFailure.noContainer(key) }
        return try await schema(of: id).schema
    }

    /// - Parameter isFrozen: whether the schema is that of production.
    /// - Throws: ``AdminFailure`` for changes that would be refused.
    fileprivate func checkLoss(
        _ differences: [SchemaDifference], isFrozen: Bool, force: Bool, in container: ContainerID
    ) async throws {
        let lost = differences.filter { $0.isDestructive || $0.takesRole }
        if isFrozen, !lost.isEmpty {
            throw AdminFailure.refused("Production never loses roles, nor loses or changes types and fields:", lost)
        }
        guard !force else { return }
        let used = try await inUse(differences.filter(\.isDestructive), in: container)
        guard used.isEmpty else {
            throw AdminFailure.refused("Records use these. Delete the records, or repeat with --force:", used)
        }
    }

    /// Replaces a schema by the result of `make`. Without `force` it refuses destructive changes: in production always,
    /// and in development if records conflict with them.
    ///
    /// - Returns: the changes.
    func change(
        _ container: ContainerID, force: Bool, _ make: @Sendable (Schema) throws -> Schema
    ) async throws -> [SchemaDifference] {
        for _ in 0..<10 {
            let current = try await schema(of: container)
            let schema = try make(current.schema)
            let differences = current.schema.differences(to: schema)
            try await checkLoss(differences, isFrozen: current.isFrozen, force: force, in: container)
            if differences.isEmpty { return [] }
            if try await replaceSchema(current, by: schema) { return differences }
        }
        throw AdminFailure(
            .refused, "The schema keeps changing, because devices are saving new fields. Try again.")
    }
}

extension SchemaDifference {
    /// Whether users may lose a role.
    var takesRole: Bool { if case .roleRemoved = self { true } else { false } }
}

extension AdminFailure {
    fileprivate static func refused(_ text: String, _ differences: [SchemaDifference]) -> AdminFailure {
        AdminFailure(.refused, "\(text)\n" + differences.map(\.text).joined(separator: "\n"))
    }
}
