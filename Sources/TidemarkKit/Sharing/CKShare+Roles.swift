// SPDX-License-Identifier: Apache-2.0

extension CKShare {
    /// Whether somebody who was invited takes part.
    public enum ParticipantAcceptanceStatus: Int, Sendable {
        /// Not known.
        case unknown = 0
        /// Invited, and has not answered.
        case pending = 1
        /// Takes part.
        case accepted = 2
        /// Took part once.
        case removed = 3
    }

    /// What somebody may do with what is shared.
    public enum ParticipantPermission: Int, Sendable {
        /// Not known.
        case unknown = 0
        /// Nothing.
        case none = 1
        /// Read.
        case readOnly = 2
        /// Read and write.
        case readWrite = 3
    }

    /// As what somebody takes part.
    public enum ParticipantRole: Int, Sendable {
        /// Not known.
        case unknown = 0
        /// Whose records they are.
        case owner = 1
        /// May change participants as the owner may.
        case administrator = 2
        /// Was invited.
        case privateUser = 3
        /// Had the URL of a public share.
        case publicUser = 4
    }

    /// As what somebody takes part: the older form of `ParticipantRole`.
    @available(*, deprecated, message: "Use CKShare.ParticipantRole")
    public enum ParticipantType: Int, Sendable {
        /// Not known.
        case unknown = 0
        /// Whose records they are.
        case owner = 1
        /// Was invited.
        case privateUser = 3
        /// Had the URL of a public share.
        case publicUser = 4
    }
}
