// SPDX-License-Identifier: Apache-2.0

import TidemarkPostgres

/// What a database has, beside the servers.
enum StoredRows {
    /// Whether a query finds a row.
    static func exist(_ query: String, url: String) throws -> Bool {
        let mark = "there is a row"
        do {
            try PostgresAdministration.execute(
                ["DO $$ BEGIN IF EXISTS (\(query)) THEN RAISE EXCEPTION '\(mark)'; END IF; END $$"], url: url)
            return false
        } catch {
            guard error.detail.contains(mark) else { throw error }
            return true
        }
    }
}
