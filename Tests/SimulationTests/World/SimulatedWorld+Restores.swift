// SPDX-License-Identifier: Apache-2.0

import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport

/// The store is lost, and comes back as it was.
extension SimulatedWorld {
    /// More would only take more time.
    private static let restoresMax = 3

    /// At any moment, as `pg_dump` does.
    func backUp() {
        backup = (database.backUp(), history.backup, sharing)
    }

    /// As `deploy/README.md` says: no server runs meanwhile, and the store begins another life before one starts. What the
    /// servers had under way is void, wherever it was.
    func restore() {
        guard let backup, !isAdmitting, restoreCount < Self.restoresMax else { return }
        restoreCount += 1
        for server in servers { server.crash() }
        database.restore(backup.store, renewsLife: planted != .storeLifeKept)
        history.goBack(to: backup.history, in: database.incarnation)
        if let sharing = backup.sharing { self.sharing?.goBack(to: sharing, at: history.length) }
        note("the store is restored: \(database.incarnation)")
        let pause = delay()
        scheduler.run { [self] in
            await scheduler.pass(pause)
            for server in servers where !server.isUp { await server.start() }
        }
    }
}
