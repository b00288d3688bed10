// SPDX-License-Identifier: Apache-2.0

/// The shares of one zone, as a transaction has read them and its requests have changed them so far.
struct ShareTable: Sendable {
    let zone: ZoneState
    private(set) var sharing: ZoneSharing
    /// The rows of the owner's account that count for ``Limits/sharingRowsMax``. Rows that transactions in its other zones add at the same
    /// time are not seen. So they may pass the bound by that number.
    private var rowCount: Int
    /// How they have changed since, in this order.
    private(set) var changes: [SharingChanges] = []

    /// Nil if the zone does not live, or if its shares were not read.
    init?(_ snapshot: ZoneSnapshot) {
        guard let zone = snapshot.zone, let sharing = snapshot.sharing else { return nil }
        self.zone = zone
        self.sharing = sharing
        rowCount = snapshot.sharingRowCount
    }

    /// Whether the owner's account has room for this many more rows.
    func hasRoom(for count: Int, within limits: Limits) -> Bool {
        count <= 0 || rowCount + count <= limits.sharingRowsMax
    }

    mutating func take(_ changes: SharingChanges) {
        self.changes.append(changes)
        rowCount += changes.addedRowCount
        sharing = sharing.applying(changes)
    }

    /// a CKShare record and its share end together, whatever deletes the record.
    ///
    /// - Returns: the share that ended; nil: none.
    mutating func follow(_ version: RecordState) -> ShareNumber? {
        guard version.isDeleted, Share.isType(version.type),
            let ending = sharing.ending(shareNamed: version.name, at: version.changeNumber)
        else { return nil }
        take(ending)
        return ending.share
    }
}
