// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// URLs of shares, and people, as a server answers about them.
@Suite struct CKContainerSharesTests {
    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let container: CKContainer

    init() {
        server = ScriptedServer(scheduler)
        container = .scripted(server, scheduler)
        server.answer(Self.answer)
    }

    /// Links that begin with "open" lead to the zone "Plans" of `_bob`. Others lead nowhere.
    private static func answer(to envelope: WireClientEnvelope) -> WireServerEnvelope.OneOfAnswer? {
        switch envelope.request {
        case .fetchShareMetadata(let request):
            var answer = WireFetchShareMetadataAnswer()
            answer.results = request.links.map { result(of: $0, .pending) }
            return .fetchShareMetadata(answer)
        case .acceptShares(let request):
            var answer = WireAcceptSharesAnswer()
            answer.results = request.links.map { request.declines ? declined : result(of: $0, .accepted) }
            return .acceptShares(answer)
        case .fetchShareParticipants(let request):
            var answer = WireFetchShareParticipantsAnswer()
            answer.results = request.lookups.map { lookup in
                var result = WireParticipantLookupResult()
                if lookup.user == "_nobody" {
                    result.failure.code = .unknownItem
                } else {
                    result.person.hasAccount = lookup.phone.isEmpty
                }
                return result
            }
            return .fetchShareParticipants(answer)
        default: return nil
        }
    }

    /// Servers say nothing more of a share that was declined.
    private static var declined: WireShareMetadataResult {
        var result = WireShareMetadataResult()
        result.metadata = WireShareMetadata()
        return result
    }

    private static func result(of link: String, _ status: WireParticipantStatus) -> WireShareMetadataResult {
        var result = WireShareMetadataResult()
        guard link.hasPrefix("open") else {
            result.failure.code = .unknownItem
            return result
        }
        var me = WireParticipant.person(1, "", status)
        me.permission = .readWrite
        result.metadata.zone = .named("Plans", of: "_bob")
        result.metadata.share = .share(owner: "_bob", [me], link: link)
        let fields = [
            Field("cloudkit.title", .string("Plans")), Field("secret", .bytes([1]), isEncrypted: true),
        ]
        result.metadata.share.fields = (try? FieldMap(fields, keys: .share))?.bytes ?? []
        (result.metadata.role, result.metadata.status) = (.privateUser, status)
        result.metadata.permission = .readWrite
        result.metadata.owner = .owner("_bob")
        result.metadata.owner.givenName = "Bob"
        return result
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func code(
        of container: CKContainer? = nil, _ work: @escaping @Sendable (CKContainer) async throws -> Void
    ) -> CKError.Code? {
        let container = container ?? self.container
        do {
            try scheduler.complete { try await work(container) }
            return nil
        } catch { return (error as? CKError)?.code }
    }

    private func code<Success>(in result: Result<Success, any Error>?) -> CKError.Code? {
        (result?.error as? CKError)?.code
    }

    /// The links of each request about shares.
    private var asked: [[String]] {
        server.envelopes.compactMap { envelope -> [String]? in
            switch envelope.request {
            case .fetchShareMetadata(let request): request.links
            case .acceptShares(let request): request.links
            default: nil
            }
        }
    }

    // MARK: Metadata

    @Test func `F-13, R-315, R-320: metadata say what a URL leads to, and are asked of one's own server`() throws {
        let url = try url("https://elsewhere.example.com:9/a/b/open?c=d#e")
        let metadata = try scheduler.complete { [container] in try await container.shareMetadata(for: url) }
        #expect(asked == [["open"]])
        #expect(metadata.containerIdentifier == container.containerIdentifier)
        let zoneID = CKRecordZone.ID(zoneName: "Plans", ownerName: "_bob")
        #expect(metadata.share.recordID == CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: zoneID))
        #expect(metadata.hierarchicalRootRecordID == nil && metadata.rootRecord == nil)
        #expect(metadata.participantRole == .privateUser && metadata.participantStatus == .pending)
        #expect(metadata.participantPermission == .readWrite)
        #expect(metadata.ownerIdentity.userRecordID?.recordName == "_bob")
        #expect(metadata.ownerIdentity.hasiCloudAccount)
        #expect(metadata.ownerIdentity.nameComponents?.givenName == "Bob", "R-779")
        #expect(metadata.ownerIdentity.nameComponents?.familyName == nil)
        #expect(metadata.share[CKShare.SystemFieldKey.title] as? String == "Plans")
        #expect(metadata.share.encryptedValues["secret"] == nil, "nobody who is only invited has the key")
        #expect(metadata.share.url?.absoluteString == "https://cloud.example.org:8443/share/open")
    }

    @Test func `R-316: each URL is asked about once, and what no server can have made not at all`() throws {
        let urls = try [
            url("https://a.example/share/open"), url("https://b.example/share/open"), url("https://a.example/share/no"),
            url("https://a.example/"), url("https://a.example"),
            url("https://a.example/" + String(repeating: "x", count: 2_000)),
        ]
        let found = try scheduler.complete { [container] in
            try await container.shareMetadatas(for: urls + urls)
        }
        #expect(asked == [["open", "no"]])
        #expect(try found[urls[0]]?.get() == found[urls[1]]?.get())
        for url in urls[2...] {
            #expect(code(in: found[url]) == .unknownItem, "\(url)")
        }
        #expect(found.count == 6)
        #expect(code { _ = try await $0.shareMetadata(for: urls[2]) } == .unknownItem)
    }

    @Test func `R-155: many URLs are asked about a hundred at a time`() throws {
        let urls = try (0..<150).map { try url("https://a.example/share/open\($0)") }
        let found = try scheduler.complete { [container] in try await container.shareMetadatas(for: urls) }
        #expect(found.count == 150 && asked.map(\.count) == [100, 50])
        #expect(try found[urls[149]]?.get().share.url?.lastPathComponent == "open149")
    }

    // MARK: Accepting

    @Test func `R-317, R-318: accepting gives the share, with the accepter in it`() throws {
        let metadata = CKShare.Metadata.test(in: container, link: "open")
        let share = try scheduler.complete { [container] in try await container.accept(metadata) }
        #expect(asked == [["open"]] && share.recordID.zoneID.ownerName == "_bob")
        #expect(share.currentUserParticipant?.acceptanceStatus == .accepted)
        #expect(share.currentUserParticipant?.permission == .readWrite)
        #expect(share.owner.userIdentity.userRecordID?.recordName == "_bob" && share.participants.count == 2)
        let other = CKShare.Metadata.test(in: container, link: "no")
        #expect(code { _ = try await $0.accept(other) } == .unknownItem)
        let both = try scheduler.complete { [container] in try await container.accept([metadata, other, metadata]) }
        #expect(both.count == 2 && asked.last == ["open", "no"])
    }

    @Test func `R-332: metadata from an archive can be accepted, those of another container cannot`() throws {
        let url = try url("https://a.example/share/open")
        let metadata = try scheduler.complete { [container] in try await container.shareMetadata(for: url) }
        let data = try NSKeyedArchiver.archivedData(withRootObject: metadata, requiringSecureCoding: true)
        let kept = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CKShare.Metadata.self, from: data))
        _ = try scheduler.complete { [container] in try await container.accept(kept) }
        #expect(asked == [["open"], ["open"]])
        let other = CKShare.Metadata.test(in: .scripted(server, scheduler), link: "open")
        #expect(code { _ = try await $0.accept(other) } == .invalidArguments)
        #expect(asked.count == 2)
    }

    @Test func `R-330: an invitation can be declined, whatever the server then says of the share`() throws {
        let metadata = CKShare.Metadata.test(in: container, link: "open")
        #expect(code { try await $0.decline(metadata) } == nil)
        guard case .acceptShares(let request) = server.envelopes.last?.request else {
            Issue.record("nothing was declined")
            return
        }
        #expect(request.declines && request.links == ["open"])
    }

    // MARK: People

    @Test func `R-314: people are looked up by address, number and user, and each once`() throws {
        let email = try scheduler.complete { [container] in
            try await container.shareParticipant(forEmailAddress: "b@example.org")
        }
        #expect(email.userIdentity.lookupInfo?.emailAddress == "b@example.org" && email.userIdentity.hasiCloudAccount)
        #expect(email.userIdentity.userRecordID == nil && email.userIdentity.nameComponents == nil)
        #expect(email.role == .privateUser && email.permission == .readOnly && email.acceptanceStatus == .pending)
        let phone = try scheduler.complete { [container] in
            try await container.shareParticipant(forPhoneNumber: "+49301")
        }
        #expect(!phone.userIdentity.hasiCloudAccount && phone.userIdentity.lookupInfo?.phoneNumber == "+49301")
        let ids = ["_bob", "_nobody", "_bob"].map { CKRecord.ID(recordName: $0) }
        let people = try scheduler.complete { [container] in
            try await container.shareParticipants(forUserRecordIDs: ids)
        }
        #expect(people.count == 2)
        let bob = try #require(try people[ids[0]]?.get())
        #expect(bob.userIdentity.userRecordID == ids[0] && bob.userIdentity.nameComponents == nil)
        #expect(code(in: people[ids[1]]) == .unknownItem)
        guard case .fetchShareParticipants(let request) = server.envelopes.last?.request else {
            Issue.record("nobody was looked up")
            return
        }
        #expect(request.lookups.map(\.user) == ["_bob", "_nobody"])
    }

    @Test func `R-775: a request looks up sixty addresses, and what was found stays if the others must wait`() throws {
        let counts = Locked<[Int]>([])
        server.answer { envelope in
            guard case .fetchShareParticipants(let request)? = envelope.request else { return nil }
            let place = counts.withLock { counts in
                counts.append(request.lookups.count)
                return counts.count
            }
            guard place > 1 else { return Self.answer(to: envelope) }
            var failure = WireFailure()
            failure.code = .requestRateLimited
            return .failure(failure)
        }
        let emails = (1...70).map { "p\($0)@example.org" }
        let found = try scheduler.complete { [container] in
            try await container.shareParticipants(forEmailAddresses: emails)
        }
        #expect(counts.withLock { $0 } == [60, 10])
        #expect(emails.prefix(60).allSatisfy { found[$0] != nil && code(in: found[$0]) == nil })
        #expect(emails.dropFirst(60).allSatisfy { code(in: found[$0]) == .requestRateLimited })
        // Nothing was found this time.
        #expect(code { _ = try await $0.shareParticipants(forEmailAddresses: emails) } == .requestRateLimited)
        #expect(counts.withLock { $0 } == [60, 10, 60])
    }

    @Test func `R-775: record names do not count among the addresses of a request`() throws {
        let lookups =
            (1...50).map { CKUserIdentity.LookupInfo(emailAddress: "p\($0)@example.org") }
            + (1...50).map { CKUserIdentity.LookupInfo(userRecordID: CKRecord.ID(recordName: "_\($0)")) }
            + (1...11).map { CKUserIdentity.LookupInfo(phoneNumber: "+49\($0)") }
        let count = try scheduler.complete { [container] in
            try await container.sharedCloudDatabase.cloud.shareParticipants(for: lookups).count
        }
        #expect(count == 111)
        let parts = server.envelopes.compactMap { envelope -> [Int]? in
            guard case .fetchShareParticipants(let request) = envelope.request else { return nil }
            return [request.lookups.count, request.lookups.count { $0.user.isEmpty }]
        }
        #expect(parts == [[100, 50], [11, 11]])
    }

    // MARK: Nothing, and nobody

    @Test func `R-402: asking for nothing gives nothing, and asks nobody`() throws {
        let found = try scheduler.complete { [container] in
            let metadata = try await container.shareMetadatas(for: []).count
            let accepted = try await container.accept([]).count
            let people = try await container.shareParticipants(forUserRecordIDs: []).count
            return metadata + accepted + people
        }
        #expect(found == 0)
        #expect(server.envelopes.isEmpty)
    }

    @Test func `R-005: without an account nobody is asked`() throws {
        let nobody = CKContainer.scripted(server, scheduler, token: "")
        let metadata = CKShare.Metadata.test(in: nobody, link: "open")
        let url = try url("https://a.example/share/open")
        let calls: [@Sendable (CKContainer) async throws -> Void] = [
            { _ = try await $0.shareMetadata(for: url) }, { _ = try await $0.accept(metadata) },
            { try await $0.decline(metadata) }, { _ = try await $0.shareParticipant(forEmailAddress: "a") },
        ]
        for call in calls {
            #expect(code(of: nobody, call) == .notAuthenticated)
        }
        #expect(server.envelopes.isEmpty)
    }

    @Test func `R-370: an answer without a result for each link fits no request`() throws {
        server.answer { envelope in
            switch envelope.request {
            case .fetchShareMetadata: .fetchShareMetadata(WireFetchShareMetadataAnswer())
            case .acceptShares: .acceptShares(WireAcceptSharesAnswer())
            default: nil
            }
        }
        let url = try url("https://a.example/share/open")
        let metadata = CKShare.Metadata.test(in: container, link: "open")
        #expect(code { _ = try await $0.shareMetadata(for: url) } == .internalError)
        #expect(code { _ = try await $0.accept(metadata) } == .serverResponseLost, "it may have been accepted")
    }

    @Test func `R-370: an item without a result is neither accepted nor declined, and nobody is found`() throws {
        server.answer { envelope in
            switch envelope.request {
            case .fetchShareMetadata(let request):
                var answer = WireFetchShareMetadataAnswer()
                answer.results = request.links.map { _ in WireShareMetadataResult() }
                return .fetchShareMetadata(answer)
            case .acceptShares(let request):
                var answer = WireAcceptSharesAnswer()
                answer.results = request.links.map { _ in WireShareMetadataResult() }
                return .acceptShares(answer)
            case .fetchShareParticipants(let request):
                var answer = WireFetchShareParticipantsAnswer()
                answer.results = request.lookups.map { _ in WireParticipantLookupResult() }
                return .fetchShareParticipants(answer)
            default: return nil
            }
        }
        let url = try url("https://a.example/share/open")
        let metadata = CKShare.Metadata.test(in: container, link: "open")
        #expect(code { _ = try await $0.shareMetadata(for: url) } == .internalError)
        #expect(code { _ = try await $0.accept(metadata) } == .serverResponseLost)
        #expect(code { try await $0.decline(metadata) } == .serverResponseLost)
        #expect(code { _ = try await $0.shareParticipant(forEmailAddress: "a@b.c") } == .internalError)
    }

    // MARK: Operations

    /// - Returns: what the blocks were told, in their order.
    private func run(_ operation: CKOperation, _ said: Locked<[String]>) async throws -> [String] {
        let isDone = Locked(false)
        operation.completionBlock = { isDone.withLock { $0 = true } }
        container.add(operation)
        try await eventually {
            scheduler.advance(by: .zero)
            return isDone.withLock { $0 }
        }
        return said.withLock { $0 }
    }

    private static func text<Success>(_ result: Result<Success, any Error>) -> String {
        (result.error as? CKError).map { "\($0.code)" } ?? "success"
    }

    @Test func `R-315, R-390, R-393, R-402: the operation for metadata tells of each URL, then of all`() async throws {
        let urls = try [url("https://a.example/share/open"), url("https://a.example/share/no")]
        func operation(_ urls: [URL]) -> (CKFetchShareMetadataOperation, Locked<[String]>) {
            let operation = CKFetchShareMetadataOperation(shareURLs: urls)
            let said = Locked<[String]>([])
            operation.perShareMetadataResultBlock = { url, result in
                said.withLock { $0.append("\(url.lastPathComponent) \(Self.text(result))") }
            }
            operation.fetchShareMetadataResultBlock = { result in said.withLock { $0.append(Self.text(result)) } }
            return (operation, said)
        }
        let (both, said) = operation(urls)
        #expect(try await run(both, said) == ["open success", "no unknownItem", "success"])
        let (nothing, silence) = operation([])
        #expect(try await run(nothing, silence) == ["success"])
        let (cancelled, last) = operation(urls)
        cancelled.cancel()
        #expect(try await run(cancelled, last) == ["operationCancelled"])
    }

    @Test func `R-317, R-152, R-390: the operation that joins tells of each share, then of all`() async throws {
        let metadatas = ["open", "no"].map { CKShare.Metadata.test(in: container, link: $0) }
        let operation = CKAcceptSharesOperation(shareMetadatas: metadatas)
        let said = Locked<[String]>([])
        operation.perShareResultBlock = { metadata, result in
            said.withLock { $0.append("\(metadata.share.recordID.zoneID.zoneName) \(Self.text(result))") }
        }
        operation.acceptSharesResultBlock = { result in said.withLock { $0.append(Self.text(result)) } }
        #expect(try await run(operation, said) == ["Zopen success", "Zno unknownItem", "success"])
    }

    @Test func `R-314, R-152, R-390: the operation for people tells of each, then of all`() async throws {
        let lookups = ["_bob", "_nobody"].map {
            CKUserIdentity.LookupInfo(userRecordID: CKRecord.ID(recordName: $0))
        }
        let operation = CKFetchShareParticipantsOperation(userIdentityLookupInfos: lookups)
        let said = Locked<[String]>([])
        operation.perShareParticipantResultBlock = { lookup, result in
            said.withLock { $0.append("\(lookup.userRecordID?.recordName ?? "") \(Self.text(result))") }
        }
        operation.fetchShareParticipantsResultBlock = { result in said.withLock { $0.append(Self.text(result)) } }
        #expect(try await run(operation, said) == ["_bob success", "_nobody unknownItem", "success"])
    }
}
