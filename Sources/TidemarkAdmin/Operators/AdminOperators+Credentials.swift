// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkServer
internal import TidemarkStore

extension AdminOperators {
    struct Credentials: AdminCommand {
        static let configuration = CommandConfiguration(
            "credentials", abstract: "List an operator's credentials.",
            examples: "tidemark admin operators credentials olga")
        static let role = OperatorRole.viewer

        @Argument(help: "The operator's name.") var name: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let id = try await console.operatorID(name)
            try await console.show(
                try await console.store.operatorCredentials(of: id),
                as: [
                    Column("CREDENTIAL", key: "credential", isName: true) { .number(Int($0.id.rawValue)) },
                    Column("LABEL", key: "label") { .text($0.label) },
                    Column("CREATED", key: "created") { .date($0.createdAt) },
                    Column("EXPIRES", key: "expires") { .optional($0.expiresAt) },
                    Column("REVOKED", key: "revoked") { .optional($0.revokedAt) },
                ])
        }
    }

    struct Issue: AdminCommand {
        static let configuration = CommandConfiguration(
            "issue", abstract: "Create a credential of an operator and show it, this once: only its hash is stored.",
            examples: "tidemark admin operators issue olga --label laptop --expires 90d",
            "tidemark admin operators issue olga -o name > operator.token")
        static let role = OperatorRole.owner

        @Argument(help: "The operator's name.") var name: String
        @OptionGroup var credential: NewCredentialOptions
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let id = try await console.operatorID(name)
            try console.plan("create a credential of the operator \(name)")
            let made = NewCredential(credential, now: console.now)
            let number = try await console.store.issueOperatorCredential(
                hash: made.credential.hash, label: made.label, expiresAt: made.expiresAt, for: id)
            try await made.show(number: number.rawValue, of: "the operator \(name)", console)
        }
    }

    struct Revoke: AdminCommand {
        static let configuration = CommandConfiguration(
            "revoke", abstract: "Revoke a credential of an operator. Its channels close within seconds.",
            examples: "tidemark admin operators revoke 3")
        static let role = OperatorRole.owner

        @Argument(help: "The credential's number, as `tidemark admin operators credentials NAME` shows it.")
        var id: Int64
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let isGone = AdminFailure(
                .refused,
                "There is no credential \(id) of an operator, or it has already been revoked. See: tidemark admin "
                    + "operators credentials NAME")
            guard try await console.store.canRevoke(OperatorCredentialID(id)) else { throw isGone }
            try console.plan("revoke the operator's credential \(id)")
            guard try await console.store.revokeOperatorCredential(OperatorCredentialID(id)) else { throw isGone }
            console.say("Revoked \(id).")
        }
    }
}
