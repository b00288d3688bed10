// SPDX-License-Identifier: Apache-2.0

/// The state that an engine reports to its server's operator. CloudKit has no such setting.
extension CKSyncEngine.Configuration {
    /// Whether the engine reports three things to its server: the number of unsent changes, what it waits for, and the code of its last
    /// error. Default true.
    ///
    /// It does so at most once a minute, and only if the server asks for it. An operator sees it when somebody asks why a device is behind
    /// (`tidemark admin xray`). It reports no names and no contents of records.
    public var reportsPendingChanges: Bool {
        get { reports }
        set { reports = newValue }
    }
}
