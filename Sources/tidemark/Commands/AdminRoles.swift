// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkDomain
internal import TidemarkStore

struct AdminRoles: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roles", abstract: "The users who have a container's own roles.",
        discussion: """
            A schema makes roles (CREATE ROLE) and grants them what they may do with records of a type in the public \
            database (GRANT … TO). Servers use a change from the next request on.
            """,
        subcommands: [Assign.self, Revoke.self, List.self])

    /// The user and the role to give or take.
    struct Membership: ParsableArguments {
        @Argument(help: "The role, as the schema names it.") var role: String
        @Option(help: ArgumentHelp("The account's name.", valueName: "name")) var account: String
        @Option(help: ArgumentHelp("The container's identifier.", valueName: "identifier")) var container: String
        @OptionGroup var environment: EnvironmentOption

        func set(_ isGiven: Bool, _ database: DatabaseOption) throws {
            let key = try environment.key(container)
            let (role, account) = (role, account)
            let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
            try database.withAdminStore { store in
                _ = try await AccountName.find(account, in: store)
                guard let user = try await store.user(ofAccount: account, in: key, now: now) else {
                    throw AdminContainers.missing(key)
                }
                guard try await store.setRole(role, of: user.id, isGiven: isGiven) else {
                    throw CommandError(
                        "The schema of \(key.identifier), \(key.environment.name), has no role \(role). A schema creates "
                            + "roles with CREATE ROLE: tidemark admin schema import")
                }
            }
        }
    }

    struct Assign: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Give an account a role.")

        @OptionGroup var membership: Membership
        @OptionGroup var database: DatabaseOption

        func run() throws {
            try membership.set(true, database)
            print("\(membership.account) has the role \(membership.role) in \(membership.container).")
        }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Take a role from an account.")

        @OptionGroup var membership: Membership
        @OptionGroup var database: DatabaseOption

        func run() throws {
            try membership.set(false, database)
            print("\(membership.account) does not have the role \(membership.role) in \(membership.container).")
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List a container's own roles and who has them.")

        @Option(help: ArgumentHelp("The container's identifier.", valueName: "identifier")) var container: String
        @OptionGroup var environment: EnvironmentOption
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let key = try environment.key(container)
            let members = try database.withAdminStore { try await $0.roleMembers(in: key) }
            Table.print(
                ["ROLE", "ACCOUNT", "USER"],
                members.map { [$0.role, $0.account ?? "-", $0.userRecordName.isEmpty ? "-" : $0.userRecordName] })
        }
    }
}
