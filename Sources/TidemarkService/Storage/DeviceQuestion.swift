// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// An operator asks all servers to write down now what they know of devices.
package struct DeviceQuestion: Sendable, Hashable {
    /// Tells it from other questions: random bits.
    package let number: UInt64
    /// The question is about all devices of this account. Nil: about the connected devices of all accounts.
    package let account: AccountID?

    package init(number: UInt64, account: AccountID?) {
        self.number = number
        self.account = account
    }
}

/// A server has written down what it knew when the question came.
package struct DeviceAnswer: Sendable, Hashable {
    /// The question's number.
    package let question: UInt64
    /// As operators know the server: its host and process.
    package let server: String
    /// When the server began, by its clock. A connection that is older was another process's of the same name.
    package let serverSince: Timestamp

    package init(question: UInt64, server: String, serverSince: Timestamp) {
        self.question = question
        self.server = server
        self.serverSince = serverSince
    }
}
