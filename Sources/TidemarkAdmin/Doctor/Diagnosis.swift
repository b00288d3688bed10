// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkStore

/// What facts of the store say about its health. Each function is pure.
enum Diagnosis {
    /// Dead rows that a table may have beside a fifth of its rows, as autovacuum allows.
    static let deadRowsMin: Int64 = 10_000
    static let transactionSecondsMax: Double = 600
    static let clockMillisecondsMax: Int64 = 2_000

    // MARK: PostgreSQL

    /// - Parameter connectionsNeeded: those of all servers together.
    static func findings(of facts: DatabaseFacts, connectionsNeeded: Int) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        let version = PostgresVersion(facts.version)
        if version < .oldest {
            findings.append(
                DoctorFinding(
                    .postgresVersion, .error,
                    "PostgreSQL is \(version), and Tidemark needs \(PostgresVersion.oldest.major) or later.",
                    remedy: "Upgrade PostgreSQL."))
        }
        if facts.settings["fsync"] == "off" {
            findings.append(
                DoctorFinding(
                    .fsyncOff, .error, "PostgreSQL does not wait for the disk: a crash loses or damages data.",
                    remedy: "Set fsync = on in postgresql.conf and restart PostgreSQL."))
        }
        if facts.settings["full_page_writes"] == "off" {
            findings.append(
                DoctorFinding(
                    .fullPageWritesOff, .error, "A crash of the machine may leave torn pages.",
                    remedy: "Set full_page_writes = on in postgresql.conf and reload PostgreSQL."))
        }
        if facts.settings["autovacuum"] == "off" {
            findings.append(
                DoctorFinding(
                    .autovacuumOff, .error, "PostgreSQL removes no dead rows: tables grow, and it stops in the end.",
                    remedy: "Set autovacuum = on in postgresql.conf and reload PostgreSQL."))
        }
        if let setting = facts.settings["synchronous_commit"], ["off", "local", "remote_write"].contains(setting) {
            findings.append(
                DoctorFinding(
                    .synchronousCommitOff, .error,
                    "Connections of Tidemark have synchronous_commit = \(setting): a crash loses what was answered.",
                    remedy: "Let nothing between Tidemark and PostgreSQL, such as a pooler, change its settings."))
        }
        findings += connections(facts, needed: connectionsNeeded)
        if let seconds = facts.oldestTransactionSeconds, seconds > transactionSecondsMax {
            findings.append(
                DoctorFinding(
                    .transactionOld, .warning,
                    "A transaction has been open for \(Int(seconds)) seconds. While it is, no dead rows are removed.",
                    remedy: "Find it in pg_stat_activity, and end its program if it hangs."))
        }
        return findings
    }

    static let migrationsMissing = DoctorFinding(
        .migrationsMissing, .error,
        "The database does not have this version's tables, so only PostgreSQL was looked at.",
        remedy: "Run `tidemark migrate` with the same database URL.")

    /// - Parameters:
    ///   - servers: those that are connected.
    ///   - known: how many migrations this program knows.
    static func findings(of servers: [ListeningServer], known: Int) -> [DoctorFinding] {
        let older = servers.filter { $0.isOlder(than: known) }
        guard !older.isEmpty else { return [] }
        let names = older.prefix(serversToldMax).map { $0.name.isEmpty ? "one without a name" : $0.name }
        let rest = older.count > names.count ? " and \(older.count - names.count) more" : ""
        let lacksHierarchies = older.contains { $0.isOlder(than: Migrations.hierarchies) }
        return [
            DoctorFinding(
                .serversMixed, .warning,
                "Of \(Amount.text(servers.count, "server")) that are connected, \(older.count) of an older version: "
                    + names.joined(separator: ", ") + rest + "."
                    + (lacksHierarchies ? " Until they end, no part of a zone can be shared." : ""),
                remedy: "Replace the program there, and restart these servers.")
        ]
    }

    /// Names of servers in one finding.
    private static let serversToldMax = 10

    private static func connections(_ facts: DatabaseFacts, needed: Int) -> [DoctorFinding] {
        guard let all = facts.settings["max_connections"].flatMap({ Int($0) }) else { return [] }
        let reserved = facts.settings["superuser_reserved_connections"].flatMap { Int($0) } ?? 3
        guard all - reserved < needed else { return [] }
        return [
            DoctorFinding(
                .connectionsFew, .error,
                "PostgreSQL allows \(all - reserved) connections, and the servers may need \(needed).",
                remedy: "Raise max_connections, or lower serve --loops and --database-connections.")
        ]
    }

    /// - Parameter expected: the indexes that the migrations make.
    static func findings(of relations: [RelationSize], expected: Set<String>) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        for relation in relations {
            if relation.table != nil, !relation.isValid {
                findings.append(
                    DoctorFinding(
                        .indexInvalid, .error, "The index \(relation.name) is not whole, so no query uses it.",
                        remedy: "REINDEX INDEX CONCURRENTLY \(relation.name);"))
            }
            if relation.table == nil, relation.deadRows > deadRowsMin + relation.liveRows / 5 {
                findings.append(
                    DoctorFinding(
                        .deadRows, .warning,
                        "The table \(relation.name) has \(relation.deadRows) dead rows beside \(relation.liveRows).",
                        remedy: "Look for old transactions, and run VACUUM \(relation.name);"))
            }
        }
        for name in expected.subtracting(relations.map(\.name)).sorted() {
            findings.append(
                DoctorFinding(
                    .indexMissing, .error, "The index \(name) is missing.",
                    remedy: "Make it as the files in migrations/ say."))
        }
        return findings
    }

    // MARK: What is counted

    static func findings(of zone: ZoneSums) -> [DoctorFinding] {
        let name = "\(zone.key.name) of database \(zone.key.database.rawValue)"
        var findings: [DoctorFinding] = []
        if zone.newestChange > zone.head {
            findings.append(
                DoctorFinding(
                    .zoneHead, .error,
                    "The zone \(name) is at change \(zone.head), and has a record of change \(zone.newestChange).",
                    remedy: "Restore from a backup, or run tidemark admin store renew-incarnation."))
        }
        if zone.byteCount != zone.byteSum || zone.tombstoneBytes != zone.tombstoneSum {
            findings.append(
                DoctorFinding(
                    .zoneBytes, .warning,
                    "The zone \(name) counts \(zone.byteCount) bytes of records and \(zone.tombstoneBytes) of tombstones, "
                        + "and has \(zone.byteSum) and \(zone.tombstoneSum).",
                    remedy: "If it is so again in a while, quotas are wrong there: report it."))
        }
        return findings
    }

    static func finding(assetsOf database: DatabaseID, counted: Int64, sum: Int64) -> DoctorFinding {
        DoctorFinding(
            .assetBytes, .warning,
            "The database \(database.rawValue) counts \(counted) bytes of assets, and has \(sum).",
            remedy: "If it is so again in a while, quotas are wrong there: report it.")
    }

    static func finding(_ difference: PublicUseDifference) -> DoctorFinding {
        let others =
            difference.count == 1
            ? "" : ", and of \(Amount.text(difference.count - 1, "other user")) something else too"
        return DoctorFinding(
            .publicBytes, .warning,
            "The public database \(difference.database.rawValue) counts \(difference.counted) bytes of the user "
                + "\(difference.user.rawValue), who has created \(difference.sum)\(others).",
            remedy: "Stop the older servers, and run tidemark admin store mend. If it is so again, report it.")
    }

    // MARK: Time

    /// - Parameters:
    ///   - here: the time of this machine, before and after PostgreSQL was asked.
    ///   - there: PostgreSQL's.
    static func clock(here: ClosedRange<Int64>, there: Int64) -> [DoctorFinding] {
        let difference = there < here.lowerBound ? here.lowerBound - there : max(0, there - here.upperBound)
        guard difference > clockMillisecondsMax else { return [] }
        return [
            DoctorFinding(
                .clockOff, .warning,
                "The clocks of this machine and of PostgreSQL differ by \(difference / 1_000) seconds.",
                remedy: "Let both machines take the time from a time server.")
        ]
    }

    static func credentials(expired: Int, soon: Int) -> [DoctorFinding] {
        var findings: [DoctorFinding] = []
        if expired > 0 {
            findings.append(
                DoctorFinding(
                    .credentialsExpired, .warning, "\(Amount.text(expired, "credential")) expired and not revoked.",
                    remedy: "Issue others where devices still need them: tidemark admin credentials list ACCOUNT."))
        }
        if soon > 0 {
            findings.append(
                DoctorFinding(
                    .credentialsExpiring, .warning, "\(Amount.text(soon, "credential")) will expire within a week.",
                    remedy: "Issue others in time: tidemark admin credentials list ACCOUNT."))
        }
        return findings
    }

    // MARK: Files

    /// - Parameters:
    ///   - mode: its permissions; nil: there is no such file.
    ///   - forbidden: permissions that it must not have.
    static func file(_ path: String, _ what: String, mode: UInt32?, forbidden: UInt32) -> [DoctorFinding] {
        guard let mode else {
            return [
                DoctorFinding(
                    .fileMissing, .error, "There is no \(what) at \(path).",
                    remedy: "Check the path, or restore it from a backup.")
            ]
        }
        guard mode & forbidden != 0 else { return [] }
        let kept = String(mode & ~forbidden & 0o777, radix: 8)
        return [
            DoctorFinding(
                .fileMode, .error, "Others than its user may use the \(what) at \(path).",
                remedy: "chmod \(kept) \(path)")
        ]
    }
}
