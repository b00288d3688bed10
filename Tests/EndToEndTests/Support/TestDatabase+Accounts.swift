// SPDX-License-Identifier: Apache-2.0

import TidemarkPostgres
import TidemarkTestSupport

extension TestDatabase {
    /// From now on reading the accounts takes as long as a statement may.
    func holdUpAccounts() throws {
        try PostgresAdministration.execute(
            [
                "ALTER TABLE account RENAME TO account_itself",
                "CREATE VIEW account AS SELECT * FROM account_itself WHERE (SELECT 1 FROM pg_sleep(60)) = 1",
            ], url: url)
    }

    /// Whether somebody reads them now.
    var isHeldUp: Bool {
        holds("EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep')")
    }
}
