// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

extension WirePendingReport {
    /// An engine's report of its state.
    init(_ report: SyncEngineReport) {
        self.init()
        saves = UInt32(clamping: report.saveCount)
        deletes = UInt32(clamping: report.deleteCount)
        databaseChanges = UInt32(clamping: report.databaseChangeCount)
        lastError = UInt32(clamping: report.lastError)
        waitsFor =
            switch report.wait {
            case .nothing: .waitsForNothing
            case .connection: .waitsForConnection
            case .account: .waitsForAccount
            case .delay: .waitsForDelay
            case .quota: .waitsForQuota
            case .app: .waitsForApp
            }
    }
}
