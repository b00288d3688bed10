// SPDX-License-Identifier: Apache-2.0

/// Who gives a command over a server's channel. What each may do has nothing in common with the other's.
package enum ChannelSender: Sendable, Equatable {
    /// Gives commands within the role.
    case `operator`(SignedInOperator)
    /// Gives the commands of records of `cktool`, and no others.
    case user(SignedInAccount)
}

/// An account that has shown one of its valid credentials without being a device.
package struct SignedInAccount: Sendable, Equatable {
    package let account: AccountID
    package let credential: CredentialID
    /// Whoever acts for the account looks it up again, in the container of the command.
    package let credentialHash: [UInt8]

    package init(account: AccountID, credential: CredentialID, credentialHash: [UInt8]) {
        self.account = account
        self.credential = credential
        self.credentialHash = credentialHash
    }
}
