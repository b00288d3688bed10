// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkPostgres
package import TidemarkService

extension AdminStore {
    /// Writes that an operator is about to do something. It is durable before anything is done.
    package func beginAudit(_ action: AuditAction) async throws(StorageError) -> Int64 {
        let begun = try await storage.write(sql.audit.begin(action))
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

    /// Rows of the audit, newest first.
    ///
    /// - Parameters:
    ///   - before: only older ones than this row; nil: from the newest on.
    ///   - countMax: of one page.
    package func audit(
        _ filter: AuditFilter, before: Int64?, countMax: Int
    ) async throws(StorageError) -> [AuditEntry] {
        try await storage.read(
            sql.audit.page(
                (
                    before ?? .max, filter.since, filter.who, filter.kind != .signIn, filter.kind != .action,
                    filter.failuresOnly, countMax
                )))
    }
}

extension PostgresStorage {
    package func noteRefusedSignIn(
        credentialHash: [UInt8], device: DeviceID, from address: String, now: Timestamp
    ) async throws(StorageError) {
        _ = try await write(
            sql.audit.noteRefusal((credentialHash, device, AuditAction.bounded(address), now, Self.hour(of: now))))
    }

    static func hour(of time: Timestamp) -> Int64 { time.milliseconds / 3_600_000 }

    /// Forgets rows of the audit from before a time, in steps: there may be very many, and a statement has its time.
    package func forgetAudit(before deadline: Timestamp) async throws(StorageError) {
        while try await write(sql.audit.forget((deadline, Self.auditOfStep))).rows.count == Self.auditOfStep {}
    }

    private static let auditOfStep = 1_000
}
