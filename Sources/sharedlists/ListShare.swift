// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// Who takes part in a list, as the store keeps it: to show it, the server need not be asked.
struct ListShare: Sendable {
    /// A person, as the others see them.
    struct Member: Codable, Equatable, Sendable {
        let name: String
        let isOwner: Bool
        let hasJoined: Bool
        let mayWrite: Bool
        let isMe: Bool
    }

    let id: CKRecord.ID
    let link: String?
    let members: [Member]

    /// Whether this account may change what is in the list.
    var mayWrite: Bool { members.contains { $0.isMe && $0.mayWrite } }
}

extension ListShare {
    init(_ share: CKShare) {
        id = share.recordID
        link = share.url?.absoluteString
        let me = share.currentUserParticipant
        members = share.participants.map { person in
            Member(
                name: person.shownName, isOwner: person.role == .owner, hasJoined: person.acceptanceStatus == .accepted,
                mayWrite: person.permission == .readWrite, isMe: person == me)
        }
    }
}

extension CKShare.Participant {
    /// All by which a command can name the person.
    var names: [String] {
        [
            userIdentity.lookupInfo?.emailAddress, userIdentity.lookupInfo?.phoneNumber,
            userIdentity.userRecordID?.recordName, participantID,
        ].compactMap { $0 }.filter { !$0.isEmpty && $0 != CKCurrentUserDefaultName }
    }

    fileprivate var shownName: String {
        let name = userIdentity.nameComponents
        let parts = [name?.givenName, name?.familyName].compactMap { $0 }
        return parts.isEmpty ? names.first ?? "?" : parts.joined(separator: " ")
    }
}
