// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// Where the steps of a request that are not in the queue of writes wait for a turn of the request's owner. Nil:
/// such a step does not wait.
package struct SharingGates: Sendable {
    /// For looks at the access to zones of others.
    let reads: FairGate?
    /// The gate for reads and writes before a CKShare is saved.
    let changes: FairGate?

    package init(reads: FairGate? = nil, changes: FairGate? = nil) {
        self.reads = reads
        self.changes = changes
    }
}

extension CloudService {
    /// Does one step of a request in a turn of the request's owner.
    ///
    /// - Returns: `tooManyRequests` if the turn does not come. `storeUnavailable` if the asker has left in between, so that nobody waits
    ///   for the step.
    func inTurn<Value: Sendable>(
        _ turn: WorkTurn, askedBy asker: Asker, _ step: () async -> Result<Value, FailureReason>
    ) async -> Result<Value, FailureReason> {
        do throws(StorageError) {
            try await turn.enter()
        } catch {
            return .failure(error.code.reason)
        }
        defer { turn.leave() }
        return asker.hasLeft ? .failure(.storeUnavailable) : await step()
    }

    /// The same for each item, in order. Once no turn comes, the rest fails as well.
    func eachInTurn<Item, Value: Sendable>(
        _ items: [Item], _ turn: WorkTurn, askedBy asker: Asker,
        _ step: (Item) async -> Result<Value, FailureReason>
    ) async -> [Result<Value, FailureReason>] {
        var results: [Result<Value, FailureReason>] = []
        for item in items {
            let result = await inTurn(turn, askedBy: asker) { await step(item) }
            results.append(result)
            guard case .failure(.tooManyRequests) = result else { continue }
            let rest = items.count - results.count
            return results + [Result<Value, FailureReason>](repeating: .failure(.tooManyRequests), count: rest)
        }
        return results
    }
}
