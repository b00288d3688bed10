// SPDX-License-Identifier: Apache-2.0

/// Why a ``TestCloud`` could not do what a test asked for.
public struct TestCloudError: Error, Equatable, CustomStringConvertible {
    /// The kind of the error.
    public enum Code: String, Sendable {
        /// The account has no such zone in its private database, or was never used.
        case zoneUnknown
        /// Devices go on for ever without anything from outside: for example two apps that undo each other's changes.
        case neverSettles
        /// The condition of a test did not become true in time.
        case notInTime
    }

    /// The kind of the error.
    public let code: Code
    /// The details, for readers of the test's output.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    static let neverSettles = TestCloudError(
        .neverSettles,
        "The devices do not come to rest. They have gone on for thousands of pauses. Do two apps undo each other's "
            + "changes?")
}
