// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
package import TidemarkFairness
internal import TidemarkScheduling

extension CloudService {
    /// Counts the links to which an account wants to ask for access.
    ///
    /// - Returns: how long it must wait before; nil: it may ask now.
    package func delay(ofAccessRequests count: Int, by owner: WorkOwner) -> Duration? {
        guard count > 0 else { return nil }
        return sharedWrites.accessRequests.withLock {
            $0.take(count, for: owner, atMost: limits.requestedLinksMax, now: scheduler.now)
        }
    }

    /// Asks for access to the shares to which links lead: one result for each, in order.
    ///
    /// It succeeds alike whether there is such a share, it takes requests, and the user is not blocked. The answer comes at a
    /// multiple of ``Limits/accessRequestStep``, so that the time of a write does not tell it either.
    ///
    /// - Parameters:
    ///   - secrets: of the links. Nil: a text that is not a link.
    ///   - turn: each link waits for it again.
    package func requestAccess(
        toLinks secrets: [[UInt8]?], for bearer: LinkBearer, askedBy asker: Asker = Asker(),
        in turn: WorkTurn = WorkTurn(of: .nobody)
    ) async -> Result<[Result<Void, FailureReason>], FailureReason> {
        guard secrets.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        let begin = scheduler.now
        let answer = await inTurn(turn, askedBy: asker) { await visitor(bearer) }.asyncMap { visitor in
            await eachInTurn(secrets, turn, askedBy: asker) { secret in
                await ask(secret, as: visitor, for: bearer, in: turn, askedBy: asker)
            }
        }
        if !asker.hasLeft { await waitForStep(since: begin) }
        return answer
    }

    private func ask(
        _ secret: [UInt8]?, as visitor: ShareVisitor, for bearer: LinkBearer, in turn: WorkTurn,
        askedBy asker: Asker
    ) async -> Result<Void, FailureReason> {
        let looked = await retry.run(askedBy: asker) { () async throws(StorageError) in
            .success(try await lookedUp(secret, for: visitor, in: bearer.viewer))
        }
        return await looked.asyncFlatMap { visitor, read in
            let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
            switch visitor.requesting(in: read?.sharing, at: 0, now: now, limits: limits) {
            case .failure(let reason): return .failure(reason)
            case .success(nil): return .success(())
            case .success: break
            }
            guard let key = read?.zone.key else { return .success(()) }
            // Decided again under the zone's lock.
            let action = ShareAction.requestAccess(visitor)
            return await perform(action, on: key, for: bearer, in: turn, askedBy: asker).map { _ in () }
        }
    }

    /// Until the next multiple of ``Limits/accessRequestStep`` since then.
    private func waitForStep(since begin: Duration) async {
        let step = limits.accessRequestStep
        guard step > .zero else { return }
        let elapsed = max(.zero, scheduler.now - begin)
        let next = step * (Int((elapsed / step).rounded(.down)) + 1)
        // A device whose connection ends in between needs no answer.
        try? await scheduler.sleep(for: next - elapsed)
    }
}
