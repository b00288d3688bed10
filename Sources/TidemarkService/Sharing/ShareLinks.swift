// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
internal import TidemarkDomain
internal import TidemarkFairness

/// The secret at the end of a share's URL.
enum ShareLinkSecret {
    /// Nobody can guess so many random bytes. Whoever has them may join a public share.
    static let byteCount = 16
}

extension RecordsRequest {
    /// Whether it may make a share. Owners alone do, in their private databases.
    func makesShare(within limits: Limits) -> Bool {
        access.scope == .private && saves.contains { makesShare($0, within: limits) }
    }

    private func makesShare(_ save: RecordSave, within limits: Limits) -> Bool {
        guard let share = save.share, share.tag == nil else { return false }
        return share.refusal(in: access.scope, zoneNamed: key.name, within: limits) == nil
    }

    /// The same, with a secret for the URL of the share that it makes.
    fileprivate func with(freshSecret: [UInt8], within limits: Limits) -> RecordsRequest {
        let saves = saves.map { makesShare($0, within: limits) ? $0.with(freshSecret: freshSecret) : $0 }
        return RecordsRequest(
            id: id, key: key, saves: saves, deletes: deletes, policy: policy, isAtomic: isAtomic, user: user,
            access: access, clientToken: clientToken)
    }
}

extension CloudService {
    /// As ``modifyRecords(_:for:askedBy:)``, for parts of which some may make shares.
    ///
    /// The link of a share leads to its zone before the share is there. A link that no share takes over grants nothing.
    func modifyRecordsWithLinks(
        _ parts: [RecordsRequest], for owner: WorkOwner, askedBy asker: Asker
    ) async -> [Result<RecordsOutcome, FailureReason>] {
        var answers: [Result<Answer<WriteCoordinator.Outcome>, FailureReason>] = []
        for part in parts {
            let linked = part.makesShare(within: limits) ? await givingLink(part) : .success(part)
            answers.append(linked.map { writeCoordinator.submit($0, for: owner, askedBy: asker) })
        }
        var outcomes: [Result<RecordsOutcome, FailureReason>] = []
        for answer in answers {
            switch answer {
            case .success(let answer): outcomes.append(await answer.value())
            case .failure(let reason): outcomes.append(.failure(reason))
            }
        }
        return outcomes
    }

    private func givingLink(_ part: RecordsRequest) async -> Result<RecordsRequest, FailureReason> {
        let secret = SecureRandom.bytes(ShareLinkSecret.byteCount)
        return await retry.run { () async throws(StorageError) in
            let isPointed = try await storage.pointLink(
                secretHash: SHA256.hash(secret), to: part.key, atMost: limits.untakenLinksMax)
            guard isPointed else {
                let removals = try await storage.removals(ofZones: [part.key.name], in: part.key.database)
                return .failure(.missingZone(removals[part.key.name]))
            }
            return .success(part.with(freshSecret: secret, within: limits))
        }
    }
}
