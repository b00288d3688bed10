// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// The share to which a link leads, as far as one visitor may know it.
package struct ShareMetadata: Sendable {
    package let owner: ZoneOwner
    package let zone: ZoneState
    /// The CKShare record.
    package let record: RecordState
    package let share: ShownShare
    /// The root record of a hierarchy, if it was asked for.
    package var root: RecordState?
    /// The visitor's role, present or future.
    package let role: ParticipantRole
    package let status: ParticipantStatus
    package let permission: SharePermission

    package init(
        owner: ZoneOwner, zone: ZoneState, record: RecordState, share: ShownShare, role: ParticipantRole,
        status: ParticipantStatus, permission: SharePermission
    ) {
        self.owner = owner
        self.zone = zone
        self.record = record
        self.share = share
        self.role = role
        self.status = status
        self.permission = permission
    }

    /// Roughly how many bytes it takes in an answer.
    package var byteCount: Int { record.fields.byteCount + share.byteCount + (root?.fields.byteCount ?? 0) }
}

/// By what somebody looks up a person whom they want to invite.
package enum PersonLookup: Hashable, Sendable {
    /// A user's record name.
    case user(String)
    /// Nil: the text is not an address.
    case address(PersonAddress?)

    /// Whether it is an address that somebody may have.
    package var isAddress: Bool { if case .address(_?) = self { true } else { false } }
}
