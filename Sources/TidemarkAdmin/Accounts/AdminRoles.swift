// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminRoles: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roles", abstract: "The users who have a container's own roles.",
        discussion: """
            A schema makes roles (CREATE ROLE) and grants them what they may do with records of a type in the public \
            database (GRANT … TO). Servers use a change from the next request on.
            """,
        subcommands: [List.self, Assign.self, Revoke.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List a container's own roles and who has them.",
            examples: "tidemark admin roles list --container iCloud.com.example.notes")
        static let role = OperatorRole.viewer

        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            try await console.show(
                try await console.store.roleMembers(in: try console.container()),
                as: [
                    Column("ROLE", key: "role", isName: true) { .text($0.role) },
                    Column("ACCOUNT", key: "account") { .optional($0.account) },
                    Column("USER", key: "user") { .optional($0.userRecordName.isEmpty ? nil : $0.userRecordName) },
                ])
        }
    }

    struct Assign: AdminCommand {
        static let configuration = CommandConfiguration(
            "assign", abstract: "Give an account a role.",
            examples: "tidemark admin roles assign alice editors --container iCloud.com.example.notes")
        static let role = OperatorRole.editor

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "The role, as the schema names it.") var name: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let key = try console.container()
            try await AdminRoles.require(name, account, console)
            try console.plan("give \(account) the role \(name) in \(key.identifier)")
            try await AdminRoles.set(name, of: account, isGiven: true, console)
            console.say("\(account) has the role \(name) in \(key.identifier).")
        }
    }

    struct Revoke: AdminCommand {
        static let configuration = CommandConfiguration(
            "revoke", abstract: "Take a role from an account.",
            examples: "tidemark admin roles revoke alice editors --container iCloud.com.example.notes")
        static let role = OperatorRole.editor

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "The role, as the schema names it.") var name: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let key = try console.container()
            try await AdminRoles.require(name, account, console)
            try console.plan("take the role \(name) from \(account) in \(key.identifier)")
            try await AdminRoles.set(name, of: account, isGiven: false, console)
            console.say("\(account) does not have the role \(name) in \(key.identifier).")
        }
    }

    private static func set(_ role: String, of account: String, isGiven: Bool, _ console: Console) async throws {
        let key = try console.container()
        let user = try await console.user(ofAccount: account)
        guard try await console.store.setRole(role, of: user.id, isGiven: isGiven) else { throw noRole(role, in: key) }
    }

    /// Before anything is planned: that there are container, account and role.
    private static func require(_ role: String, _ account: String, _ console: Console) async throws {
        let key = try console.container()
        _ = try await console.account(account)
        _ = try await console.containerID()
        // Nobody becomes a user of a container that is being deleted.
        guard try await !console.store.isClosed(key) else { throw AdminFailure.noContainer(key) }
        guard try await console.store.roleMembers(in: key).contains(where: { $0.role == role }) else {
            throw noRole(role, in: key)
        }
    }

    private static func noRole(_ role: String, in key: ContainerKey) -> AdminFailure {
        AdminFailure(
            .refused,
            "The schema of \(key.identifier), \(key.environment.name), has no role \(role). A schema creates roles with "
                + "CREATE ROLE: tidemark admin schema import")
    }
}
