// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields
internal import TidemarkTelemetry
internal import TidemarkWire

/// Requests about shares that others made, and about people ("Sharing.proto"). They concern no database in particular.
extension CloudDatabase {
    /// Items of one request; the server allows as many.
    private static let itemsMax = 100
    /// Addresses of one request, and of one minute; the server allows as many.
    private static let addressesMax = 60
    /// Links of one request for access, and of one minute; the server allows as many.
    private static let requestedLinksMax = 20

    // MARK: Links

    /// The roots of hierarchies that come with metadata.
    struct MetadataRoots: Sendable {
        static let none = MetadataRoots(areWanted: false, keys: nil)

        let areWanted: Bool
        /// Nil: all.
        let keys: [CKRecord.FieldKey]?
    }

    /// The shares to which these URLs lead, each once.
    ///
    /// - Returns: `unknownItem` for URLs that lead nowhere for the current user.
    func shareMetadata(
        of urls: [URL], roots: MetadataRoots = .none
    ) async throws(CKError) -> [URL: Result<CKShare.Metadata, CKError>] {
        var results: [URL: Result<CKShare.Metadata, CKError>] = [:]
        var links: [URL: (link: String, keys: ZoneLinkKeys?)] = [:]
        for url in urls {
            guard let link = ShareURLs.link(in: url) else {
                results[url] = .failure(Self.noShare)
                continue
            }
            do throws(CKError) {
                links[url] = (link, try ZoneLinkKeys(in: url))
            } catch {
                results[url] = .failure(error)
            }
        }
        let found = try await answers(about: urls.compactMap { links[$0]?.link }, to: .fetchShareMetadata) {
            part throws(CKError) in try await fetchMetadata(of: part, roots)
        }
        for (url, (link, keys)) in links {
            if let answer = found[link] { results[url] = metadata(answer, of: link, keys, .fetchShareMetadata) }
        }
        return results
    }

    /// The server's answer about a share, and the request that it answers.
    private typealias ShareAnswer = (result: WireShareMetadataResult, request: RequestUUID?)

    private func fetchMetadata(
        of links: [String], _ roots: MetadataRoots
    ) async throws(CKError) -> [ShareAnswer] {
        var request = WireFetchShareMetadata()
        request.links = links
        request.wantsRoots = roots.areWanted
        if roots.areWanted, let keys = roots.keys { request.rootKeys = WireDesiredKeys(keys) }
        let reply = try await self.request { [request] _ in .fetchShareMetadata(request) }
        guard case .fetchShareMetadata(let answer) = reply.answer else {
            throw Self.wrongAnswer(to: .fetchShareMetadata)
        }
        return answer.results.map { ($0, reply.request) }
    }

    /// Joins these shares, each once.
    func acceptShares(
        _ metadatas: [CKShare.Metadata]
    ) async throws(CKError) -> [CKShare.Metadata: Result<CKShare, CKError>] {
        var results: [CKShare.Metadata: Result<CKShare, CKError>] = [:]
        // Before they are accepted: an engine may fetch the zone at once.
        try await keepLinkKeys(of: metadatas)
        if metadatas.contains(where: { $0.link != nil && $0.containerIdentifier == keys.container }) {
            await publishQuietly()
        }
        for (asked, outcome) in try await answer(metadatas, declining: false) {
            switch outcome {
            case .success((let link, let answer)):
                results[asked] = metadata(answer, of: link, nil, .acceptShares).map { $0.share }
            case .failure(let error): results[asked] = .failure(error)
            }
        }
        return results
    }

    /// Declines invitations.
    func declineShares(
        _ metadatas: [CKShare.Metadata]
    ) async throws(CKError) -> [CKShare.Metadata: Result<Void, CKError>] {
        var results: [CKShare.Metadata: Result<Void, CKError>] = [:]
        for (asked, outcome) in try await answer(metadatas, declining: true) {
            switch outcome {
            case .success((_, let answer)):
                switch answer.result.result {
                case .metadata: results[asked] = .success(())
                case .failure(let failure): results[asked] = .failure(CKError(failure, to: answer.request))
                case nil: results[asked] = .failure(Self.wrongAnswer(to: .acceptShares))
                }
            case .failure(let error): results[asked] = .failure(error)
            }
        }
        return results
    }

    /// The server's answer about a share, and the link of the request.
    private typealias LinkAnswer = (link: String, answer: ShareAnswer)

    private func answer(
        _ metadatas: [CKShare.Metadata], declining: Bool
    ) async throws(CKError) -> [CKShare.Metadata: Result<LinkAnswer, CKError>] {
        var results: [CKShare.Metadata: Result<LinkAnswer, CKError>] = [:]
        var links: [CKShare.Metadata: String] = [:]
        for metadata in metadatas {
            if metadata.containerIdentifier != keys.container {
                results[metadata] = .failure(Self.otherContainer(metadata.containerIdentifier))
            } else if let link = metadata.link {
                links[metadata] = link
            } else {
                results[metadata] = .failure(Self.noShare)
            }
        }
        let found = try await answers(about: metadatas.compactMap { links[$0] }, to: .acceptShares) {
            part throws(CKError) in try await accept(part, declining: declining)
        }
        for (metadata, link) in links {
            if let answer = found[link] { results[metadata] = .success((link, answer)) }
        }
        return results
    }

    /// Has no stamp, because repeating it does no harm.
    private func accept(
        _ links: [String], declining: Bool
    ) async throws(CKError) -> [ShareAnswer] {
        var request = WireAcceptShares()
        request.links = links
        request.declines = declining
        let reply = try await self.request { [request] _ in .acceptShares(request) }
        guard case .acceptShares(let answer) = reply.answer else { throw Self.wrongAnswer(to: .acceptShares) }
        return answer.results.map { ($0, reply.request) }
    }

    /// Asks about each item once, a part of them at a time.
    private func answers<Item: Hashable, Answer>(
        about items: [Item], to request: WireRequestKind, ask: ([Item]) async throws(CKError) -> [Answer]
    ) async throws(CKError) -> [Item: Answer] {
        let items = items.grouped { $0 }.map { $0.key }
        var answers: [Item: Answer] = [:]
        while answers.count < items.count {
            if !answers.isEmpty { try checkMayGoOn() }
            let part = Array(items.dropFirst(answers.count).prefix(Self.itemsMax))
            let results = try await ask(part)
            guard results.count == part.count else { throw Self.wrongAnswer(to: request) }
            for (item, result) in zip(part, results) { answers[item] = result }
        }
        return answers
    }

    private func metadata(
        _ answer: ShareAnswer, of link: String, _ linkKeys: ZoneLinkKeys?, _ request: WireRequestKind
    ) -> Result<CKShare.Metadata, CKError> {
        switch answer.result.result {
        case .metadata(let wire):
            let zoneID = CKRecordZone.ID(wire.zone)
            let record = self.record(wire.share, in: zoneID).map { $0.withoutEncryptedValues() }
            guard wire.hasShare, wire.hasZone, case .success(let share as CKShare) = record else {
                return .failure(record.error ?? Self.wrongAnswer(to: request))
            }
            return .success(
                CKShare.Metadata(
                    .init(
                        containerIdentifier: keys.container, share: share,
                        hierarchicalRootRecordID: wire.root.isEmpty
                            ? nil : CKRecord.ID(recordName: wire.root, zoneID: zoneID),
                        rootRecord: root(of: wire, in: zoneID),
                        participantRole: CKShare.ParticipantRole(wire.role),
                        participantStatus: CKShare.ParticipantAcceptanceStatus(wire.status),
                        participantPermission: CKShare.ParticipantPermission(wire.permission),
                        ownerIdentity: CKUserIdentity(wire.owner), link: link, keys: linkKeys)))
        case .failure(let failure):
            return .failure(CKError(failure, to: answer.request))
        case nil:
            return .failure(Self.wrongAnswer(to: request))
        }
    }

    /// The root that came with the metadata. If a root cannot be read, it counts as not sent: an invited person can accept all the same.
    private func root(of metadata: WireShareMetadata, in zoneID: CKRecordZone.ID) -> CKRecord? {
        guard metadata.hasRootRecord, !metadata.root.isEmpty, metadata.rootRecord.name == metadata.root else {
            return nil
        }
        return try? record(metadata.rootRecord, in: zoneID).get().withoutEncryptedValues()
    }

    /// For a URL that no server can have made, or for metadata without one. Servers say the same.
    private static let noShare = CKError(
        .unknownItem,
        text: "Share not found. It has ended, or this account is not invited. Ask its owner for an invitation.")

    private static func otherContainer(_ identifier: String) -> CKError {
        CKError(
            .invalidArguments,
            message: "The share belongs to the container \(identifier). Call its CKContainer(identifier:).")
    }

    // MARK: Requests for access

    /// Asks for access to the shares with these URLs, each once. A URL that no server can have made is asked for by none,
    /// and succeeds, as one that leads nowhere.
    ///
    /// - Returns: `requestRateLimited` for those for which the server had no room any more. Requests that were made
    ///   stay.
    func requestAccess(to urls: [URL]) async throws(CKError) -> [URL: Result<Void, CKError>] {
        var results: [URL: Result<Void, CKError>] = [:]
        var links: [String: [URL]] = [:]
        for url in Set(urls) {
            if let link = ShareURLs.link(in: url) {
                links[link, default: []].append(url)
            } else {
                results[url] = .success(())
            }
        }
        var rest = links.keys.sorted()[...]
        var hasAsked = false
        while !rest.isEmpty {
            let part = Array(rest.prefix(Self.requestedLinksMax))
            rest = rest.dropFirst(part.count)
            do throws(CKError) {
                if hasAsked { try checkMayGoOn() }
                for (link, result) in zip(part, try await ask(part)) {
                    for url in links[link] ?? [] { results[url] = result }
                }
                hasAsked = true
            } catch {
                guard error.code == .requestRateLimited, hasAsked else { throw error }
                for link in part { for url in links[link] ?? [] { results[url] = .failure(error) } }
            }
        }
        return results
    }

    private func ask(_ links: [String]) async throws(CKError) -> [Result<Void, CKError>] {
        var request = WireRequestShareAccess()
        request.links = links
        let reply = try await self.request { [request] _ in .requestShareAccess(request) }
        guard case .requestShareAccess(let answer) = reply.answer, answer.results.count == links.count else {
            throw Self.wrongAnswer(to: .requestShareAccess)
        }
        return answer.results.map { result in
            result.hasFailure ? .failure(CKError(result.failure, to: reply.request)) : .success(())
        }
    }

    // MARK: People

    /// The people whom these lookups find, each once.
    ///
    /// - Returns: `requestRateLimited` for addresses for which the server had no room any more. Results that were found before stay:
    ///   looking them up again would use up the limit for the others.
    func shareParticipants(
        for lookups: [CKUserIdentity.LookupInfo]
    ) async throws(CKError) -> [CKUserIdentity.LookupInfo: Result<CKShare.Participant, CKError>] {
        var results: [CKUserIdentity.LookupInfo: Result<CKShare.Participant, CKError>] = [:]
        for part in Self.parts(of: lookups) {
            if !results.isEmpty { try checkMayGoOn() }
            do throws(CKError) {
                let (answers, request) = try await find(part)
                for (lookup, answer) in zip(part, answers) {
                    results[lookup] = participant(answer, of: request, for: lookup)
                }
            } catch {
                guard error.code == .requestRateLimited, !results.isEmpty else { throw error }
                for lookup in part { results[lookup] = .failure(error) }
            }
        }
        return results
    }

    /// Lookups of one request each.
    private static func parts(of lookups: [CKUserIdentity.LookupInfo]) -> [[CKUserIdentity.LookupInfo]] {
        var parts: [[CKUserIdentity.LookupInfo]] = []
        var part: [CKUserIdentity.LookupInfo] = []
        var addressCount = 0
        for lookup in lookups.grouped(by: { $0 }).map(\.key) {
            let isAddress = lookup.userRecordID == nil
            if part.count == itemsMax || isAddress && addressCount == addressesMax {
                parts.append(part)
                (part, addressCount) = ([], 0)
            }
            part.append(lookup)
            if isAddress { addressCount += 1 }
        }
        return part.isEmpty ? parts : parts + [part]
    }

    private func participant(
        _ answer: WireParticipantLookupResult, of request: RequestUUID?, for lookup: CKUserIdentity.LookupInfo
    ) -> Result<CKShare.Participant, CKError> {
        switch answer.result {
        case .person(let person): .success(CKShare.Participant.make(person, for: lookup))
        case .failure(let failure): .failure(CKError(failure, to: request))
        case nil: .failure(Self.wrongAnswer(to: .fetchShareParticipants))
        }
    }

    private func find(
        _ lookups: [CKUserIdentity.LookupInfo]
    ) async throws(CKError) -> ([WireParticipantLookupResult], to: RequestUUID?) {
        var request = WireFetchShareParticipants()
        request.lookups = lookups.map { WireParticipantLookup($0) }
        let reply = try await self.request { [request] _ in .fetchShareParticipants(request) }
        guard case .fetchShareParticipants(let answer) = reply.answer, answer.results.count == lookups.count else {
            throw Self.wrongAnswer(to: .fetchShareParticipants)
        }
        return (answer.results, reply.request)
    }
}

extension CKRecord {
    /// Leaves out what only participants can read: who looks at metadata has no keys. Only for a record that nobody has
    /// seen yet.
    fileprivate func withoutEncryptedValues() -> CKRecord {
        guard originalFields.hasEncryptedValues else { return self }
        let open: [Field] = originalFields.compactMap { entry in
            entry.isEncrypted ? nil : (try? entry.value()).map { Field(entry.key, $0) }
        }
        replaceOriginal((try? FieldMap(open, keys: keyRule)) ?? FieldMap())
        return self
    }
}
