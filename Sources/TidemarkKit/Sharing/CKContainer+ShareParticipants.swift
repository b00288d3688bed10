// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkWire

/// Looks up people to invite.
///
/// Add the participant to a `CKShare`, and save that. A person whose address no account has yet can be invited as well:
/// `hasiCloudAccount` is false, and the invitation waits for an account with that address. An address never tells whose
/// it is. Without an account each call fails with `notAuthenticated`. Looking up nobody returns nobody.
extension CKContainer {
    /// The person with that e-mail address.
    @discardableResult
    public func shareParticipant(forEmailAddress emailAddress: String) async throws -> CKShare.Participant {
        try await lookUp(CKUserIdentity.LookupInfo(emailAddress: emailAddress))
    }

    /// The person with that telephone number.
    @discardableResult
    public func shareParticipant(forPhoneNumber phoneNumber: String) async throws -> CKShare.Participant {
        try await lookUp(CKUserIdentity.LookupInfo(phoneNumber: phoneNumber))
    }

    /// The person with that user record.
    ///
    /// - Throws: `unknownItem` if there is no such user.
    @discardableResult
    public func shareParticipant(forUserRecordID userRecordID: CKRecord.ID) async throws -> CKShare.Participant {
        try await lookUp(CKUserIdentity.LookupInfo(userRecordID: userRecordID))
    }

    /// The person with that e-mail address: with a completion handler.
    @preconcurrency
    public func fetchShareParticipant(
        withEmailAddress emailAddress: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        deliver(to: completionHandler) { try await self.shareParticipant(forEmailAddress: emailAddress) }
    }

    /// The person with that telephone number: with a completion handler.
    @preconcurrency
    public func fetchShareParticipant(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        deliver(to: completionHandler) { try await self.shareParticipant(forPhoneNumber: phoneNumber) }
    }

    /// The person with that user record: with a completion handler.
    @preconcurrency
    public func fetchShareParticipant(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKShare.Participant?, (any Error)?) -> Void
    ) {
        deliver(to: completionHandler) { try await self.shareParticipant(forUserRecordID: userRecordID) }
    }

    /// The people with these e-mail addresses.
    public func shareParticipants(
        forEmailAddresses emails: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        try await lookUp(emails) { CKUserIdentity.LookupInfo(emailAddress: $0) }
    }

    /// The people with these telephone numbers.
    public func shareParticipants(
        forPhoneNumbers phoneNumbers: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        try await lookUp(phoneNumbers) { CKUserIdentity.LookupInfo(phoneNumber: $0) }
    }

    /// The people with these user records.
    public func shareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKShare.Participant, any Error>] {
        try await lookUp(userRecordIDs) { CKUserIdentity.LookupInfo(userRecordID: $0) }
    }

    /// The people with these e-mail addresses: with a completion handler.
    @preconcurrency
    public func fetchShareParticipants(
        forEmailAddresses emails: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) {
        deliver(to: completionHandler) { try await self.shareParticipants(forEmailAddresses: emails) }
    }

    /// The people with these telephone numbers: with a completion handler.
    @preconcurrency
    public func fetchShareParticipants(
        forPhoneNumbers phoneNumbers: [String],
        completionHandler:
            @escaping @Sendable (Result<[String: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) {
        deliver(to: completionHandler) { try await self.shareParticipants(forPhoneNumbers: phoneNumbers) }
    }

    /// The people with these user records: with a completion handler.
    @preconcurrency
    public func fetchShareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID],
        completionHandler:
            @escaping @Sendable (Result<[CKRecord.ID: Result<CKShare.Participant, any Error>], any Error>) -> Void
    ) {
        deliver(to: completionHandler) { try await self.shareParticipants(forUserRecordIDs: userRecordIDs) }
    }

    private func lookUp(_ person: CKUserIdentity.LookupInfo) async throws -> CKShare.Participant {
        guard let result = try await lookUp([person], as: { $0 })[person] else {
            throw CloudDatabase.wrongAnswer(to: .fetchShareParticipants)
        }
        return try result.get()
    }

    private func lookUp<Key: Hashable>(
        _ people: [Key], as lookup: (Key) -> CKUserIdentity.LookupInfo
    ) async throws -> [Key: Result<CKShare.Participant, any Error>] {
        guard !people.isEmpty else { return [:] }
        let found = try await sharedCloudDatabase.cloud.shareParticipants(for: people.map(lookup))
        var results: [Key: Result<CKShare.Participant, any Error>] = [:]
        for person in people { results[person] = found[lookup(person)]?.erased }
        return results
    }
}
