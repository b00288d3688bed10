// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkWire

extension ShareState {
    /// A share as the server shows it to the current user.
    ///
    /// - Parameter ownerName: the owner if the server names none.
    init(_ wire: WireShare, of shareID: CKRecord.ID, ownerName: String, _ urls: ShareURLs) {
        self.init(ownerName: ownerName)
        rootName = wire.root.isEmpty ? nil : wire.root
        publicPermission = CKShare.ParticipantPermission(wire.publicPermission)
        for person in wire.participants {
            let participant = CKShare.Participant.make(person, urls)
            if person.role == .owner {
                owner = participant
            } else {
                participant.join(shareID)
                others.append(participant)
            }
        }
        url = urls.url(of: wire.link)
        access = AccessRequestsState(wire)
        original = terms
    }
}

extension CKShare.Participant {
    /// A participant as the server shows it. It belongs to no share yet.
    static func make(_ wire: WireParticipant, _ urls: ShareURLs) -> CKShare.Participant {
        CKShare.Participant(
            CKUserIdentity(wire), role: CKShare.ParticipantRole(wire.role),
            permission: CKShare.ParticipantPermission(wire.permission),
            acceptanceStatus: CKShare.ParticipantAcceptanceStatus(wire.status),
            id: (UUID(wire.id) ?? UUID()).uuidString, ParticipantInvitation(wire, urls))
    }

    /// Somebody who was looked up, and whom nobody has invited yet.
    static func make(_ wire: WireFoundPerson, for lookup: CKUserIdentity.LookupInfo) -> CKShare.Participant {
        CKShare.Participant(
            CKUserIdentity(
                userRecordID: lookup.userRecordID, lookupInfo: lookup, hasiCloudAccount: wire.hasAccount))
    }
}

extension ParticipantInvitation {
    fileprivate init(_ wire: WireParticipant, _ urls: ShareURLs) {
        self.init(
            isByLink: !wire.link.isEmpty, url: urls.url(of: wire.link),
            addedAt: wire.addedAt == 0 ? nil : Date(timeIntervalSince1970: Double(wire.addedAt) / 1000),
            isApprovedRequester: wire.isApprovedRequester)
    }
}

extension CKUserIdentity {
    /// A participant's identity, as far as the current user may know it.
    convenience init(_ wire: WireParticipant) {
        let user = wire.isCaller ? CKCurrentUserDefaultName : wire.user
        var lookup: LookupInfo?
        if !wire.email.isEmpty {
            lookup = LookupInfo(emailAddress: wire.email)
        } else if !wire.phone.isEmpty {
            lookup = LookupInfo(phoneNumber: wire.phone)
        }
        self.init(
            userRecordID: user.isEmpty ? nil : CKRecord.ID(recordName: user), lookupInfo: lookup,
            nameComponents: PersonNameComponents(wire), hasiCloudAccount: !user.isEmpty)
    }

    /// By what a server finds the person: one of the three. Nothing for the current user, whom the server knows.
    fileprivate var person: (user: String, email: String, phone: String) {
        if let name = (userRecordID ?? lookupInfo?.userRecordID)?.recordName {
            return (name == CKCurrentUserDefaultName ? "" : name, "", "")
        }
        if let email = lookupInfo?.emailAddress { return ("", email, "") }
        return ("", "", lookupInfo?.phoneNumber ?? "")
    }
}

extension PersonNameComponents {
    /// The parts that the server told; nil if it told none.
    fileprivate init?(_ wire: WireParticipant) {
        self.init(given: wire.givenName, family: wire.familyName)
    }

    /// Nil if both are empty.
    init?(given: String, family: String) {
        guard !given.isEmpty || !family.isEmpty else { return nil }
        self.init()
        givenName = given.isEmpty ? nil : given
        familyName = family.isEmpty ? nil : family
    }
}

extension WireParticipantLookup {
    init(_ lookup: CKUserIdentity.LookupInfo) {
        self.init()
        user = lookup.userRecordID?.recordName ?? ""
        email = lookup.emailAddress ?? ""
        phone = lookup.phoneNumber ?? ""
    }
}

extension WireShareSave {
    init(_ edit: ShareEdit) {
        self.init()
        guard edit.isChange else { return }
        root = edit.rootName ?? ""
        publicPermission = WireSharePermission(edit.terms.publicPermission)
        participants = edit.terms.participants.map(WireParticipantSave.init)
        setsParticipants = true
        let access = edit.terms.access
        // NB: a new share has no requests, and older servers do not know the field. So the usual value is not sent.
        if access.isAllowed != edit.allowedRequests {
            accessRequests = access.isAllowed ? .requestsAllowed : .requestsRefused
        }
        denied = access.answers.denied.sorted()
        blocked = access.answers.blocked.sorted()
        unblocked = access.answers.unblocked.sorted()
    }
}

extension WireParticipantSave {
    fileprivate init(_ participant: ParticipantTerms) {
        self.init()
        id = UUID(uuidString: participant.id)?.bytes ?? []
        (user, email, phone) = participant.identity.person
        byLink = participant.invitation.isByLink && user.isEmpty && email.isEmpty && phone.isEmpty
        role = WireParticipantRole(rawValue: Int32(participant.role.rawValue))
        permission = WireSharePermission(participant.permission)
    }
}

// MARK: Numbers, which are CloudKit's in the protocol too

extension WireSharePermission {
    fileprivate init(_ permission: CKShare.ParticipantPermission) {
        self.init(rawValue: Int32(permission.rawValue))
    }
}

extension CKShare.ParticipantPermission {
    /// `unknown` if this version does not know the number.
    init(_ wire: WireSharePermission) { self = Self(rawValue: Int(wire.rawValue)) ?? .unknown }
}

extension CKShare.ParticipantRole {
    /// `unknown` if this version does not know the number.
    init(_ wire: WireParticipantRole) { self = Self(rawValue: Int(wire.rawValue)) ?? .unknown }
}

extension CKShare.ParticipantAcceptanceStatus {
    /// `unknown` if this version does not know the number.
    init(_ wire: WireParticipantStatus) { self = Self(rawValue: Int(wire.rawValue)) ?? .unknown }
}

extension UUID {
    /// Nil unless there are 16 bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9],
                bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }

    var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }
}
