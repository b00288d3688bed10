// SPDX-License-Identifier: Apache-2.0

package import TidemarkWire

extension WireRequestStamp {
    /// Of a request whose forerunners were all answered.
    package init(counter: UInt64) {
        self.init()
        self.counter = counter
        lowestUnanswered = counter
    }
}

extension WireModifyRecords {
    /// Saves whatever a zone of the private database has.
    package init(saving saves: [WireRecordSave], in zone: WireZoneID, _ stamp: WireRequestStamp) {
        var part = WireZoneModifications()
        part.zone = zone
        part.saves = saves
        self.init()
        database = .private
        self.stamp = stamp
        policy = .allKeys
        zones = [part]
    }
}
