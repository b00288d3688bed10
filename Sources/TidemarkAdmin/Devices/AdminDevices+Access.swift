// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkStore

/// A device on a command line, as `devices list` shows it.
struct DeviceArgument: ExpressibleByArgument, CustomStringConvertible, Sendable {
    let id: DeviceID

    init?(argument: String) {
        let digits = argument.filter { $0 != "-" }.lowercased()
        guard let bytes = Hex.decode(digits), let id = DeviceID(bytes: bytes) else { return nil }
        self.id = id
    }

    var description: String { Hex.encode(id.bytes) }
}

extension AdminDevices {
    struct Revoke: AdminCommand {
        static let configuration = CommandConfiguration(
            "revoke", abstract: "Stop a device from signing in, and close its sessions.",
            discussion: """
                Servers refuse it with whichever credential of the account. Whoever has the device can make it another \
                device: if it was lost, revoke its credential too. Delete the device from the list to let it in again.
                """,
            examples: "tidemark admin devices revoke alice 5d1f4e8a9b3c4d2e8f7a6b5c4d3e2f1a")
        static let role = OperatorRole.editor

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "The device, as devices list shows it.") var device: DeviceArgument
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let revoked = AccountDevice(account: try await console.account(account), device: device.id)
            switch try await console.store.standing(of: revoked) {
            case .missing: throw AdminFailure.noDevice(device, of: account)
            case .revoked where console.isDryRun: return console.say("\(device) was revoked already.")
            case .listed, .revoked: break
            }
            try console.plan("revoke the device \(device) of \(account)")
            switch try await console.store.revokeDevice(revoked) {
            case .done: console.say("Revoked \(device).")
            case .unchanged: console.say("\(device) was revoked already.")
            case .missing: throw AdminFailure.noDevice(device, of: account)
            }
        }
    }

    struct Delete: AdminCommand {
        static let configuration = CommandConfiguration(
            "delete", abstract: "Remove a device from the list.",
            discussion: """
                Nothing of its data is deleted. If it connects again, it is listed again, also if it was revoked.
                """,
            examples: "tidemark admin devices delete alice 5d1f4e8a9b3c4d2e8f7a6b5c4d3e2f1a")
        static let role = OperatorRole.editor

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "The device, as devices list shows it.") var device: DeviceArgument
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let forgotten = AccountDevice(account: try await console.account(account), device: device.id)
            guard try await console.store.standing(of: forgotten) != .missing else {
                throw AdminFailure.noDevice(device, of: account)
            }
            try console.plan("remove the device \(device) of \(account) from the list")
            guard try await console.store.forgetDevice(forgotten) == .done else {
                throw AdminFailure.noDevice(device, of: account)
            }
            console.say("Removed \(device).")
        }
    }
}

extension AdminFailure {
    static func noDevice(_ device: DeviceArgument, of account: String) -> AdminFailure {
        AdminFailure(.refused, "\(account) has no device \(device). See: tidemark admin devices list \(account)")
    }
}
