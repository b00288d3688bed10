// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkServer
internal import TidemarkStore

struct AdminCredentials: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credentials", abstract: "Credentials: the secrets with which an account's devices sign in.",
        subcommands: [List.self, Create.self, Revoke.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List an account's credentials.", examples: "tidemark admin credentials list alice")
        static let role = OperatorRole.viewer

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let credentials = try await console.store.credentials(of: try await console.account(account))
            try await console.show(
                credentials,
                as: [
                    Column("CREDENTIAL", key: "credential", isName: true) { .number(Int($0.id.rawValue)) },
                    Column("LABEL", key: "label") { .text($0.label) },
                    Column("CREATED", key: "created") { .date($0.createdAt) },
                    Column("EXPIRES", key: "expires") { .optional($0.expiresAt) },
                    Column("REVOKED", key: "revoked") { .optional($0.revokedAt) },
                ])
        }
    }

    struct Create: AdminCommand {
        static let configuration = CommandConfiguration(
            "create", abstract: "Create a credential and show it, this once: only its hash is stored.",
            examples: "tidemark admin credentials create alice --label laptop --expires 30d",
            "TOKEN=$(tidemark admin credentials create alice -o name)")
        static let role = OperatorRole.editor

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @OptionGroup var credential: NewCredentialOptions
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let id = try await console.account(account)
            try console.plan("create a credential of \(account)")
            let made = NewCredential(credential, now: console.now)
            let number = try await console.store.issueCredential(
                hash: made.credential.hash, label: made.label, expiresAt: made.expiresAt, for: id)
            try await made.show(number: number.rawValue, of: account, console)
        }
    }

    struct Revoke: AdminCommand {
        static let configuration = CommandConfiguration(
            "revoke", abstract: "Revoke a credential, and close the connections that it opened.",
            examples: "tidemark admin credentials revoke 7")
        static let role = OperatorRole.editor

        @Argument(help: "The credential's number, as `tidemark admin credentials list NAME` shows it.") var id: Int64
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let isGone = AdminFailure(
                .refused,
                "There is no credential \(id), or it has already been revoked. See: tidemark admin credentials list NAME"
            )
            guard try await console.store.canRevoke(CredentialID(id)) else { throw isGone }
            try console.plan("revoke the credential \(id)")
            guard try await console.store.revokeCredential(CredentialID(id)) else { throw isGone }
            console.say("Revoked \(id).")
        }
    }
}
