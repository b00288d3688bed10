// SPDX-License-Identifier: Apache-2.0

/// Something that `tidemark admin doctor` or `tidemark admin store verify` found wrong.
struct DoctorFinding: Sendable, Equatable {
    /// How bad it is.
    enum Severity: String, Sendable, CaseIterable {
        /// It may do harm later, or costs room or time.
        case warning
        /// Data is lost or wrong, or may be at the next crash.
        case error
    }

    /// Never changes, because programs read it.
    enum Code: String, Sendable, CaseIterable {
        case postgresVersion = "postgres-version"
        case fsyncOff = "fsync-off"
        case fullPageWritesOff = "full-page-writes-off"
        case autovacuumOff = "autovacuum-off"
        case synchronousCommitOff = "synchronous-commit-off"
        case migrationsMissing = "migrations-missing"
        case connectionsFew = "connections-few"
        case serversMixed = "servers-mixed"
        case transactionOld = "transaction-old"
        case deadRows = "dead-rows"
        case indexInvalid = "index-invalid"
        case indexMissing = "index-missing"
        case zoneHead = "zone-head"
        case zoneBytes = "zone-bytes"
        case zoneDigest = "zone-digest"
        case zoneDigestUnknown = "zone-digest-unknown"
        case assetBytes = "asset-bytes"
        case publicBytes = "public-bytes"
        case assetFileMissing = "asset-file-missing"
        case assetFileDamaged = "asset-file-damaged"
        case assetRowMissing = "asset-row-missing"
        case assetsUncollected = "assets-uncollected"
        case clockOff = "clock-off"
        case credentialsExpired = "credentials-expired"
        case credentialsExpiring = "credentials-expiring"
        case certificateExpiring = "certificate-expiring"
        case certificateUnreadable = "certificate-unreadable"
        case fileMode = "file-mode"
        case fileMissing = "file-missing"
    }

    let code: Code
    let severity: Severity
    /// One sentence.
    let text: String
    /// What to do.
    let remedy: String

    init(_ code: Code, _ severity: Severity, _ text: String, remedy: String) {
        self.code = code
        self.severity = severity
        self.text = text
        self.remedy = remedy
    }
}
