// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension AdminStore {
    /// Writes that an operator is about to do something. It is durable before anything is done.
    ///
    /// - Parameter command: the command's UUID.
    package func beginAudit(
        _ action: AuditAction, of command: ChangeCause? = nil
    ) async throws(StorageError) -> Int64 {
        let begun = try await storage.write(sql.audit.begin((action, command)))
        guard let id = begun.rows.first else { throw StorageError(.rejected, detail: "begin_audit") }
        return id
    }

    /// Writes what became of it.
    ///
    /// - Parameter failure: why it was refused, or failed; nil: it is done.
    package func endAudit(_ id: Int64, failure: String?) async throws(StorageError) {
        let detail = AuditAction.bounded(failure ?? "")
        _ = try await storage.writeRepeatably(sql.audit.end((id, failure == nil, detail)))
    }

    /// Some rows of the audit, newest first. There may be very many that are not wanted, so one call looks at a bounded number.
    ///
    /// - Parameters:
    ///   - before: only older ones than this row; nil: from the newest on.
    ///   - countMax: of the rows that are returned.
    /// - Returns: with the row before which the next call begins; nil if there are no more.
    package func audit(
        _ filter: AuditFilter, before: Int64?, countMax: Int
    ) async throws(StorageError) -> (entries: [AuditEntry], next: Int64?) {
        let question = AuditQuestion(
            filter: filter, before: before ?? .max, after: try await firstPlace(of: filter),
            rowsMax: Self.auditRowsOfStep, countMax: countMax)
        let statement =
            if filter.request != nil {
                sql.audit.ofRequest
            } else {
                filter.kind == .action ? sql.audit.actions : sql.audit.page
            }
        let rows = try await storage.read(statement(question))
        let next = rows.last.flatMap { $0.isLast || rows.count == countMax ? $0.entry.id : nil }
        return (rows.filter(\.isWanted).map(\.entry), next)
    }

    private static let auditRowsOfStep = 2_000

    /// Servers write the time of their clocks, so numbers and times are not in the same order to the second.
    private static let clockMillisecondsMax: Int64 = 3_600_000

    /// All wanted rows have larger numbers.
    private func firstPlace(of filter: AuditFilter) async throws(StorageError) -> Int64 {
        let start = filter.since.milliseconds - Self.clockMillisecondsMax
        guard start > 0 else { return 0 }
        return try await storage.read(sql.audit.lastBefore(Timestamp(milliseconds: start))).first ?? 0
    }
}

extension PostgresStorage {
    /// The audit has each closing before servers are told of it. So whatever a server has not heard of is there.
    package func connectionClosings() async throws(StorageError) -> [ConnectionsClosing] {
        try await read(sql.audit.closings((AuditAction.closesConnections, Self.closingsMax)))
    }

    /// Actions that are looked at.
    private static let closingsMax = 1_000

    /// Notes the first refusal of an account's device in an hour; the others leave the row as it is. Credentials that nobody
    /// has count as those of one account.
    package func noteRefusedSignIn(
        credentialHash: [UInt8], device: DeviceID, from address: String, now: Timestamp
    ) async throws(StorageError) {
        _ = try await write(
            sql.audit.noteRefusal(
                (credentialHash, device, AuditAction.bounded(address), now, Self.hour(of: now), .current)))
    }

    static func hour(of time: Timestamp) -> Int64 { time.milliseconds / 3_600_000 }

    /// Forgets rows of the audit from before a time, in steps: there may be very many, and a statement has its time.
    package func forgetAudit(before deadline: Timestamp) async throws(StorageError) {
        while try await write(sql.audit.forget((deadline, Self.auditOfStep))).rows.count == Self.auditOfStep {}
    }

    private static let auditOfStep = 1_000
}
