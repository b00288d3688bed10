// SPDX-License-Identifier: Apache-2.0

extension CKSyncEngine {
    /// An engine's knowledge: changes that must still be sent, and zones that must still be fetched.
    ///
    /// Everything here is synchronous and may be called from any thread, even in the delegate's callbacks and in the
    /// record provider of a batch.
    public final class State: Sendable {
        private let driver: SyncEngineDriver

        init(driver: SyncEngineDriver) {
            self.driver = driver
        }

        /// Changes of records that must still be sent, oldest first. Changes that are being sent are not included
        ///
        public var pendingRecordZoneChanges: [PendingRecordZoneChange] {
            driver.read { $0.pendingRecords.elements }
        }

        /// Changes of zones that must still be sent, oldest first.
        public var pendingDatabaseChanges: [PendingDatabaseChange] {
            driver.read { $0.pendingZones.elements }.map(\.copied)
        }

        /// Whether the app has changes to send that it does not list as pending.
        ///
        /// While true, the delegate is asked for batches even if nothing is pending. The engine sets it to false when
        /// the delegate was asked, had nothing left, and nothing failed.
        public var hasPendingUntrackedChanges: Bool {
            get { driver.read(\.hasUntrackedChanges) }
            set { driver.update(durably: true) { $0.setUntrackedChanges(newValue, at: $1) } }
        }

        /// Zones whose changes on the server have not been fetched completely.
        public var zoneIDsWithUnfetchedServerChanges: [CKRecordZone.ID] {
            driver.read { $0.unfetchedZones.elements }
        }

        /// Appends changes of records. A change that is already in the list keeps its place. A different change of the
        /// same record is replaced. With automatic sync a send is planned.
        public func add(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
            let isInCallback = driver.isInCallback
            driver.update(durably: true) { $0.add(pendingRecordZoneChanges, isInCallback: isInCallback, at: $1) }
        }

        /// Removes exactly these changes. Others are ignored.
        public func remove(pendingRecordZoneChanges: [PendingRecordZoneChange]) {
            driver.update(durably: true) { $0.remove(pendingRecordZoneChanges, at: $1) }
        }

        /// Appends changes of zones, as ``add(pendingRecordZoneChanges:)`` does for records.
        public func add(pendingDatabaseChanges: [PendingDatabaseChange]) {
            let changes = pendingDatabaseChanges.map(\.copied)
            driver.update(durably: true) { $0.add(changes, at: $1) }
        }

        /// Removes exactly these changes. Others are ignored.
        public func remove(pendingDatabaseChanges: [PendingDatabaseChange]) {
            driver.update(durably: true) { $0.remove(pendingDatabaseChanges, at: $1) }
        }
    }
}
