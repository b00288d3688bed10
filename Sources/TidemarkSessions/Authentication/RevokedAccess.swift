// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// Credentials and devices whose connections are to be closed.
struct RevokedAccess: Sendable {
    var credentials: Set<CredentialID> = []
    ///
    var devices: Set<AccountDevice> = []

    var isEmpty: Bool { credentials.isEmpty && devices.isEmpty }

    func includes(_ member: SessionMember) -> Bool {
        guard let identity = member.identity else { return false }
        return credentials.contains(identity.credential)
            || devices.contains(AccountDevice(account: identity.account, device: member.device))
    }
}
