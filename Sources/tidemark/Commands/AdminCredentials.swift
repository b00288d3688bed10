// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkDomain
internal import TidemarkServer
internal import TidemarkStore

struct AdminCredentials: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credentials", abstract: "Credentials: the secrets with which an account's devices sign in.",
        subcommands: [Issue.self, Revoke.self, List.self])

    struct Issue: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Issue a credential and show it, this once: only its hash is stored.")

        @Argument(help: "The account's name.") var name: String
        @Option(
            help: ArgumentHelp(
                "How long it is valid, such as 12h or 30d.", discussion: "Default: for ever.", valueName: "time"))
        var expires: Lifetime?
        @Option(help: ArgumentHelp("What it is for. Lists show it.", valueName: "text"))
        var label = ""
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let (name, label) = (name, label)
            let credential = Credential.make()
            let expiresAt = expires.map { lifetime in
                Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000) + lifetime.seconds * 1_000)
            }
            let id = try database.withAdminStore { store in
                let account = try await AccountName.find(name, in: store)
                return try await store.issueCredential(
                    hash: credential.hash, label: label, expiresAt: expiresAt, for: account)
            }
            printError(
                "Credential \(id.rawValue) of \(name), \(expiresAt.map { "good until \(Table.date($0))" } ?? "good until it is revoked"). It is not shown again:"
            )
            // Alone on standard output, so that a script can capture it.
            print(credential.text)
        }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a credential, and close the connections that it opened.")

        @Argument(help: "The credential's number, as `tidemark admin credentials list NAME` shows it.") var id: Int64
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let id = CredentialID(id)
            guard try database.withAdminStore({ try await $0.revokeCredential(id) }) else {
                throw CommandError(
                    "There is no credential \(id.rawValue), or it has already been revoked. See: tidemark admin credentials list NAME"
                )
            }
            print("Revoked \(id.rawValue).")
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List an account's credentials.")

        @Argument(help: "The account's name.") var name: String
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let name = name
            let credentials = try database.withAdminStore { store in
                try await store.credentials(of: try await AccountName.find(name, in: store))
            }
            Table.print(
                ["CREDENTIAL", "LABEL", "ISSUED", "EXPIRES", "REVOKED"],
                credentials.map { credential in
                    [
                        "\(credential.id.rawValue)", credential.label, Table.date(credential.createdAt),
                        credential.expiresAt.map(Table.date) ?? "never", credential.revokedAt.map(Table.date) ?? "no",
                    ]
                })
        }
    }
}
