// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkStore

/// All that the store knows of an account's sync at one moment.
struct XrayPicture: Sendable, Equatable {
    /// The subscriptions of an account in one container.
    struct Subscribed: Sendable, Equatable {
        let container: ContainerKey
        let subscription: Subscription
    }

    var account = AccountFacts()
    /// Those that were seen last first.
    var devices: [DeviceFacts] = []
    var subscriptions: [Subscribed] = []

    /// - Parameter servers: those that have just been asked.
    static func take(of account: AccountID, _ servers: ServerRoll, _ console: Console) async throws -> XrayPicture {
        var picture = XrayPicture()
        picture.account = try await console.store.accountFacts(of: account)
        picture.devices = try await console.store.deviceFacts(of: account).map { device in
            var device = device
            device.isServerGone = device.progress?.link.map { servers.standing(of: $0) == .gone } ?? false
            return device
        }
        for user in try await console.store.users(of: account) {
            picture.subscriptions += try await console.storage.subscriptions(of: user.user, withFired: false).map {
                Subscribed(container: user.container, subscription: $0)
            }
        }
        return picture
    }
}

extension XrayPicture {
    /// What to say about the servers of the account's open connections.
    func remarks(on servers: ServerRoll) -> ServerRemarks {
        var remarks = ServerRemarks(servers)
        for device in devices {
            guard let link = device.progress?.link, link.endedAt == nil, let notedAt = device.notedAt else { continue }
            _ = remarks.add(link, notedAt: notedAt)
        }
        return remarks
    }
}

/// One reason, with the device that it is about.
struct XrayFinding: Sendable {
    /// Nil: the whole account.
    let device: DeviceFacts?
    let finding: SyncFinding
}

extension XrayPicture {
    /// Why sync is stuck, the account's reasons first.
    func findings(at now: Timestamp) -> [XrayFinding] {
        var findings = account.findings(at: now).map { XrayFinding(device: nil, finding: $0) }
        for device in devices {
            findings += device.findings(in: account, at: now).map { XrayFinding(device: device, finding: $0) }
        }
        return findings
    }
}

/// A feed of one device.
struct XrayPlace: Sendable {
    let device: DeviceFacts
    let place: PlaceFacts
}

/// A request of one device.
struct XrayRequest: Sendable {
    let device: DeviceFacts
    let request: RequestSummary
}
