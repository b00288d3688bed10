// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Foundation
import Testing

/// The calls of a container about shares, as code calls them that has no async functions.
@Suite struct ShareHandlerFormsTests {
    typealias Metadatas = [URL: Result<CKShare.Metadata, any Error>]
    typealias Shares = [CKShare.Metadata: Result<CKShare, any Error>]
    typealias People<Key: Hashable> = [Key: Result<CKShare.Participant, any Error>]

    /// What a handler is called with that takes a value or an error.
    private static func value<Value: Sendable>(
        _ call: (@escaping @Sendable (Value?, (any Error)?) -> Void) -> Void
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            call { value, error in
                if let value, error == nil {
                    continuation.resume(returning: value)
                } else {
                    continuation.resume(throwing: error ?? CKError(.internalError))
                }
            }
        }
    }

    private static func result<Value: Sendable>(
        _ call: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in call { continuation.resume(with: $0) } }
    }

    /// In which way each ended, sorted.
    private static func told<Key, Value>(_ results: [Key: Result<Value, any Error>]) -> String {
        results.values.map { result in
            switch result {
            case .success: "done"
            case .failure(let error): (error as? CKError).map { "\($0.code)" } ?? "\(error)"
            }
        }.sorted().joined(separator: " ")
    }

    private static let nobodysURL = URL(fileURLWithPath: "/share/00000000000000000000000000000000")

    @Test func `R-315, R-317, R-401: metadata and acceptance come to completion handlers`() async throws {
        let seen = try await Both.clouds { cloud in
            let (alice, bob) = (try await cloud.device(of: "alice"), try await cloud.device(of: "bob"))
            let carol = try await cloud.device(of: "carol").container
            let guest = bob.container
            let url = try await SharingConformanceTests.share(of: alice, inviting: bob)
            let metadata: CKShare.Metadata = try await Self.value {
                guest.fetchShareMetadata(with: url, completionHandler: $0)
            }
            #expect(metadata.participantStatus == .pending && metadata.share.url == url)
            var seen = [
                await Both.code {
                    let _: CKShare.Metadata = try await Self.value {
                        carol.fetchShareMetadata(with: url, completionHandler: $0)
                    }
                }
            ]
            let metadatas: Metadatas = try await Self.result {
                guest.fetchShareMetadatas(for: [url, Self.nobodysURL], completionHandler: $0)
            }
            seen.append(Self.told(metadatas))
            seen.append(
                await Both.code {
                    let _: CKShare = try await Self.value { carol.accept(metadata, completionHandler: $0) }
                })
            let joined: CKShare = try await Self.value { guest.accept(metadata, completionHandler: $0) }
            #expect(joined.currentUserParticipant?.acceptanceStatus == .accepted)
            for container in [guest, carol] {
                let shares: Shares = try await Self.result { container.accept([metadata], completionHandler: $0) }
                seen.append(Self.told(shares))
            }
            return seen
        }
        #expect(seen == ["unknownItem", "done unknownItem", "unknownItem", "done", "unknownItem"])
    }

    @Test func `R-314, R-401: people who are looked up come to completion handlers`() async throws {
        let seen = try await Both.clouds { cloud in
            let container = try await cloud.device(of: "alice").container
            let bob = try await cloud.device(of: "bob").container.userRecordID()
            let nobody = CKRecord.ID(recordName: "_0123456789abcdef0123456789abcdef")
            let user: CKShare.Participant = try await Self.value {
                container.fetchShareParticipant(withUserRecordID: bob, completionHandler: $0)
            }
            #expect(user.userIdentity.userRecordID == bob && user.userIdentity.hasiCloudAccount)
            let mail: CKShare.Participant = try await Self.value {
                container.fetchShareParticipant(withEmailAddress: "a@example.org", completionHandler: $0)
            }
            #expect(mail.userIdentity.lookupInfo?.emailAddress == "a@example.org")
            let phone: CKShare.Participant = try await Self.value {
                container.fetchShareParticipant(withPhoneNumber: "+4930123456", completionHandler: $0)
            }
            #expect(phone.userIdentity.lookupInfo?.phoneNumber == "+4930123456")
            #expect(!mail.userIdentity.hasiCloudAccount && !phone.userIdentity.hasiCloudAccount)
            let missing = await Both.code {
                let _: CKShare.Participant = try await Self.value {
                    container.fetchShareParticipant(withUserRecordID: nobody, completionHandler: $0)
                }
            }
            let users: People<CKRecord.ID> = try await Self.result {
                container.fetchShareParticipants(forUserRecordIDs: [bob, nobody], completionHandler: $0)
            }
            let mails: People<String> = try await Self.result {
                container.fetchShareParticipants(
                    forEmailAddresses: ["a@example.org", "b@example.org"], completionHandler: $0)
            }
            let phones: People<String> = try await Self.result {
                container.fetchShareParticipants(forPhoneNumbers: ["+4930123456"], completionHandler: $0)
            }
            return [missing, Self.told(users), Self.told(mails), Self.told(phones)]
        }
        #expect(seen == ["unknownItem", "done unknownItem", "done done", "done"])
    }
}
