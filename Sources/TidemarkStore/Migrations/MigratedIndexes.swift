// SPDX-License-Identifier: Apache-2.0

extension Migrations {
    /// The names of the indexes that exist after all steps, without those of keys.
    package static var indexNames: Set<String> {
        var names: Set<String> = []
        for migration in all {
            for match in migration.sql.matches(of: /(?m)^(CREATE|DROP)(?: UNIQUE)? INDEX (\w+)/) {
                let name = String(match.2)
                if match.1 == "CREATE" { names.insert(name) } else { names.remove(name) }
            }
        }
        return names
    }
}
