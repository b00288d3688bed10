// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Looks up people to invite.
///
/// Servers of this version have no sharing: each call fails with `serverRejectedRequest`, or with `notAuthenticated` if
/// nobody is signed in. Looking up nobody returns nobody.
extension CKContainer {
    /// The person with that e-mail address.
    public func shareParticipant(forEmailAddress emailAddress: String) async throws -> CKShare.Participant {
        throw sharingRefusal
    }

    /// The person with that telephone number.
    public func shareParticipant(forPhoneNumber phoneNumber: String) async throws -> CKShare.Participant {
        throw sharingRefusal
    }

    /// The person with that user record.
    public func shareParticipant(forUserRecordID userRecordID: CKRecord.ID) async throws -> CKShare.Participant {
        throw sharingRefusal
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
        try lookUp(emails)
    }

    /// The people with these telephone numbers.
    public func shareParticipants(
        forPhoneNumbers phoneNumbers: [String]
    ) async throws -> [String: Result<CKShare.Participant, any Error>] {
        try lookUp(phoneNumbers)
    }

    /// The people with these user records.
    public func shareParticipants(
        forUserRecordIDs userRecordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: Result<CKShare.Participant, any Error>] {
        try lookUp(userRecordIDs)
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

    private func lookUp<Key>(_ people: [Key]) throws(CKError) -> [Key: Result<CKShare.Participant, any Error>] {
        guard people.isEmpty else { throw sharingRefusal }
        return [:]
    }
}
