// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkWire

extension PendingReport {
    /// What a device says of itself, at this moment of the server's clock.
    package init(_ report: WirePendingReport, at now: Timestamp) {
        self.init(
            saves: report.saves, deletes: report.deletes, databaseChanges: report.databaseChanges,
            wait: Obstacle(report.waitsFor), lastError: report.lastError, at: now)
    }
}

extension PendingReport.Obstacle {
    fileprivate init(_ wait: WirePendingWait) {
        switch wait {
        // A newer client may wait for something else.
        case .waitsForNothing, .unrecognized: self = .nothing
        case .waitsForConnection: self = .connection
        case .waitsForAccount: self = .account
        case .waitsForDelay: self = .delay
        case .waitsForQuota: self = .quota
        case .waitsForApp: self = .app
        }
    }
}
