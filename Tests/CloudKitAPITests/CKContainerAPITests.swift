// SPDX-License-Identifier: Apache-2.0

import CloudKit
import Testing

/// One use of each symbol of Tests/API.md, section CKContainer, as an app writes it, in that order.
@Suite struct CKContainerAPITests {
    @Test func `R-001, R-003: CKContainer`() throws {
        let container = CKContainer(identifier: "iCloud.org.example.api")
        let byDefault: CKContainer = CKContainer.default()
        #expect(byDefault === CKContainer.default())
        let identifier: String? = container.containerIdentifier
        #expect(identifier == "iCloud.org.example.api")
        let databases: [CKDatabase] = [
            container.privateCloudDatabase, container.publicCloudDatabase, container.sharedCloudDatabase,
        ]
        #expect(databases.map(\.databaseScope) == [.private, .public, .shared])
        #expect(container.database(with: .private) === container.privateCloudDatabase)
        let object: any NSObject & Sendable = container
        #expect(object === container)
    }

    /// The types of the methods that ask a server, which no test of this target has.
    func methods(of container: CKContainer) {
        let _: (CKOperation) -> Void = container.add(_:)
        let _: () async throws -> CKAccountStatus = container.accountStatus
        let _: (@escaping @Sendable (CKAccountStatus, (any Error)?) -> Void) -> Void =
            container.accountStatus(completionHandler:)
        let _: () async throws -> CKRecord.ID = container.userRecordID
        let _: (@escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void) -> Void =
            container.fetchUserRecordID(completionHandler:)
    }

    @Test func `R-396: configuredWith gives a container that is set up otherwise, and leaves this one as it is`()
        async throws
    {
        let container = CKContainer(identifier: "iCloud.org.example.api")
        let configuration = CKOperation.Configuration()
        configuration.timeoutIntervalForRequest = 5
        let name = container.configuredWith(configuration: configuration, group: CKOperationGroup()) { configured in
            #expect(configured !== container)
            #expect(configured.privateCloudDatabase !== container.privateCloudDatabase)
            #expect(configured.privateCloudDatabase === configured.privateCloudDatabase)
            return configured.containerIdentifier
        }
        #expect(name == container.containerIdentifier)
        let scope = await container.configuredWith { configured in
            await Task.yield()
            return configured.sharedCloudDatabase.databaseScope
        }
        #expect(scope == .shared)
        struct Stop: Error {}
        #expect(throws: Stop.self) { try container.configuredWith { _ in throw Stop() } }
    }

    typealias Shares = [CKShare.Metadata: Result<CKShare, any Error>]
    typealias Metadatas = [URL: Result<CKShare.Metadata, any Error>]
    typealias ParticipantHandler = @Sendable (CKShare.Participant?, (any Error)?) -> Void
    typealias ParticipantsByName = [String: Result<CKShare.Participant, any Error>]
    typealias ParticipantsByID = [CKRecord.ID: Result<CKShare.Participant, any Error>]

    func sharing(_ container: CKContainer, _ url: URL, _ metadata: CKShare.Metadata) async throws {
        let _: CKShare.Metadata = try await container.shareMetadata(for: url)
        container.fetchShareMetadata(with: url) { (_: CKShare.Metadata?, _: (any Error)?) in }
        let _: Metadatas = try await container.shareMetadatas(for: [url])
        container.fetchShareMetadatas(for: [url]) { (_: Result<Metadatas, any Error>) in }
        let _: CKShare = try await container.accept(metadata)
        try await container.accept(metadata)
        container.accept(metadata) { (_: CKShare?, _: (any Error)?) in }
        let _: Shares = try await container.accept([metadata])
        container.accept([metadata]) { (_: Result<Shares, any Error>) in }
    }

    func requests(of container: CKContainer) {
        let _: ([URL]) async throws -> [URL: Result<Void, any Error>] = container.requestShareAccess(for:)
    }

    func participants(of container: CKContainer) {
        let _: (String) async throws -> CKShare.Participant = container.shareParticipant(forEmailAddress:)
        let _: (String) async throws -> CKShare.Participant = container.shareParticipant(forPhoneNumber:)
        let _: (CKRecord.ID) async throws -> CKShare.Participant = container.shareParticipant(forUserRecordID:)
        let _: (String, @escaping ParticipantHandler) -> Void =
            container.fetchShareParticipant(withEmailAddress:completionHandler:)
        let _: (String, @escaping ParticipantHandler) -> Void =
            container.fetchShareParticipant(withPhoneNumber:completionHandler:)
        let _: (CKRecord.ID, @escaping ParticipantHandler) -> Void =
            container.fetchShareParticipant(withUserRecordID:completionHandler:)
        let _: ([String]) async throws -> ParticipantsByName = container.shareParticipants(forEmailAddresses:)
        let _: ([String]) async throws -> ParticipantsByName = container.shareParticipants(forPhoneNumbers:)
        let _: ([CKRecord.ID]) async throws -> ParticipantsByID = container.shareParticipants(forUserRecordIDs:)
        container.fetchShareParticipants(forEmailAddresses: []) { (_: Result<ParticipantsByName, any Error>) in }
        container.fetchShareParticipants(forPhoneNumbers: []) { (_: Result<ParticipantsByName, any Error>) in }
        container.fetchShareParticipants(forUserRecordIDs: []) { (_: Result<ParticipantsByID, any Error>) in }
    }

    @Test func `R-398: there are no long-lived operations`() async throws {
        let container = CKContainer(identifier: "iCloud.org.example.api")
        let ids: [CKOperation.ID] = try await container.allLongLivedOperationIDs()
        #expect(ids.isEmpty)
        let operation: CKOperation? = try await container.longLivedOperation(for: "none")
        #expect(operation == nil)
        let told: [CKOperation.ID]? = await withCheckedContinuation { continuation in
            container.fetchAllLongLivedOperationIDs { ids, error in
                #expect(error == nil)
                continuation.resume(returning: ids)
            }
        }
        #expect(told == [])
        let found: Bool = await withCheckedContinuation { continuation in
            container.fetchLongLivedOperation(withID: "none") { operation, error in
                continuation.resume(returning: operation != nil || error != nil)
            }
        }
        #expect(!found)
    }

    @Test func `R-350: account and globals`() {
        let statuses: [CKAccountStatus] = [
            .couldNotDetermine, .available, .restricted, .noAccount, .temporarilyUnavailable,
        ]
        #expect(statuses.map(\.rawValue) == [0, 1, 2, 3, 4])
        let name: Notification.Name = .CKAccountChanged
        #expect(name == NSNotification.Name.CKAccountChanged)
        let owner: String = CKCurrentUserDefaultName
        #expect(owner == "__defaultOwner__")
    }

    @available(*, deprecated)
    @Test func `R-356: application permissions and the discovery of users answer nothing`() async throws {
        let container = CKContainer(identifier: "iCloud.org.example.api")
        let permissions: CKContainer.ApplicationPermissions = [.userDiscoverability]
        #expect(permissions.rawValue == 1)
        let all: [CKContainer.ApplicationPermissionStatus] = [.initialState, .couldNotComplete, .denied, .granted]
        #expect(all.map(\.rawValue) == [0, 1, 2, 3])
        #expect(try await container.requestApplicationPermission(.userDiscoverability) == .denied)
        #expect(try await container.applicationPermissionStatus(for: permissions) == .denied)
        #expect(try await container.allUserIdentitiesFromContacts().isEmpty)
        #expect(try await container.userIdentity(forEmailAddress: "a@example.org") == nil)
        #expect(try await container.userIdentity(forPhoneNumber: "1") == nil)
        #expect(try await container.userIdentity(forUserRecordID: CKRecord.ID(recordName: "_a")) == nil)
        let statuses = await withCheckedContinuation { continuation in
            container.requestApplicationPermission(permissions) { asked, error in
                container.status(forApplicationPermission: permissions) { known, _ in
                    continuation.resume(returning: error == nil ? [asked, known] : [])
                }
            }
        }
        #expect(statuses == [.denied, .denied])
        let found: [Int] = await withCheckedContinuation { continuation in
            container.discoverUserIdentity(withUserRecordID: CKRecord.ID(recordName: "_a")) { user, error in
                container.discoverUserIdentity(withEmailAddress: "a@example.org") { mail, _ in
                    container.discoverUserIdentity(withPhoneNumber: "1") { phone, _ in
                        container.discoverAllIdentities { others, _ in
                            let one = [user, mail, phone].compactMap(\.self).count
                            continuation.resume(returning: error == nil ? [one, others?.count ?? -1] : [])
                        }
                    }
                }
            }
        }
        #expect(found == [0, 0])
    }
}
