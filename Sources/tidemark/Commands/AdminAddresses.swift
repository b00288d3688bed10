// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

extension AdminAccounts {
    struct AddAddress: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add-address",
            abstract: "Record that an address is the account's, so that others can invite it.",
            discussion: """
                Verify first that the address belongs to the person: whoever has it here can accept what others share with \
                it. An address is one account's alone.
                """)

        @Argument(help: "The account's name.") var name: String
        @Argument(help: "An e-mail address, or a telephone number such as +3545550100.") var address: AddressArgument
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let (name, address) = (name, address.value)
            let isAdded = try database.withAdminStore { store in
                try await store.addAddress(
                    address.text, kind: address.kind, to: try await AccountName.find(name, in: store))
            }
            guard isAdded else {
                throw CommandError(
                    "\(address.text) belongs to another account. Remove it there first: tidemark admin accounts "
                        + "remove-address")
            }
            print("\(address.text) is \(name)'s.")
        }
    }

    struct RemoveAddress: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove-address", abstract: "Remove an address from an account.",
            discussion: "What the account has accepted stays. Invitations of the address wait for whoever has it next.")

        @Argument(help: "The account's name.") var name: String
        @Argument(help: "The address.") var address: AddressArgument
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let (name, address) = (name, address.value)
            let isRemoved = try database.withAdminStore { store in
                try await store.removeAddress(address.text, of: try await AccountName.find(name, in: store))
            }
            guard isRemoved else {
                throw CommandError(
                    "\(address.text) is no address of \(name). See: tidemark admin accounts addresses \(name)")
            }
            print("\(address.text) is not \(name)'s any more.")
        }
    }

    struct Addresses: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List an account's addresses.")

        @Argument(help: "The account's name.") var name: String
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let name = name
            let addresses = try database.withAdminStore { store in
                try await store.addresses(of: try await AccountName.find(name, in: store))
            }
            Table.print(
                ["ADDRESS", "VERIFIED"], addresses.map { [$0.text, Table.date($0.verifiedAt)] })
        }
    }
}

/// An address on a command line, in its normal form.
struct AddressArgument: ExpressibleByArgument {
    let value: PersonAddress

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
