// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

/// What a server would have to be asked for, and servers of this version do not know.
@Suite struct CKContainerSharesTests {
    private let url = URL(fileURLWithPath: "/share")

    private func container(token: String?) -> CKContainer {
        CKContainer(
            context: CloudContext(
                containerIdentifier: "iCloud.test.sharing", configuration: TidemarkConfiguration(url: nil, token: token)
            ))
    }

    private func code(_ work: () async throws -> Void) async -> CKError.Code? {
        do {
            try await work()
            return nil
        } catch { return (error as? CKError)?.code }
    }

    @Test(arguments: [(String?.none, CKError.Code.notAuthenticated), ("t", .serverRejectedRequest)])
    func `R-005, R-314, R-315: a method says that there is no account, or that shares are not served`(
        token: String?, expected: CKError.Code
    ) async throws {
        let container = container(token: token)
        let email = ["a@example.org"]
        #expect(await code { _ = try await container.shareMetadata(for: url) } == expected)
        #expect(await code { _ = try await container.shareMetadatas(for: [url]) } == expected)
        #expect(await code { _ = try await container.shareParticipant(forEmailAddress: "a") } == expected)
        #expect(await code { _ = try await container.shareParticipants(forEmailAddresses: email) } == expected)
        #expect(await code { _ = try await container.shareParticipants(forPhoneNumbers: email) } == expected)
        let told: CKError.Code? = await withCheckedContinuation { continuation in
            container.fetchShareMetadata(with: url) { continuation.resume(returning: ($1 as? CKError)?.code) }
        }
        #expect(told == expected)
    }

    @Test func `R-402: asking for nothing gives nothing`() async throws {
        let container = container(token: "t")
        #expect(try await container.shareMetadatas(for: []).isEmpty)
        #expect(try await container.accept([]).isEmpty)
        #expect(try await container.shareParticipants(forUserRecordIDs: []).isEmpty)
    }

    @Test func `R-390, R-393, R-402: an operation fails as a whole, once, and completes`() async {
        func run(_ urls: [URL], cancelled: Bool = false) async -> [String] {
            let operation = CKFetchShareMetadataOperation(shareURLs: urls)
            let said = Locked<[String]>([])
            operation.perShareMetadataResultBlock = { _, _ in said.withLock { $0.append("item") } }
            operation.fetchShareMetadataResultBlock = { result in
                let text = (result.error as? CKError).map { "\($0.code)" } ?? "success"
                said.withLock { $0.append(text) }
            }
            if cancelled { operation.cancel() }
            await withCheckedContinuation { continuation in
                operation.completionBlock = { continuation.resume() }
                container(token: "t").add(operation)
            }
            return said.withLock { $0 }
        }
        #expect(await run([url]) == ["serverRejectedRequest"])
        #expect(await run([]) == ["success"])
        #expect(await run([url], cancelled: true) == ["operationCancelled"])
    }
}
