// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

/// Pages with CKShare records, each of which comes with all people of its share.
@Suite struct ZonePageSharesTests {
    private static let roots = ["a", "b", "c", "d", "e"]

    /// Each record is a root that is shared with Bob.
    private func zoneOfShares() -> TestZone {
        var zone = TestZone.ofHierarchies()
        zone.limits.pageSharesMax = 2
        for root in Self.roots {
            zone.ask(alice, save(root))
            zone.share(root, as: "share of \(root)", with: bob)
        }
        return zone
    }

    /// All pages from the beginning on.
    private func walk(_ page: ([UInt8]) throws -> ZonePage) throws -> [[RecordState]] {
        var (pages, token): ([[RecordState]], [UInt8]) = ([], [])
        repeat {
            let next = try page(token)
            pages.append(next.entries)
            guard next.moreComing else { return pages }
            token = next.token.bytes
        } while pages.count < 100
        return pages
    }

    private func expectShortPages(_ pages: [[RecordState]]) {
        let shareCounts = pages.map { $0.count { Share.isType($0.type) && !$0.isDeleted } }
        #expect(shareCounts.allSatisfy { $0 <= 2 } && pages.count >= 3, "\(shareCounts)")
        #expect(Set(pages.joined().map(\.name)) == Set(Self.roots + Self.roots.map { "share of \($0)" }))
    }

    private func ownersPage(_ zone: TestZone, after token: [UInt8]) throws -> ZonePage {
        let query = try ZonePageQuery.make(
            key: zone.key, token: token, limit: 0, device: phone, reader: nil, store: store, limits: zone.limits
        ).get()
        return try ZonePage.make(of: zone.read(query), for: query, store: store).get()
    }

    @Test func `R-716, I-7: a page has no more shares than fit in it with all of their people`() throws {
        let zone = zoneOfShares()
        expectShortPages(try walk { try ownersPage(zone, after: $0) })
        expectShortPages(try walk { try zone.page(for: bob, after: $0).get() })
    }

    @Test func `R-716: ends of shares bring no people, and the single share of a zone is one`() throws {
        var zone = zoneOfShares()
        for root in Self.roots.dropFirst() { zone.ask(alice, deleting: ["share of \(root)"]) }
        let pages = try walk { try ownersPage(zone, after: $0) }
        #expect(pages.count == 1 && pages[0].count { Share.isType($0.type) && !$0.isDeleted } == 1)
    }

    @Test func `R-716, I-3: a share counts as a part of the page's bytes, so that a root comes with its share`() throws
    {
        var state = ZoneState(id: ZoneID(70), key: ZoneKey(database: database, name: "Notes"), createdAt: 0)
        var query = ZonePageQuery(
            key: state.key, after: nil, recordsMax: 100, bytesMax: 65_536, device: phone, reader: nil,
            tombstonesPassedMax: 0)
        query.sharesMax = 40
        #expect(query.shareBytes(in: state) == 0)
        state.hasHierarchies = true
        #expect(query.shareBytes(in: state) == 65_536 / 40)
        var endless = query
        endless.bytesMax = .max
        #expect(endless.shareBytes(in: state) < Int.max / 1_000_000)
    }
}
