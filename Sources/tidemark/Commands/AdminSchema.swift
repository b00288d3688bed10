// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkDomain
internal import TidemarkStore

struct AdminSchema: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Record types and fields, in CloudKit's schema language (.ckdb).",
        subcommands: [Export.self, Import.self, Validate.self, Diff.self, Promote.self])

    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the schema.")

        @OptionGroup var container: ContainerOption
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let container = container
            let schema = try database.withAdminStore { store in
                try await store.schema(of: try await container.find(in: store)).schema
            }
            print(schema.text, terminator: "")
        }
    }

    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the schema with that of a file.",
            discussion: """
                In development, what the file does not have is removed if no record uses it. In production nothing is \
                removed. The command prints the changes, as `diff` does. If the container does not exist, the command creates \
                it, and says so.
                """)

        @Argument(help: "The file; - for standard input.") var file: String
        @Flag(help: "In development: also remove and change what records use. The records keep their values.")
        var force =
            false
        @OptionGroup var container: ContainerOption
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let schema = try SchemaFile.read(file)
            let (key, force) = (try container.environment.key(container.identifier), force)
            let differences = try database.withAdminStore { store in
                let id = try await store.findOrCreate(key)
                let differences = try await store.change(id, force: force) { _ in schema }
                try await store.prepareQueries(in: id)
                return differences
            }
            SchemaFile.report(differences)
        }
    }

    struct Validate: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check whether a file is a schema. Needs no database.")

        @Argument(help: "The file; - for standard input.") var file: String

        func run() throws {
            let schema = try SchemaFile.read(file)
            let fieldCount = schema.types.values.reduce(0) { $0 + $1.fields.count }
            print("Good: \(schema.types.count) record types, \(fieldCount) fields, \(schema.roles.count) roles.")
        }
    }

    struct Diff: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show what `import` of a file would change, or, without a file, what `promote` would.")

        @Argument(help: "The file; - for standard input.") var file: String?
        @OptionGroup var container: ContainerOption
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let container = container
            let schema = try file.map(SchemaFile.read)
            let differences = try database.withAdminStore { store in
                if let schema {
                    return try await store.currentSchema(container.identifier, container.environment)
                        .differences(to: schema)
                }
                let development = try await store.developmentSchema(container.identifier)
                let production = try await store.currentSchema(container.identifier, .production)
                return production.differences(to: try production.promotingOrError(development))
            }
            for difference in differences { print(difference.text) }
        }
    }

    struct Promote: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add to production what only development has.",
            discussion: "Nothing is removed from production. It prints the changes, as `diff` does.")

        @Option(help: ArgumentHelp("The container's identifier.", valueName: "identifier")) var container: String
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let container = container
            let differences = try database.withAdminStore { store in
                let source = try await store.developmentSchema(container)
                let production = try await store.findOrCreate(
                    ContainerKey(identifier: container, environment: .production))
                let differences = try await store.change(production, force: false) { try $0.promotingOrError(source) }
                try await store.prepareQueries(in: production)
                return differences
            }
            SchemaFile.report(differences)
        }
    }
}

/// The container and its environment.
struct ContainerOption: ParsableArguments {
    @Option(name: .customLong("container"), help: ArgumentHelp("The container's identifier.", valueName: "identifier"))
    var identifier: String
    @Option(help: ArgumentHelp("development or production.", valueName: "environment"))
    var environment: EnvironmentName = .development

    /// - Throws: ``CommandError`` if there is no such container.
    func find(in store: AdminStore) async throws -> ContainerID {
        guard let id = try await store.container(identifier, environment.value) else {
            throw Self.missing(identifier, environment)
        }
        return id
    }

    fileprivate static func missing(_ identifier: String, _ environment: EnvironmentName) -> CommandError {
        CommandError(
            "There is no container \(identifier) in \(environment.rawValue). Check its identifier and the environment: "
                + "`tidemark admin containers list` lists the existing ones, `containers create` creates one.")
    }
}

/// A container's environment on a command line.
enum EnvironmentName: String, ExpressibleByArgument, CaseIterable {
    case development, production

    var value: ContainerEnvironment { self == .development ? .development : .production }
}

enum SchemaFile {
    /// - Throws: ``CommandError``, with a text that begins with file, line and column.
    static func read(_ path: String) throws -> Schema {
        // Reading a terminal or a pipe may wait for any time, and signals are blocked until something handles them.
        ServingLoop.listenForSignals()
        let data: Data
        do {
            data =
                try path == "-"
                ? FileHandle.standardInput.readToEnd() ?? Data() : Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw CommandError("The file \(path) cannot be read. Check that it exists and who may read it.")
        }
        guard let text = String(bytes: data, encoding: .utf8) else {
            throw CommandError("The file \(path) is not text in UTF-8. Convert it first.")
        }
        do throws(SchemaSyntaxError) {
            return try Schema(parsing: text)
        } catch {
            throw CommandError("\(path):\(error)")
        }
    }

    static func report(_ differences: [SchemaDifference]) {
        for difference in differences { print(difference.text) }
        print(differences.isEmpty ? "Nothing to change." : "Changed.")
    }
}

extension Schema {
    /// As ``promoting(_:)``, with an error for people.
    fileprivate func promotingOrError(_ source: Schema) throws -> Schema {
        do throws(SchemaConflict) {
            return try promoting(source)
        } catch {
            throw CommandError(
                "Production has these fields with other types, which never change. Use other keys:\n"
                    + error.differences.map(\.text).joined(separator: "\n"))
        }
    }
}

extension AdminStore {
    /// Empty for a container that exists in the other environment only.
    ///
    /// - Throws: ``CommandError`` if there is no such container at all.
    fileprivate func currentSchema(_ identifier: String, _ environment: EnvironmentName) async throws -> Schema {
        if let id = try await container(identifier, environment.value) { return try await schema(of: id).schema }
        // NB: written out, because Swift 6.3 crashes when it optimises a loop over the environments here.
        let other = environment == .production ? EnvironmentName.development : .production
        if try await container(identifier, other.value) != nil { return Schema() }
        throw ContainerOption.missing(identifier, environment)
    }

    /// The schema from which promotion starts.
    ///
    /// - Throws: ``CommandError`` if there is no such container in development.
    fileprivate func developmentSchema(_ identifier: String) async throws -> Schema {
        guard let id = try await container(identifier, .development) else {
            throw ContainerOption.missing(identifier, .development)
        }
        return try await schema(of: id).schema
    }

    /// A schema may be applied before an app's first device connects. A new container is reported at once, because its
    /// name may be mistyped.
    fileprivate func findOrCreate(_ key: ContainerKey) async throws -> ContainerID {
        if let id = try await container(key.identifier, key.environment) { return id }
        let id = try await createContainer(key.identifier, key.environment)
        print("Created container \(key.identifier) in \(key.environment.name).")
        return id
    }

    /// Replaces a schema by the result of `make`. Without `force` it refuses destructive changes: in production always,
    /// and in development if records conflict with them.
    ///
    /// - Returns: the changes.
    fileprivate func change(
        _ container: ContainerID, force: Bool, _ make: @Sendable (Schema) throws -> Schema
    ) async throws -> [SchemaDifference] {
        for _ in 0..<10 {
            let current = try await schema(of: container)
            let schema = try make(current.schema)
            let differences = current.schema.differences(to: schema)
            let destructive = differences.filter(\.isDestructive)
            let lost = differences.filter { $0.isDestructive || $0.takesRole }
            if current.isFrozen, !lost.isEmpty {
                throw CommandError.refused("Production never loses roles, nor loses or changes types and fields:", lost)
            }
            if !force {
                let used = try await inUse(destructive, in: container)
                guard used.isEmpty else {
                    throw CommandError.refused("Records use these. Delete the records, or repeat with --force:", used)
                }
            }
            if differences.isEmpty { return [] }
            if try await replaceSchema(current, by: schema) { return differences }
        }
        throw CommandError("The schema keeps changing, because devices are saving new fields. Try again.")
    }
}

extension SchemaDifference {
    /// Whether users may lose a role.
    fileprivate var takesRole: Bool { if case .roleRemoved = self { true } else { false } }
}

extension CommandError {
    fileprivate static func refused(_ text: String, _ differences: [SchemaDifference]) -> CommandError {
        CommandError("\(text)\n" + differences.map(\.text).joined(separator: "\n"))
    }
}
