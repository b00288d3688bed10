// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminAccounts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts", abstract: "Accounts: who may sign in.", subcommands: [Create.self, List.self])

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create an account.")

        @Argument(help: "A name that no other account has.") var name: String
        @OptionGroup var database: DatabaseOption

        func validate() throws {
            try AccountName.check(name)
        }

        func run() throws {
            let name = name
            guard try database.withAdminStore({ try await $0.createAccount(name) }) != nil else {
                throw CommandError("There is an account named \(name) already.")
            }
            print("Created \(name). Next: tidemark admin credentials issue \(name)")
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List all accounts.")

        @OptionGroup var database: DatabaseOption

        func run() throws {
            let accounts = try database.withAdminStore { try await $0.accounts() }
            Table.print(
                ["ACCOUNT", "CREATED", "CREDENTIALS", "DEVICES"],
                accounts.map { [$0.name, Table.date($0.createdAt), "\($0.credentialCount)", "\($0.deviceCount)"] })
        }
    }
}

/// Names of accounts are for people and for command lines.
enum AccountName {
    static func check(_ name: String) throws {
        let isGood = (1...255).contains(name.utf8.count) && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        guard isGood, !name.hasPrefix("-") else {
            throw ValidationError("An account's name is 1 to 255 printable ASCII characters without spaces.")
        }
    }

    /// - Throws: ``CommandError`` if there is no such account.
    static func find(_ name: String, in store: AdminStore) async throws -> AccountID {
        guard let account = try await store.account(named: name) else {
            throw CommandError("There is no account named \(name). Create it: tidemark admin accounts create \(name)")
        }
        return account
    }
}
