// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// Credentials, devices and containers whose connections are to be closed.
struct RevokedAccess: Sendable {
    var credentials: Set<CredentialID> = []
    ///
    var devices: Set<AccountDevice> = []

    ///
    var containers: Set<ContainerID> = []

    var isEmpty: Bool { credentials.isEmpty && devices.isEmpty && containers.isEmpty }

    /// Why the connection of a member is closed; nil: it is not.
    ///
    /// - Parameter container: the member's, if it is known.
    func end(of member: SessionMember, in container: ContainerID?) -> SessionClose? {
        if let identity = member.identity {
            let device = AccountDevice(account: identity.account, device: member.device)
            if credentials.contains(identity.credential) || devices.contains(device) { return .notAuthenticated }
        }
        return container.map(containers.contains) == true ? .containerClosed : nil
    }
}
