// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkFairness

extension CloudService {
    /// Saves and deletes records.
    ///
    /// The parts of a client's request, one for each zone, are independent of each other. Each is written to
    /// its zone's database. A part that fails as a whole has a reason instead of an outcome. A part whose items fail
    /// has an outcome that says which. All parts are queued before this suspends, so one device's requests to a zone
    /// keep the order of the calls. Only a part that makes a share waits for the share's link first.
    ///
    /// - Parameters:
    ///   - owner: whose share of the queue the parts take.
    ///   - asker: who waits. What is not begun when it has left is not carried out.
    /// - Returns: one for each part, in order.
    package func modifyRecords(
        _ parts: [RecordsRequest], for owner: WorkOwner, askedBy asker: Asker = Asker()
    ) async -> [Result<RecordsOutcome, FailureReason>] {
        if let reason = RecordsRequest.refusal(of: parts, within: limits) { return parts.map { _ in .failure(reason) } }
        if parts.contains(where: { $0.makesShare(within: limits) }) {
            return await modifyRecordsWithLinks(parts, for: owner, askedBy: asker)
        }
        let answers = parts.map { writeCoordinator.submit($0, for: owner, askedBy: asker) }
        var outcomes: [Result<RecordsOutcome, FailureReason>] = []
        for answer in answers { outcomes.append(await answer.value()) }
        return outcomes
    }
}
