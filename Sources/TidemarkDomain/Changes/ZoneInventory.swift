// SPDX-License-Identifier: Apache-2.0

/// A question for the names and versions of a zone's records, a page of them.
package struct ZoneListing: Sendable, Equatable {
    /// The name after which the page begins, by its bytes; empty: with the first.
    package let after: String
    /// The most rows that are looked at. Those of deleted records are left out.
    package let rowsMax: Int

    package init(after: String, rowsMax: Int) {
        self.after = after
        self.rowsMax = rowsMax
    }
}

/// A store's data of all records of a zone, without their fields, in one snapshot.
package struct ZoneInventory: Sendable, Equatable {
    /// A living record.
    package struct Version: Sendable, Equatable {
        package let name: String
        package let number: ChangeNumber

        package init(name: String, number: ChangeNumber) {
            self.name = name
            self.number = number
        }
    }

    /// The zone, at the change number to which everything here belongs.
    package let zone: ZoneState
    /// How many living records there are; 0 if the digest is not known, because then nobody has counted them.
    package let recordCount: Int64
    /// 16 bytes; nil if it is not known, because a server that does not keep it has written in the zone.
    package let digest: [UInt8]?
    /// By name; empty if nobody asked for them.
    package var versions: [Version] = []
    /// The name of the last row that was looked at, if there may be more after it.
    package var next: String?

    package init(zone: ZoneState, recordCount: Int64, digest: [UInt8]?) {
        self.zone = zone
        self.recordCount = recordCount
        self.digest = digest
    }
}
