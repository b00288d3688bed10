// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkCrypto
import TidemarkDomain

@testable import TidemarkKit

/// Two sides of a zone, compared.
@Suite struct ZoneDifferenceTests {
    private static let store = StoreIncarnation(1)
    private let token = CKServerChangeToken(
        bytes: ChangeToken.zone(
            ZoneKey(database: DatabaseID(9), name: "A"), viewer: nil, store: store,
            position: .init(zone: ZoneID(3), number: 9, begunAt: 0)
        ).bytes)

    /// As servers make them, and apps know them.
    private func tag(_ number: ChangeNumber, zone: Int64 = 3, store: StoreIncarnation = store) -> String {
        Base64.encodeURLSafe(ChangeTag.version(store: store, zone: ZoneID(zone), number: number).bytes)
    }

    private func difference(_ held: [String: String]) -> ZoneDifference {
        let tags = Dictionary(uniqueKeysWithValues: held.map { (recordID("A/\($0.key)"), $0.value) })
        return ZoneDifference(tags, in: zone("A"), at: token)
    }

    private func inventory(_ versions: [(String, UInt64)]) -> SyncEngineInventory {
        var digest = VersionDigest()
        for (name, number) in versions { digest.toggle(name, number) }
        return SyncEngineInventory(token: token, recordCount: UInt64(versions.count), digest: digest.bytes)
    }

    private func report(
        _ held: [String: String], _ versions: [(String, UInt64)], pending: [String] = []
    ) -> TidemarkZoneComparison {
        var difference = difference(held)
        // In two pages.
        difference.take(versions.prefix(1).map { (name: $0.0, number: $0.1) })
        difference.take(versions.dropFirst().map { (name: $0.0, number: $0.1) })
        let comparison = TidemarkZoneComparison(zoneID: zone("A"), serverRecordCount: difference.namedCount)
        return difference.report(comparison, pending: Set(pending.map { recordID("A/\($0)") }))
    }

    @Test func `R-845: the same versions have one digest, and others another`() {
        let versions: [(String, UInt64)] = [("1", 4), ("2", 9)]
        #expect(difference(["1": tag(4), "2": tag(9)]).isSame(as: inventory(versions)))
        // A tag of the store before its restore is of the version that was in the backup.
        #expect(difference(["1": tag(4, store: StoreIncarnation(7)), "2": tag(9)]).isSame(as: inventory(versions)))
        for held in [
            ["1": tag(4)], ["1": tag(4), "2": tag(8)], ["1": tag(9), "2": tag(4)], [:],
            ["1": tag(4), "2": tag(9), "3": tag(5)], ["1": tag(4), "2": tag(9, zone: 4)], ["1": tag(4), "2": "?"],
        ] {
            #expect(!difference(held).isSame(as: inventory(versions)), "\(held)")
        }
        // A server that does not know its digest says nothing.
        let unknown = SyncEngineInventory(token: token, recordCount: 2, digest: [])
        #expect(!difference(["1": tag(4), "2": tag(9)]).isSame(as: unknown))
        let listed = report(["1": tag(4), "2": tag(9)], versions)
        #expect(listed.isEqual && listed.serverRecordCount == 2, "it is what the server names")
    }

    @Test func `R-845: what is missing here, there, or different is told apart, and so is what is pending`() {
        let held = ["1": tag(1), "2": tag(2), "3": tag(3), "old": tag(4, zone: 2), "p": tag(5), "q": tag(6)]
        let versions: [(String, UInt64)] = [("1", 1), ("2", 8), ("4", 4), ("old", 4), ("p", 9), ("r", 7)]
        let found = report(held, versions, pending: ["p", "q", "r", "1", "other"])
        #expect(found.missingHere == [recordID("A/4")])
        #expect(found.missingThere == [recordID("A/3")])
        #expect(found.different == [recordID("A/2"), recordID("A/old")])
        #expect(Set(found.pending) == [recordID("A/p"), recordID("A/q"), recordID("A/r")])
        #expect(!found.isEqual && found.serverRecordCount == 6)
        let unsent = report(["1": tag(1)], [("1", 1), ("p", 2)], pending: ["p"])
        #expect(unsent.isEqual && unsent.pending == [recordID("A/p")])
    }

    @Test func `R-845: in random histories the difference is what it is by definition, and none has one digest`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var (held, versions): ([String: String], [(String, UInt64)]) = ([:], [])
            var (here, there, other): (Set<String>, Set<String>, Set<String>) = ([], [], [])
            for name in (0..<12).map({ "r\($0)" }) {
                let number = UInt64.random(in: 1...99, using: &random)
                switch Int.random(in: 0...4, using: &random) {
                case 0: there.insert(name)
                case 1: here.insert(name)
                case 2: other.insert(name)
                default: break
                }
                if !here.contains(name) { held[name] = tag(ChangeNumber(number) + (other.contains(name) ? 100 : 0)) }
                if !there.contains(name) { versions.append((name, number)) }
            }
            let found = report(held, versions)
            #expect(Set(found.missingHere.map(\.recordName)) == here)
            #expect(Set(found.missingThere.map(\.recordName)) == there)
            #expect(Set(found.different.map(\.recordName)) == other)
            #expect(difference(held).isSame(as: inventory(versions)) == found.isEqual)
        }
    }
}
