// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkWire

/// A share's requests for access.
struct AccessRequestsState {
    var isAllowed = false
    var requesters: [CKShare.AccessRequester] = []
    var blocked: [CKShare.BlockedIdentity] = []
    /// The app's answers since the last save.
    private(set) var answers = AccessAnswersEdit()

    init() {}

    init(_ wire: WireShare) {
        isAllowed = wire.allowsAccessRequests
        requesters = wire.requesters.map { CKShare.AccessRequester(CKUserIdentity($0)) }
        blocked = wire.blocked.map { CKShare.BlockedIdentity(CKUserIdentity($0)) }
    }

    mutating func deny(_ people: [CKShare.AccessRequester]) {
        for person in people {
            requesters.removeAll { $0 == person }
            answers.deny(person.userName)
        }
    }

    mutating func block(_ people: [CKShare.AccessRequester]) {
        for person in people {
            requesters.removeAll { $0 == person }
            let identity = CKShare.BlockedIdentity(person.userIdentity)
            if !blocked.contains(identity) { blocked.append(identity) }
            answers.block(person.userName)
        }
    }

    mutating func unblock(_ people: [CKShare.BlockedIdentity]) {
        for person in people {
            blocked.removeAll { $0 == person }
            answers.unblock(person.userName)
        }
    }

    /// An invited person no longer waits for an answer.
    mutating func invited(_ person: CKShare.Participant) {
        let user = person.userIdentity.userRecordID
        guard let user else { return }
        requesters.removeAll { $0.userIdentity.userRecordID == user }
        blocked.removeAll { $0.userIdentity.userRecordID == user }
    }

    /// The server has saved the answers that were sent.
    mutating func saved(_ sent: AccessAnswersEdit) {
        answers.subtract(sent)
    }

    /// Takes over the server's state, except what was changed here since `before`.
    mutating func follow(_ server: AccessRequestsState, after before: AccessRequestsTerms) {
        let mine = self
        self = server
        if mine.isAllowed != before.isAllowed { isAllowed = mine.isAllowed }
        var later = mine.answers
        later.subtract(before.answers)
        answers = later
        // Here they are answered already.
        requesters.removeAll { later.denied.contains($0.userName) || later.blocked.contains($0.userName) }
        blocked.removeAll { later.unblocked.contains($0.userName) }
        blocked += mine.blocked.filter { later.blocked.contains($0.userName) && !blocked.contains($0) }
    }

    var terms: AccessRequestsTerms { AccessRequestsTerms(isAllowed: isAllowed, answers: answers) }

    // MARK: Archives

    /// The state in an archive. Older archives have none.
    init(coder: NSCoder) {
        isAllowed = coder.containsValue(forKey: "AllowsRequests") && coder.decodeBool(forKey: "AllowsRequests")
        requesters = Self.list(coder, of: CKShare.AccessRequester.self, "Requesters")
        blocked = Self.list(coder, of: CKShare.BlockedIdentity.self, "Blocked")
        answers = AccessAnswersEdit(
            denied: Self.names(coder, "Denied"), blocked: Self.names(coder, "NewlyBlocked"),
            unblocked: Self.names(coder, "Unblocked"))
    }

    func encode(with coder: NSCoder) {
        if isAllowed { coder.encode(true, forKey: "AllowsRequests") }
        if !requesters.isEmpty { coder.encode(NSArray(array: requesters), forKey: "Requesters") }
        if !blocked.isEmpty { coder.encode(NSArray(array: blocked), forKey: "Blocked") }
        for (names, key) in [
            (answers.denied, "Denied"), (answers.blocked, "NewlyBlocked"), (answers.unblocked, "Unblocked"),
        ] where !names.isEmpty {
            coder.encode(NSArray(array: names.sorted().map { NSString(string: $0) }), forKey: key)
        }
    }

    private static func list<Element: NSObject>(
        _ coder: NSCoder, of type: Element.Type, _ key: String
    ) -> [Element] {
        let classes: [AnyClass] = [NSArray.self, type]
        return coder.containsValue(forKey: key)
            ? coder.decodeObject(of: classes, forKey: key) as? [Element] ?? [] : []
    }

    private static func names(_ coder: NSCoder, _ key: String) -> Set<String> {
        let classes: [AnyClass] = [NSArray.self, NSString.self]
        guard coder.containsValue(forKey: key) else { return [] }
        let names = coder.decodeObject(of: classes, forKey: key) as? [NSString] ?? []
        return Set(names.map { String(describing: $0) })
    }
}

/// The answers to requests for access that a save sends.
struct AccessRequestsTerms: Sendable, Equatable {
    var isAllowed = false
    var answers = AccessAnswersEdit()
}

/// The record names of those whose requests an app has answered. Each name is in one of the lists.
struct AccessAnswersEdit: Sendable, Equatable {
    private(set) var denied: Set<String> = []
    private(set) var blocked: Set<String> = []
    private(set) var unblocked: Set<String> = []

    init(denied: Set<String> = [], blocked: Set<String> = [], unblocked: Set<String> = []) {
        self.denied = denied
        self.blocked = blocked
        self.unblocked = unblocked
    }

    mutating func deny(_ name: String) { set(name) { $0.denied.insert(name) } }
    mutating func block(_ name: String) { set(name) { $0.blocked.insert(name) } }
    mutating func unblock(_ name: String) { set(name) { $0.unblocked.insert(name) } }

    mutating func subtract(_ other: AccessAnswersEdit) {
        denied.subtract(other.denied)
        blocked.subtract(other.blocked)
        unblocked.subtract(other.unblocked)
    }

    /// The last answer counts.
    private mutating func set(_ name: String, _ answer: (inout AccessAnswersEdit) -> Void) {
        guard !name.isEmpty else { return }
        denied.remove(name)
        blocked.remove(name)
        unblocked.remove(name)
        answer(&self)
    }
}

extension CKUserIdentity {
    /// Somebody who has asked for access.
    fileprivate convenience init(_ wire: WireAccessRequester) {
        self.init(
            userRecordID: wire.user.isEmpty ? nil : CKRecord.ID(recordName: wire.user),
            nameComponents: PersonNameComponents(given: wire.givenName, family: wire.familyName), hasiCloudAccount: true
        )
    }
}
