// SPDX-License-Identifier: Apache-2.0

/// The sender of a command over a server's channel. The rights of one have nothing in common with those of the other.
package enum ChannelSender: Sendable, Equatable {
    /// Gives commands within the role.
    case `operator`(SignedInOperator)
    /// May give the `cktool` commands for records, and no others.
    case user(SignedInAccount)
}

/// An account that has shown one of its valid credentials without being a device.
package struct SignedInAccount: Sendable, Equatable {
    package let account: AccountID
    package let credential: CredentialID
    /// Code that acts for the account looks it up again, in the container of the command.
    package let credentialHash: [UInt8]

    package init(account: AccountID, credential: CredentialID, credentialHash: [UInt8]) {
        self.account = account
        self.credential = credential
        self.credentialHash = credentialHash
    }
}
