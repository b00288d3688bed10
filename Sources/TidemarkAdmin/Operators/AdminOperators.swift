// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkServer
internal import TidemarkStore

struct AdminOperators: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "operators",
        abstract: "Operators: people who give commands over a server, without access to PostgreSQL.",
        subcommands: [
            List.self, Create.self, SetRole.self, Delete.self, Credentials.self, Issue.self, Revoke.self,
        ])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List the operators.", examples: "tidemark admin operators list")
        static let role = OperatorRole.viewer

        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            try await console.show(
                try await console.store.operators(),
                as: [
                    Column("OPERATOR", key: "operator", isName: true) { .text($0.name) },
                    Column("ROLE", key: "role") { .text($0.role.name) },
                    Column("CREATED", key: "created") { .date($0.createdAt) },
                    Column("CREDENTIALS", key: "credentials") { .number($0.credentialCount) },
                ])
        }
    }

    struct Create: AdminCommand {
        static let configuration = CommandConfiguration(
            "create", abstract: "Create an operator.",
            discussion: """
                A viewer may look at everything but secrets. An editor may also change and delete what is stored. An owner may \
                also do what concerns the store as a whole, keys and other operators.
                """,
            examples: "tidemark admin operators create olga --role editor")
        static let role = OperatorRole.owner

        @Argument(help: "A name that no other operator has.") var name: String
        @Option(name: .customLong("role"), help: "viewer, editor or owner.")
        var grantedRole: OperatorRoleArgument = .viewer
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func validate() throws {
            guard AccountName.isValid(name) else {
                throw ValidationError("An operator's name is 1 to 255 printable ASCII characters without spaces.")
            }
        }

        func run(_ console: Console) async throws {
            let isTaken = AdminFailure(.refused, "There is already an operator named \(name). Choose another name.")
            guard try await console.store.operatorID(named: name) == nil else { throw isTaken }
            try console.plan("create the operator \(name) as \(grantedRole.rawValue)")
            guard try await console.store.createOperator(name, grantedRole.value) != nil else { throw isTaken }
            console.say("Created \(name), \(grantedRole.rawValue). Next: tidemark admin operators issue \(name)")
        }
    }

    struct SetRole: AdminCommand {
        static let configuration = CommandConfiguration(
            "set-role", abstract: "Set what an operator may do, from the next command on.",
            examples: "tidemark admin operators set-role olga owner")
        static let role = OperatorRole.owner

        @Argument(help: "The operator's name.") var name: String
        @Argument(help: "viewer, editor or owner.") var newRole: OperatorRoleArgument
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            _ = try await console.operatorID(name)
            try console.plan("make \(name) \(newRole.rawValue)")
            guard try await console.store.setRole(newRole.value, ofOperator: name) else {
                throw AdminFailure.noOperator(name)
            }
            console.say("\(name) is \(newRole.rawValue).")
        }
    }

    struct Delete: AdminCommand {
        static let configuration = CommandConfiguration(
            "delete", abstract: "Delete an operator with all credentials. The audit keeps what the operator did.",
            examples: "tidemark admin operators delete olga")
        static let role = OperatorRole.owner

        @Argument(help: "The operator's name.") var name: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let id = try await console.operatorID(name)
            let count = try await console.store.operatorCredentials(of: id).count
            try await console.confirm(
                "delete the operator \(name)", loss: "\(name) has \(Amount.text(count, "credential")).")
            guard try await console.store.deleteOperator(name) else { throw AdminFailure.noOperator(name) }
            console.say("Deleted \(name). Open channels close within seconds.")
        }
    }
}

/// A role on a command line.
enum OperatorRoleArgument: String, ExpressibleByArgument, CaseIterable, Sendable {
    case viewer, editor, owner

    var value: OperatorRole {
        switch self {
        case .viewer: .viewer
        case .editor: .editor
        case .owner: .owner
        }
    }
}

extension Console {
    func operatorID(_ name: String) async throws -> OperatorID {
        guard let id = try await store.operatorID(named: name) else { throw AdminFailure.noOperator(name) }
        return id
    }
}

extension AdminFailure {
    static func noOperator(_ name: String) -> AdminFailure {
        AdminFailure(.refused, "There is no operator \(name). See: tidemark admin operators list")
    }
}
