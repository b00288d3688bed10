// SPDX-License-Identifier: Apache-2.0

/// Why a ``TestCloud`` could not do what a test asked of it.
public struct TestCloudError: Error, Equatable, CustomStringConvertible {
    /// What went wrong.
    public enum Code: String, Sendable {
        /// The account has no such zone in its private database, or nothing was ever done with the account.
        case zoneUnknown
        /// Devices go on and on without anything from outside: two apps that undo each other's changes, for example.
        case neverSettles
        /// What a test waited for did not come about in time.
        case notInTime
    }

    /// What went wrong.
    public let code: Code
    /// What it is about, for whoever reads the test's output.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    static let neverSettles = TestCloudError(
        .neverSettles, "The devices do not come to rest: they have gone on for thousands of pauses.")
}
