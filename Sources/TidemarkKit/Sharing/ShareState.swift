// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// What can change in a share besides its fields, under the share's lock.
struct ShareState {
    /// the most participants, with the owner. A share with more cannot be saved.
    static let participantCountMax = 100

    var publicPermission = CKShare.ParticipantPermission.none
    var owner: CKShare.Participant
    var others: [CKShare.Participant] = []

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
        }
    }

    mutating func remove(_ participant: CKShare.Participant) {
        others.removeAll(where: participant.isSamePerson)
    }

    /// What the app did that no share may have; nil if nothing.
    func mistake(in shareID: CKRecord.ID) -> CKError? {
        if others.contains(where: { $0.shareID != shareID }) {
            return CKError(
                .invalidArguments,
                message: "A participant belongs to another share. Look the person up again for this one.")
        }
        let isPublic = publicPermission == .readOnly || publicPermission == .readWrite
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

    /// A copy with its own participants.
    var copied: ShareState {
        var copy = self
        copy.owner = owner.copied
        copy.others = others.map(\.copied)
        return copy
    }

    // MARK: Archives

    /// The state in an archive; where it has none, that of a new share of the user.
    init(coder: NSCoder, ownerName: String) {
        self.init(ownerName: ownerName)
        if let number = coder.optionalInt64(forKey: "PublicPermission").flatMap({ Int(exactly: $0) }) {
            publicPermission = CKShare.ParticipantPermission(rawValue: number) ?? .unknown
        }
        owner = coder.optionalObject(of: CKShare.Participant.self, forKey: "Owner") ?? owner
        if coder.containsValue(forKey: "Participants") {
            let classes: [AnyClass] = [NSArray.self, CKShare.Participant.self]
            others = coder.decodeObject(of: classes, forKey: "Participants") as? [CKShare.Participant] ?? []
        }
    }

    func encode(with coder: NSCoder) {
        coder.encode(Int64(publicPermission.rawValue), forKey: "PublicPermission")
        coder.encode(owner, forKey: "Owner")
        coder.encode(NSArray(array: others), forKey: "Participants")
    }
}
