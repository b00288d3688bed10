// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkFairness

/// Reads the parts of a client's request again once the server knows the users whom they invite.
package typealias PartsCompletion = @Sendable () async -> Result<[RecordsRequest], FailureReason>

extension CloudService {
    /// Saves and deletes records.
    ///
    /// The parts of a client's request, one for each zone, are independent of each other. Each is written to
    /// its zone's database. A part that fails as a whole has a reason instead of an outcome. A part whose items fail
    /// has an outcome that says which. All parts are queued before this suspends, so one device's requests to a zone
    /// keep the order of the calls. Only a part that saves a CKShare may wait before it is queued. It waits for the
    /// share's link, and until the users whom it invites are known.
    ///
    /// - Parameters:
    ///   - owner: whose share of the queue the parts take.
    ///   - asker: the client that waits. Work that was not started when it leaves is not carried out.
    ///   - gates: where steps other than the writes wait.
    ///   - room: for the server's records that come with the outcomes. The caller leaves it when it needs them no more.
    ///     Nil: all of them come.
    ///   - completing: nil if no part invites a user. Otherwise it gives the same parts in the same order. It is called once
    ///     all parts without a CKShare are queued.
    /// - Returns: one for each part, in order.
    package func modifyRecords(
        _ parts: [RecordsRequest], for owner: WorkOwner, askedBy asker: Asker = Asker(),
        at gates: SharingGates = SharingGates(), room: RecordsRoom? = nil, completing: PartsCompletion? = nil
    ) async -> [Result<RecordsOutcome, FailureReason>] {
        if let reason = RecordsRequest.refusal(of: parts, within: limits) { return parts.map { _ in .failure(reason) } }
        let parts = ShareLinkSecret.giving(parts)
        if completing != nil || parts.contains(where: { $0.access.scope == .shared || $0.makesShare(within: limits) }) {
            let work = SharedParts(service: self, owner: owner, asker: asker, gates: gates, room: room)
            return await work.modify(parts, completing: completing)
        }
        let wait = storeWatch?.begin()
        defer { wait?.end() }
        let cause = ChangeCause.current
        let answers = parts.map { writeCoordinator.submit($0, for: owner, askedBy: asker, room: room, cause: cause) }
        var outcomes: [Result<RecordsOutcome, FailureReason>] = []
        for answer in answers { outcomes.append(await answer.value()) }
        return outcomes
    }
}
