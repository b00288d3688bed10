// SPDX-License-Identifier: Apache-2.0

extension CKShare {
    /// Whether an invited person takes part.
    public enum ParticipantAcceptanceStatus: Int, Sendable {
        /// Unknown.
        case unknown = 0
        /// Invited, and has not answered.
        case pending = 1
        /// Takes part.
        case accepted = 2
        /// Took part once.
        case removed = 3
    }

    /// A participant's permission for the shared records.
    public enum ParticipantPermission: Int, Sendable {
        /// Unknown.
        case unknown = 0
        /// Nothing.
        case none = 1
        /// Read.
        case readOnly = 2
        /// Read and write.
        case readWrite = 3
    }

    /// The role of a person who takes part.
    public enum ParticipantRole: Int, Sendable {
        /// Unknown.
        case unknown = 0
        /// The owner of the records.
        case owner = 1
        /// May change participants, as the owner may.
        case administrator = 2
        /// Was invited.
        case privateUser = 3
        /// Had the URL of a public share.
        case publicUser = 4
    }

    /// The role of a person who takes part: the older form of `ParticipantRole`.
    @available(*, deprecated, message: "Use CKShare.ParticipantRole")
    public enum ParticipantType: Int, Sendable {
        /// Unknown.
        case unknown = 0
        /// The owner of the records.
        case owner = 1
        /// Was invited.
        case privateUser = 3
        /// Had the URL of a public share.
        case publicUser = 4
    }
}
