// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkKit

@Suite struct KeyedListTests {
    private typealias Change = CKSyncEngine.PendingRecordZoneChange
    private typealias Scope = CKSyncEngine.SendChangesOptions.Scope

    @Test func `R-841: in any history the counts that are kept are those of the elements`() {
        var random = SeededRandom()
        let zones = (0..<4).map { CKRecordZone.ID(zoneName: "z\($0)") }
        for _ in 0..<50 {
            var list = KeyedList<Change>()
            var taken: [Change] = []
            for _ in 0..<300 {
                let number = Int.random(in: 0..<40, using: &random)
                let recordID = CKRecord.ID(recordName: "r\(number)", zoneID: zones[number % zones.count])
                let change: Change = Bool.random(using: &random) ? .saveRecord(recordID) : .deleteRecord(recordID)
                switch Int.random(in: 0..<100, using: &random) {
                case 0..<55: list.add(change)
                case 55..<75: if list.remove(change) { taken.append(change) }
                case 75..<95: list.remove(key: recordID)
                case 95..<99:
                    list.restore(taken)
                    taken = []
                default: list.removeAll()
                }
                let elements = list.elements
                #expect(list.count == elements.count, "seed \(random.seed)")
                #expect(list.saveCount == elements.count(where: \.isCountedSave), "seed \(random.seed)")
                for zone in zones {
                    let counted = elements.count { $0.recordID.zoneID == zone }
                    #expect(list.count(in: zone) == counted, "seed \(random.seed)")
                }
                let scopes: [Scope] = [
                    .all, .allExcluding([]), .allExcluding([zones[0], zones[0], zones[2]]),
                    .zoneIDs([zones[1], zones[1], zones[3]]), .zoneIDs([]), .recordIDs([recordID, recordID]),
                ]
                for scope in scopes {
                    let counted = elements.count(where: scope.contains)
                    #expect(list.count(in: scope) == counted, "\(scope), seed \(random.seed)")
                }
            }
        }
    }
}
