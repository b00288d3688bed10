// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkServer
internal import TidemarkStore

struct AdminIdentities: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "identities", abstract: "Who signs in to which account with tokens of an identity provider.",
        subcommands: [List.self, Create.self, Delete.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List an account's identities.", examples: "tidemark admin identities list alice")
        static let role = OperatorRole.viewer

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let identities = try await console.store.identities(of: try await console.account(account))
            try await console.show(
                identities,
                as: [
                    Column("ISSUER", key: "issuer") { .text($0.issuer) },
                    Column("SUBJECT", key: "subject", isName: true) { .text($0.subject) },
                    Column("CREATED", key: "created") { .date($0.createdAt) },
                    Column("CREDENTIAL", key: "credential") { .number(Int($0.credential.rawValue)) },
                    Column("REVOKED", key: "revoked") { .optional($0.revokedAt) },
                ])
        }
    }

    struct Create: AdminCommand {
        static let configuration = CommandConfiguration(
            "create", abstract: "Let somebody sign in to an account with tokens of an identity provider.",
            discussion: """
                The provider must be in the file of serve --issuers. Issuer and subject are what its tokens have as iss and sub, \
                letter by letter. An identity belongs to one account.
                """,
            examples: "tidemark admin identities create alice --issuer https://login.example.org --subject 248289761001"
        )
        static let role = OperatorRole.editor

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @OptionGroup var identity: IdentityOptions
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let id = try await console.account(account)
            let outlook = try await console.store.outlook(ofLinking: identity.stored, to: id)
            if outlook == .done {
                try console.plan("let an identity of \(identity.issuer) sign in to \(account)")
                return try report(try await console.store.link(identity.stored, to: id), console)
            }
            try report(outlook, console)
        }

        private func report(_ link: AdminStore.IdentityLink, _ console: Console) throws(AdminFailure) {
            switch link {
            case .done: console.say("The identity signs in to \(account).")
            case .unchanged: console.say("The identity signed in to \(account) already.")
            case .revoked:
                throw AdminFailure(
                    .refused, "The identity is revoked. Remove it first: tidemark admin identities delete")
            case .belongsToAnother:
                throw AdminFailure(
                    .refused,
                    "The identity belongs to another account. Remove it there first: tidemark admin identities delete")
            }
        }
    }

    struct Delete: AdminCommand {
        static let configuration = CommandConfiguration(
            "delete", abstract: "Stop an identity from signing in to an account.",
            discussion: """
                Servers close its sessions at once. If its provider creates accounts (create-accounts in the file of \
                serve --issuers), the next sign-in creates a new one. To keep the person out, disable the account instead: \
                tidemark admin accounts disable
                """,
            examples: "tidemark admin identities delete alice --issuer https://login.example.org --subject 248289761001"
        )
        static let role = OperatorRole.editor

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @OptionGroup var identity: IdentityOptions
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let id = try await console.account(account)
            let isMissing = AdminFailure(
                .refused, "\(account) has no such identity. See: tidemark admin identities list \(account)")
            switch try await console.store.outlook(ofLinking: identity.stored, to: id) {
            case .done, .belongsToAnother: throw isMissing
            case .unchanged, .revoked: break
            }
            try console.plan("let an identity of \(identity.issuer) sign in to \(account) no more")
            let isDone = try await console.store.unlink(
                issuer: identity.issuer, subject: identity.subject, from: id)
            guard isDone else { throw isMissing }
            console.say("The identity signs in to \(account) no more.")
        }
    }
}

/// An identity of a provider on a command line. Options, so that the audit keeps no names of persons.
struct IdentityOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What the tokens have as iss.", valueName: "url")) var issuer: String
    @Option(help: ArgumentHelp("What the tokens have as sub.", valueName: "subject")) var subject: String

    func validate() throws {
        for (name, text, most) in [("--issuer", issuer, 2_048), ("--subject", subject, 255)] {
            let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
            guard isPlain, (1...most).contains(text.utf8.count) else {
                throw ValidationError("\(name) has 1 to \(most) bytes, and no control characters.")
            }
        }
    }

    var stored: StoredIdentity {
        StoredIdentity(
            issuer: issuer, subject: subject, key: IdentityKey.bytes(issuer: issuer, subject: subject))
    }
}
