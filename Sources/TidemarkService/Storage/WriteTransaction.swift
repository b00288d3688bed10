// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// Locked zones, and the data that was read of them. End it with either ``commit(_:)`` or ``rollback()``, exactly once.
package protocol WriteTransaction: AnyObject, Sendable {
    /// One for each read of `beginWrite`, in that order.
    var snapshots: [ZoneSnapshot] { get }

    /// The current incarnation of the store, read by the same transaction after the locks.
    var store: StoreIncarnation { get }

    /// Writes and commits.
    ///
    /// - Throws: ``StorageError/Code/commitUnknown`` if it is not known whether it took place; any other code: it did not.
    func commit(_ changes: [ZoneChanges]) async throws(StorageError)

    func rollback() async
}

/// A moment of a zone. While the zone still has these values, nothing has been written in it since, and its schema is
/// the same.
package struct ZoneMoment: Sendable, Hashable {
    package let store: StoreIncarnation
    package let schema: SchemaStamp
    package let database: DatabaseID
    package let zone: ZoneID
    package let changeNumber: ChangeNumber
    /// See ``ZoneSnapshot/writeNumber``.
    package let writeNumber: Int64
    /// Records that were assumed never to have existed. Neither they nor their tombstones may be there.
    package var absentNames: [String] = []

    package init(
        store: StoreIncarnation, schema: SchemaStamp, database: DatabaseID, zone: ZoneID, changeNumber: ChangeNumber,
        writeNumber: Int64
    ) {
        self.store = store
        self.schema = schema
        self.database = database
        self.zone = zone
        self.changeNumber = changeNumber
        self.writeNumber = writeNumber
    }
}
