// SPDX-License-Identifier: Apache-2.0

/// What an engine tells its server's operator of itself. CloudKit has no such setting.
extension CKSyncEngine.Configuration {
    /// Whether the engine tells its server how many changes it has not sent yet, what it waits for, and the code of its last
    /// error: true by default.
    ///
    /// It does so at most once a minute, and only if the server asks for it. An operator sees it when somebody asks why a
    /// device is behind (`tidemark admin xray`). No names and no contents of records are told.
    public var reportsPendingChanges: Bool {
        get { reports }
        set { reports = newValue }
    }
}
