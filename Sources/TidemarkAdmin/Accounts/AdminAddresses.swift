// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminAddresses: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "addresses", abstract: "Verified addresses of accounts, by which others invite them.",
        subcommands: [List.self, Create.self, Delete.self])

    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List an account's addresses.", examples: "tidemark admin addresses list alice")
        static let role = OperatorRole.viewer

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let addresses = try await console.store.addresses(of: try await console.account(account))
            try await console.show(
                addresses,
                as: [
                    Column("ADDRESS", key: "address", isName: true) { .text($0.text) },
                    Column("VERIFIED", key: "verified") { .date($0.verifiedAt) },
                ])
        }
    }

    struct Create: AdminCommand {
        static let configuration = CommandConfiguration(
            "create", abstract: "Record that an address is the account's, so that others can invite it.",
            discussion: """
                Verify first that the address belongs to the person: whoever has it here can accept what others share with \
                it. An address is one account's alone.
                """,
            examples: "tidemark admin addresses create alice alice@example.org")
        static let role = OperatorRole.editor

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "An e-mail address, or a telephone number such as +3545550100.") var address: AddressArgument
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let (id, address) = (try await console.account(account), address.value)
            let isAnothers = AdminFailure(
                .refused,
                "\(address.text) belongs to another account. Remove it there first: tidemark admin addresses delete")
            let owner = try await console.store.owner(ofAddress: address.text, kind: address.kind)
            guard owner == nil || owner == id else { throw isAnothers }
            try console.plan("record that \(address.text) is \(account)'s")
            guard try await console.store.addAddress(address.text, kind: address.kind, to: id) else { throw isAnothers }
            console.say("\(address.text) is \(account)'s.")
        }
    }

    struct Delete: AdminCommand {
        static let configuration = CommandConfiguration(
            "delete", abstract: "Remove an address from an account.",
            discussion: "What the account has accepted stays. Invitations of the address wait for whoever has it next.",
            examples: "tidemark admin addresses delete alice alice@example.org")
        static let role = OperatorRole.editor

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "The address.") var address: AddressArgument
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let (id, address) = (try await console.account(account), address.value)
            let isMissing = AdminFailure(
                .refused,
                "\(address.text) is no address of \(account). See: tidemark admin addresses list \(account)")
            guard try await console.store.owner(ofAddress: address.text, kind: address.kind) == id else {
                throw isMissing
            }
            try console.plan("remove \(address.text) from \(account)")
            guard try await console.store.removeAddress(address.text, of: id) else { throw isMissing }
            console.say("\(address.text) is not \(account)'s any more.")
        }
    }
}

/// An address on a command line, in its normal form.
struct AddressArgument: ExpressibleByArgument, PersonalArgument, Sendable {
    let value: PersonAddress

    var personalText: String { value.text }

    init?(argument: String) {
        guard let value = PersonAddress(email: argument) ?? PersonAddress(phone: argument) else { return nil }
        self.value = value
    }
}

extension PersonAddress {
    fileprivate var kind: AdminStore.AddressKind {
        switch self {
        case .email: .email
        case .phone: .phone
        }
    }
}
