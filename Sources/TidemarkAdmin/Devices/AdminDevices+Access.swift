// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkStore

/// A device on a command line, as `devices list` shows it, or its first digits, as `xray` does.
struct DeviceArgument: ExpressibleByArgument, CustomStringConvertible, Sendable {
    /// Hexadecimal, in lower case.
    private let digits: String

    /// As many as `xray` shows.
    private static let digitsMin = 8
    private static let digitsMax = 32

    init?(argument: String) {
        digits = argument.filter { $0 != "-" }.lowercased()
        guard (Self.digitsMin...Self.digitsMax).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ Self.hexDigits.contains($0) })
        else { return nil }
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)

    var description: String { digits }

    /// Nil if these are only its first digits.
    var id: DeviceID? { Hex.decode(digits).flatMap { DeviceID(bytes: $0) } }

    /// Finds the device in the account's list, unless it is whole.
    ///
    /// - Throws: ``AdminFailure`` if there is no such device, or several.
    func find(of account: AccountID, named name: String, _ console: Console) async throws -> DeviceID {
        if let id { return id }
        let found = try await console.store.devices(of: account).map(\.id).filter {
            Hex.encode($0.bytes).hasPrefix(digits)
        }
        guard let id = found.first else { throw AdminFailure.noDevice(self, of: name) }
        guard found.count == 1 else {
            throw AdminFailure(
                .refused,
                "\(name) has \(found.count) devices whose digits begin with \(digits). Give more of them. See: tidemark admin "
                    + "devices list \(name)")
        }
        return id
    }
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
        @Argument(help: "The device, as devices list or xray shows it.") var device: DeviceArgument
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let id = try await console.account(account)
            let found = try await self.device.find(of: id, named: account, console)
            let (revoked, device) = (AccountDevice(account: id, device: found), Hex.encode(found.bytes))
            switch try await console.store.standing(of: revoked) {
            case .missing: throw AdminFailure.noDevice(self.device, of: account)
            case .revoked where console.isDryRun: return console.say("\(device) was revoked already.")
            case .listed, .revoked: break
            }
            try console.plan("revoke the device \(device) of \(account)")
            switch try await console.store.revokeDevice(revoked) {
            case .done: console.say("Revoked \(device).")
            case .unchanged: console.say("\(device) was revoked already.")
            case .missing: throw AdminFailure.noDevice(self.device, of: account)
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
        @Argument(help: "The device, as devices list or xray shows it.") var device: DeviceArgument
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let id = try await console.account(account)
            let found = try await self.device.find(of: id, named: account, console)
            let (forgotten, device) = (AccountDevice(account: id, device: found), Hex.encode(found.bytes))
            guard try await console.store.standing(of: forgotten) != .missing else {
                throw AdminFailure.noDevice(self.device, of: account)
            }
            try console.plan("remove the device \(device) of \(account) from the list")
            guard try await console.store.forgetDevice(forgotten) == .done else {
                throw AdminFailure.noDevice(self.device, of: account)
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
