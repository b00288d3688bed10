// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The parts of a share that can change besides its fields, under the share's lock.
struct ShareState {
    /// the most participants, with the owner. A share with more cannot be saved.
    static let participantCountMax = 100

    /// The name of the record that is shared together with everything below it; nil for a whole zone.
    var rootName: String?
    var publicPermission = CKShare.ParticipantPermission.none
    var owner: CKShare.Participant
    var others: [CKShare.Participant] = []
    var access = AccessRequestsState()
    /// Nil until the share is saved.
    var url: URL?
    /// The server's terms, as far as they were fetched or saved; nil for a new share.
    var original: ShareTerms?
    /// Whether the server has the share's record, but did not send its participants. Then this state must not be saved: it would remove
    /// everybody.
    var isUnknown = false

    /// A new share of that user.
    init(ownerName: String) {
        let identity = CKUserIdentity(userRecordID: CKRecord.ID(recordName: ownerName), hasiCloudAccount: true)
        owner = CKShare.Participant(identity, role: .owner, permission: .readWrite, acceptanceStatus: .accepted)
    }

    /// also removes participants.
    mutating func setPublicPermission(_ permission: CKShare.ParticipantPermission) {
        guard permission != publicPermission else { return }
        publicPermission = permission
        switch permission {
        case .readOnly, .readWrite: others.removeAll { $0.acceptanceStatus != .accepted }
        case .none: others = []
        case .unknown: break
        }
    }

    /// adds a participant, or changes one who takes part already.
    mutating func add(_ participant: CKShare.Participant, to shareID: CKRecord.ID) {
        guard !participant.isSamePerson(as: owner) else { return }
        if let known = others.first(where: participant.isSamePerson) {
            if known !== participant { known.update(from: participant) }
        } else {
            participant.join(shareID)
            others.append(participant)
            access.invited(participant)
        }
    }

    /// a blocked person takes no part.
    mutating func block(_ people: [CKShare.AccessRequester]) {
        access.block(people)
        let users = Set(people.compactMap(\.userIdentity.userRecordID))
        others.removeAll { $0.userIdentity.userRecordID.map(users.contains) ?? false }
    }

    /// the objects may then be added to another share. A person who is not in the share does not change.
    mutating func remove(_ participant: CKShare.Participant, from shareID: CKRecord.ID) {
        for removed in others.filter(participant.isSamePerson) + [participant] { removed.leave(shareID) }
        others.removeAll(where: participant.isSamePerson)
    }

    /// Whether everybody with the URL may join.
    private var isPublic: Bool { publicPermission == .readOnly || publicPermission == .readWrite }

    /// A state that no share may have, made by the app; nil if there is none.
    func mistake(in shareID: CKRecord.ID) -> CKError? {
        if isUnknown {
            return CKError(
                .invalidArguments,
                message: "It is not known who takes part in this share. Fetch its record again, and save that.")
        }
        if others.contains(where: { $0.shareID != shareID }) {
            return CKError(
                .invalidArguments,
                message: "A participant belongs to another share. Look the person up again for this one.")
        }
        if isPublic, others.contains(where: { $0.acceptanceStatus != .accepted }) {
            return CKError(
                .invalidArguments,
                message: "Nobody can be invited to a public share. Set publicPermission to .none first.")
        }
        guard others.count < Self.participantCountMax else {
            return CKError(
                .tooManyParticipants,
                message: "A share has at most \(Self.participantCountMax) participants. Remove some of them.")
        }
        return nil
    }

    // MARK: Saving

    var terms: ShareTerms {
        ShareTerms(publicPermission: publicPermission, participants: others.map(\.terms), access: access.terms)
    }

    /// The data that a save sends.
    var edit: ShareEdit {
        let terms = terms
        return ShareEdit(
            terms: terms, isChange: !isUnknown && terms != original,
            allowedRequests: original?.access.isAllowed ?? false, rootName: rootName)
    }

    /// The server has saved the data that was sent.
    mutating func saved(_ edit: ShareEdit) {
        original = edit.terms
        original?.access.answers = AccessAnswersEdit()
        access.saved(edit.terms.access.answers)
    }

    /// Takes over the server's share, except for changes made here since `before`. The app's objects of people who are
    /// still in it stay the same objects.
    ///
    /// If the public permission was changed here, that removes participants of the server's share, too.
    mutating func follow(_ server: ShareState, after before: ShareTerms) {
        let (mine, owner) = (self, self.owner)
        self = server
        rootName = server.rootName ?? mine.rootName
        self.owner = owner
        owner.follow(server.owner, after: owner.terms)
        access = mine.access
        access.follow(server.access, after: before.access)
        let isPermissionMine = mine.publicPermission != before.publicPermission
        if isPermissionMine { setPublicPermission(mine.publicPermission) }
        // A person who was removed here stays removed. Others whom only the server has were added elsewhere.
        others.removeAll { person in !mine.others.contains(where: person.isSamePerson) && before.has(person) }
        // Setting the permission to none has removed everybody here. So all who are here now were added afterwards.
        let areAllAdded = isPermissionMine && mine.publicPermission == .none
        for person in mine.others {
            let earlier = before.terms(of: person)
            if let place = others.firstIndex(where: person.isSamePerson) {
                person.follow(others[place], after: earlier)
                others[place] = person
            } else if earlier == nil || areAllAdded {
                others.append(person)
            }
        }
    }

    /// Takes over the server's share for another save of the changes that were made here since `before`.
    ///
    /// If somebody else has made the share public in between, that ends invitations, so invitations made here are dropped. A person
    /// who was removed here stays removed. A save of that fails, and the app gets the error.
    mutating func rebase(onto server: ShareState, after before: ShareTerms) {
        let isPermissionMine = publicPermission != before.publicPermission
        follow(server, after: before)
        guard !isPermissionMine, isPublic, publicPermission != before.publicPermission else { return }
        others.removeAll { $0.acceptanceStatus != .accepted }
    }

    /// The share as the server has it.
    func ancestor(of shareID: CKRecord.ID) -> ShareState {
        var copy = copied
        if let original {
            copy.publicPermission = original.publicPermission
            copy.others = original.participants.map { $0.participant(of: shareID) }
            copy.access.isAllowed = original.access.isAllowed
            copy.access.saved(access.answers)
        }
        return copy
    }

    /// A copy with its own participants.
    var copied: ShareState {
        var copy = self
        copy.owner = owner.copied
        copy.others = others.map(\.copied)
        return copy
    }

    // MARK: Archives

    /// Whether participants are being written to an archive.
    ///
    /// NB: an archiver on Linux writes equal objects once. One person may be in several shares of an archive with several
    /// permissions, so there participants are equal by their names alone.
    @TaskLocal static var isArchiving = false

    /// The state in an archive; where it has none, that of a new share of the user.
    ///
    /// - Parameter isSaved: whether the archive is of a share that was fetched or saved.
    init(coder: NSCoder, ownerName: String, isSaved: Bool) {
        self.init(ownerName: ownerName)
        rootName = coder.optionalString(forKey: "Root")
        if let number = coder.optionalInt64(forKey: "PublicPermission").flatMap({ Int(exactly: $0) }) {
            publicPermission = CKShare.ParticipantPermission(rawValue: number) ?? .unknown
        }
        owner = coder.optionalObject(of: CKShare.Participant.self, forKey: "Owner") ?? owner
        if coder.containsValue(forKey: "Participants") {
            others = Self.participants(coder, "Participants")
        } else {
            isUnknown = isSaved
        }
        url = coder.optionalString(forKey: "URL").flatMap { URL(string: $0) }
        access = AccessRequestsState(coder: coder)
        guard isSaved else { return }
        original = terms
        original?.access.answers = AccessAnswersEdit()
        // Only shares that were changed since have these.
        guard let number = coder.optionalInt64(forKey: "OriginalPermission").flatMap({ Int(exactly: $0) }),
            coder.containsValue(forKey: "OriginalParticipants")
        else { return }
        let allowed =
            coder.containsValue(forKey: "OriginalAllowsRequests") && coder.decodeBool(forKey: "OriginalAllowsRequests")
        original = ShareTerms(
            publicPermission: CKShare.ParticipantPermission(rawValue: number) ?? .unknown,
            participants: Self.originalTerms(coder), access: AccessRequestsTerms(isAllowed: allowed))
    }

    private static func originalTerms(_ coder: NSCoder) -> [ParticipantTerms] {
        let people = participants(coder, "OriginalParticipants")
        let (roles, permissions) = (numbers(coder, "OriginalRoles"), numbers(coder, "OriginalPermissions"))
        return people.enumerated().map { index, person in
            var terms = person.terms
            if roles.indices.contains(index) {
                terms.role = CKShare.ParticipantRole(rawValue: roles[index]) ?? .unknown
            }
            if permissions.indices.contains(index) {
                terms.permission = CKShare.ParticipantPermission(rawValue: permissions[index]) ?? .unknown
            }
            return terms
        }
    }

    private static func numbers(_ numbers: [Int]) -> NSArray { NSArray(array: numbers.map { NSNumber(value: $0) }) }

    private static func numbers(_ coder: NSCoder, _ key: String) -> [Int] {
        let classes: [AnyClass] = [NSArray.self, NSNumber.self]
        return (coder.decodeObject(of: classes, forKey: key) as? [NSNumber] ?? []).map(\.intValue)
    }

    private static func participants(_ coder: NSCoder, _ key: String) -> [CKShare.Participant] {
        let classes: [AnyClass] = [NSArray.self, CKShare.Participant.self]
        return coder.decodeObject(of: classes, forKey: key) as? [CKShare.Participant] ?? []
    }

    func encode(with coder: NSCoder, of shareID: CKRecord.ID) {
        Self.$isArchiving.withValue(true) { write(to: coder, of: shareID) }
    }

    private func write(to coder: NSCoder, of shareID: CKRecord.ID) {
        if let rootName { coder.encode(string: rootName, forKey: "Root") }
        coder.encode(Int64(publicPermission.rawValue), forKey: "PublicPermission")
        coder.encode(owner, forKey: "Owner")
        if !isUnknown { coder.encode(NSArray(array: others), forKey: "Participants") }
        coder.encode(string: url?.absoluteString, forKey: "URL")
        access.encode(with: coder)
        guard let original, original != terms else { return }
        coder.encode(Int64(original.publicPermission.rawValue), forKey: "OriginalPermission")
        if original.access.isAllowed { coder.encode(true, forKey: "OriginalAllowsRequests") }
        let participants = original.participants.map { $0.participant(of: shareID) }
        coder.encode(NSArray(array: participants), forKey: "OriginalParticipants")
        // NB: an archiver writes equal objects once, and people are equal whatever they may do.
        coder.encode(Self.numbers(original.participants.map(\.role.rawValue)), forKey: "OriginalRoles")
        coder.encode(Self.numbers(original.participants.map(\.permission.rawValue)), forKey: "OriginalPermissions")
    }
}
