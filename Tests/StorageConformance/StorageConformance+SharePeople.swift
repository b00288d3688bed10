// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
internal import TidemarkDomain
internal import TidemarkService

/// How much is read of a zone with several shares.
extension StorageConformance {
    static let sharePeople: [Scenario] = [
        Scenario("R-985: all people of the chosen shares are read, and of the others the parts of some users") {
            store in
            let (zone, first, second) = try await zoneOfTwoShares(store)
            func read(_ read: SharingRead) async throws -> ZoneSharing {
                try require(try await store.second.sharing(of: zone.key, read), "the zone").sharing
            }
            func rowCounts(_ sharing: ZoneSharing) -> [Int] {
                [first, second].map { sharing.participants[$0]?.count ?? 0 }
            }
            let named = ShareChoice(names: ["S", "none"])
            let alone = try await read(.people(of: named, and: []))
            try expectEqual(rowCounts(alone), [1, 0], "rows of the named share alone")
            try expect(alone.hasPeople(of: first) && !alone.hasPeople(of: second), "what is known to be whole")
            try expectEqual(alone.shares.count, 2, "all shares")
            try expectEqual(alone.shares[first]?.rootSecret, zone.secret(of: "S"), "the secret of the named one")
            try expectEqual(alone.shares[second]?.rootSecret, nil, "and of no other")
            let withBob = try await read(.people(of: named, and: [zone.bob]))
            try expectEqual(rowCounts(withBob), [1, 1], "bob's part in the other")
            try expect(!withBob.hasPeople(of: second), "which is not all of it")
            try expectEqual(rowCounts(try await read(.people(of: named, and: [zone.alice]))), [1, 0], "alice has none")
            let shown = try await read(.shown(to: zone.alice, of: named))
            try expectEqual(rowCounts(shown), [1, 0], "shown to alice")
            try expectEqual(rowCounts(try await read(.whole)), [1, 1], "all of it")
            let access = try await read(.access(of: [zone.bob]))
            try expectEqual(rowCounts(access), [1, 1], "access")
            try expect(!access.hasPeople(of: first), "nobody else is known")
            // With records, and under the lock.
            let records = try await store.second.records(
                named: ["a"], in: zone.key, bytesMax: 1_000, sharing: .shown(to: zone.alice, of: named))
            try expectEqual(records.sharing.map(rowCounts), [1, 0], "with records")
            var locked = zone.key.read(records: ["T"])
            locked.sharing = .people(of: ShareChoice(names: ["T"]), and: [])
            let transaction = try await store.second.beginWrite([locked])
            await transaction.rollback()
            let snapshot = try require(transaction.snapshots.first, "a snapshot a read")
            try expectEqual(snapshot.sharing.map(rowCounts), [0, 1], "under the lock")
            try expectEqual(snapshot.sharing?.wholeShares, [second], "what is known to be whole there")
            try expect(snapshot.sharingRowCount > 0, "who may add rows counts those of the account")
        },
        Scenario("R-985: whoever brings links reads the shares that these open, as if there were no others") { store in
            let (zone, _, second) = try await zoneOfTwoShares(store)
            func read(_ choice: ShareChoice) async throws -> ZoneSharing {
                let read = SharingRead.linked(to: zone.bob, of: choice)
                return try require(try await store.second.sharing(of: zone.key, read), "the zone").sharing
            }
            let hash = SHA256.hash(zone.secret(of: "T"))
            let found = try await read(ShareChoice(linkHashes: [hash, [1, 2, 3]]))
            try expectEqual(found.shares.keys.sorted(), [second], "the share of the link")
            try expectEqual(found.participants.mapValues(\.count), [second: 1], "with its people")
            try expect(found.hasPeople(of: second), "all of them")
            try expectEqual(found.shares[second]?.rootSecret, zone.secret(of: "T"), "and its secret")
            let nothing = try await read(ShareChoice(linkHashes: [SHA256.hash([])]))
            try expect(nothing.shares.isEmpty && nothing.owner == zone.alice, "no such link")
            try expectEqual(try await read(ShareChoice(names: ["T"])).shares.keys.sorted(), [second], "by its name")
            // The link of a root is the same when it is shared again, and opens the share that lives.
            var again = zone
            try await again.apply(deleting: ["T"])
            let ended = try await read(ShareChoice(linkHashes: [hash]))
            try expect(ended.shares.isEmpty, "a share that ended is not opened")
            let third = try await again.share("x", as: "U", secret: zone.secret(of: "T"))
            try expectEqual(
                try await read(ShareChoice(linkHashes: [hash])).shares.keys.sorted(), [third], "the new one")
        },
        Scenario("R-226: pages of several shares have all that happened, in its order, however few records a page has")
        {
            store in
            var (zone, first, second) = try await zoneOfTwoShares(store)
            // Of one share there are many rows in a row, of the other few: a page reads further into the first.
            for name in ["m1", "m2", "m3", "m4", "m5"] {
                try await zone.apply([zone.save(name, parent: .set("a"))])
            }
            try await zone.apply([zone.save("n", parent: .set("x"))])
            let all = try await zone.page(of: [first, second], after: 0).events.map {
                [$0.row.name, "\($0.row.number)"]
            }
            try expect(all.count >= 11, "what two shares have")
            for recordsMax in 1...4 {
                var (found, number): ([[String]], ChangeNumber) = ([], 0)
                var hasMore = true
                while hasMore, found.count <= all.count {
                    let page = try await zone.page(of: [first, second], after: number, recordsMax: recordsMax)
                    try expect(page.events.count <= recordsMax, "a page is bounded")
                    found += page.events.map { [$0.row.name, "\($0.row.number)"] }
                    number = page.events.last?.row.number ?? number
                    hasMore = page.hasMore
                }
                try expectEqual(found, all, "pages of \(recordsMax)")
            }
        },
    ]

    /// With the shares S of a, in which bob takes part, and T of x, to which bob is invited.
    private static func zoneOfTwoShares(
        _ store: StorageFixture
    ) async throws -> (zone: HierarchyZone, first: ShareNumber, second: ShareNumber) {
        var zone = try await HierarchyZone(store, "notes")
        try await zone.fill()
        let first = try await zone.share("a", as: "S")
        try await zone.accept("S")
        let second = try await zone.share("x", as: "T")
        return (zone, first, second)
    }
}
