// SPDX-License-Identifier: Apache-2.0

/// The data of a share that a save sends beside its fields, as it was at one moment (R-307 … R-311).
struct ShareTerms: Sendable, Equatable {
    var publicPermission: CKShare.ParticipantPermission
    /// All but the owner.
    var participants: [ParticipantTerms]
    var access = AccessRequestsTerms()

    func has(_ participant: CKShare.Participant) -> Bool { terms(of: participant) != nil }

    func terms(of participant: CKShare.Participant) -> ParticipantTerms? {
        participants.first {
            $0.id == participant.participantID || $0.identity.isSamePerson(as: participant.userIdentity)
        }
    }
}

/// One participant of ``ShareTerms``. Two are equal if their ID and all that an app can set are equal.
struct ParticipantTerms: Sendable, Equatable {
    let id: CKShare.Participant.ID
    let identity: CKUserIdentity
    let status: CKShare.ParticipantAcceptanceStatus
    let invitation: ParticipantInvitation
    var role: CKShare.ParticipantRole
    var permission: CKShare.ParticipantPermission

    static func == (left: Self, right: Self) -> Bool {
        left.id == right.id && left.role == right.role && left.permission == right.permission
    }

    /// A new object, which belongs to that share.
    func participant(of shareID: CKRecord.ID) -> CKShare.Participant {
        let participant = CKShare.Participant(
            identity, role: role, permission: permission, acceptanceStatus: status, id: id, invitation)
        participant.join(shareID)
        return participant
    }
}

/// The data of a share that one save sends.
struct ShareEdit: Sendable {
    let terms: ShareTerms
    /// Whether the terms differ from the server's. Otherwise the save is about the fields alone.
    let isChange: Bool
    /// Whether the server took requests for access, as far as is known.
    var allowedRequests = false
    /// The root's name, if the share is of a hierarchy.
    var rootName: String?
}
