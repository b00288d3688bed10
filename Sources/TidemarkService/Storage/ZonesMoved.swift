// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// "Zone Z of database D changed": what a server tells the others after a commit. Of a shared database: its list of zones, or
/// its subscriptions, have changed.
package struct ZoneNotice: Sendable, Hashable {
    package let database: DatabaseID
    /// The life of the device that made the change, which gets no push, as ``RecordsRequest/memoryLife``.
    /// `nobody` if several made changes, or an operator did: then all are told.
    package let life: DeviceID
    /// Empty if the set of zones changed rather than a zone's records.
    package let zoneName: String
    /// Whether the zone's shares changed too, so that some users may have lost access, or have it again.
    package let changesShares: Bool

    package init(database: DatabaseID, life: DeviceID, zoneName: String, changesShares: Bool = false) {
        self.database = database
        self.life = life
        self.zoneName = zoneName
        self.changesShares = changesShares
    }
}

/// By which a server knows whether anything changed in a database.
package struct ChangeMark: Sendable, Equatable {
    /// The sum of its zones' change numbers, and of zone creations and ends. Of a shared database: a hash of its zones and
    /// their numbers, of which nothing is known but whether it is the same.
    package let value: Int64
    /// The zones that were read for it, with those that have ended. Of a shared database: all in its list.
    package let zoneCount: Int

    package init(value: Int64, zoneCount: Int) {
        self.value = value
        self.zoneCount = zoneCount
    }
}

/// What a commit changed: for pushes to the devices that are connected, and notices to other servers.
package struct ZonesMoved: Sendable {
    package var notices: [ZoneNotice]
    /// What changed in some of these zones.
    package var news: [ZoneNews]
    /// How much the mark of each database grew (``ChangeMark/value``). Not known for databases that are not in it.
    package var growth: [DatabaseID: Int64]

    package init(_ notices: [ZoneNotice], news: [ZoneNews] = [], growth: [DatabaseID: Int64] = [:]) {
        self.notices = notices
        self.news = news
        self.growth = growth
    }
}
