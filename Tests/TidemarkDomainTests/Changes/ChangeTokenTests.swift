// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

@Suite struct ChangeTokenTests {
    let key = ZoneKey(database: database, name: "Notes")

    func zoneToken(
        store: StoreIncarnation = store, database: DatabaseID = database, name: String = "Notes", zone: Int64 = 70,
        number: ChangeNumber = 5, begunAt: ChangeNumber = 0, viewer: UserID? = nil
    ) -> ChangeToken {
        .zone(
            ZoneKey(database: database, name: name), viewer: viewer, store: store,
            position: .init(zone: ZoneID(zone), number: number, begunAt: begunAt))
    }

    func databaseToken(
        store: StoreIncarnation = store, viewer: DatabaseID = database, number: ChangeNumber = 5,
        ahead: [FeedPosition.Ahead] = []
    ) -> ChangeToken {
        .database(store: store, viewer: viewer, position: FeedPosition(number: number, ahead: ahead))
    }

    @Test func `R-200: tokens come back as they were given out`() {
        let numbers: [Int64] = [0, 1, 127, 128, 1 << 40, .max]
        for number in numbers {
            for zone in numbers {
                let tokens = [
                    zoneToken(store: StoreIncarnation(.max), zone: zone, number: number, begunAt: zone),
                    zoneToken(zone: zone, number: number, begunAt: number, viewer: UserID(zone)),
                    databaseToken(viewer: DatabaseID(zone), number: number),
                    databaseToken(ahead: [.init(zone: ZoneID(zone), changeNumber: number)]),
                ]
                for token in tokens { #expect(ChangeToken(bytes: token.bytes) == token) }
            }
        }
        #expect(zoneToken().bytes.count <= 40)
        let full = (1...Int64(FeedPosition.aheadMax)).map { FeedPosition.Ahead(zone: ZoneID($0), changeNumber: 1_000) }
        #expect(ChangeToken(bytes: databaseToken(ahead: full).bytes) == databaseToken(ahead: full))
        #expect(databaseToken(ahead: full).bytes.count <= 64)
        #expect(ChangeToken(bytes: databaseToken(ahead: full + full).bytes) == nil, "more than servers give out")
    }

    @Test func `R-200, I-6: a token that was cut or garbled is no token`() {
        let ahead = [FeedPosition.Ahead(zone: ZoneID(70), changeNumber: 300)]
        for token in [zoneToken(), zoneToken(viewer: bob), databaseToken(), databaseToken(ahead: ahead)] {
            let bytes = token.bytes
            for count in 0..<bytes.count { #expect(ChangeToken(bytes: Array(bytes.prefix(count))) == nil) }
            for index in bytes.indices {
                for bit in 0..<8 {
                    var wrong = bytes
                    wrong[index] ^= 1 << UInt8(bit)
                    #expect(ChangeToken(bytes: wrong) == nil)
                }
            }
            #expect(ChangeToken(bytes: bytes + [0]) == nil)
        }
        var random = SeededRandom()
        for count in 0..<200 { #expect(ChangeToken(bytes: random.bytes(count: count)) == nil) }
    }

    @Test func `R-200, R-220, R-701: a token of another feed is invalid, one of another life expired`() {
        typealias Answer = Result<ZonePageQuery.Position?, FailureReason>
        let good = Answer.success(.init(zone: ZoneID(70), number: 5))
        let rows: [(name: String, bytes: [UInt8], answer: Answer)] = [
            ("none", [], .success(nil)),
            ("its own", zoneToken().bytes, good),
            ("no token", [1, 2, 3], .failure(.tokenInvalid)),
            ("of a database", databaseToken().bytes, .failure(.tokenInvalid)),
            ("of another zone", zoneToken(name: "Other").bytes, .failure(.tokenInvalid)),
            ("of another database", zoneToken(database: DatabaseID(8)).bytes, .failure(.tokenInvalid)),
            ("of another store", zoneToken(store: StoreIncarnation(1)).bytes, .failure(.tokenExpired)),
            (
                "of another store, where the database had another number",
                zoneToken(store: StoreIncarnation(1), database: DatabaseID(8)).bytes, .failure(.tokenExpired)
            ),
            (
                "of another store and zone", zoneToken(store: StoreIncarnation(1), name: "Other").bytes,
                .failure(.tokenInvalid)
            ),
            (
                "of another incarnation, which the page finds out", zoneToken(zone: 69).bytes,
                .success(.init(zone: ZoneID(69), number: 5))
            ),
        ]
        for row in rows {
            let answer = ChangeToken.position(in: key, viewer: nil, from: row.bytes, store: store)
            #expect(answer == row.answer, "\(row.name)")
        }
    }

    @Test func `R-200: in the shared database a zone's token is good for its own user alone`() {
        typealias Answer = Result<ZonePageQuery.Position?, FailureReason>
        // The first is the owner.
        let viewers = [
            RecordAccess.owner(alice), RecordAccess(scope: .shared, user: alice),
            RecordAccess(scope: .shared, user: bob),
        ].map(\.viewer)
        #expect(viewers == [nil, alice, bob] && RecordAccess(scope: .public, user: bob).viewer == nil)
        for maker in viewers {
            let token = zoneToken(viewer: maker).bytes
            for reader in viewers {
                let answer = ChangeToken.position(in: key, viewer: reader, from: token, store: store)
                let expected: Answer =
                    maker == reader ? .success(.init(zone: ZoneID(70), number: 5)) : .failure(.tokenInvalid)
                #expect(answer == expected)
            }
        }
        // Users may have other numbers in another incarnation of the store.
        let old = zoneToken(store: StoreIncarnation(1), viewer: alice).bytes
        #expect(ChangeToken.position(in: key, viewer: bob, from: old, store: store) == .failure(.tokenExpired))
    }

    @Test func `R-200, R-220: an owner's token of a server without sharing is read, and is written as it was`() throws {
        // As such a server gave them out. Apps and engines have them in their state.
        let zone: [UInt8] = [
            0x01, 0x01, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0xC0, 0xF6, 0xFE, 0x01, 0x07, 0x8A, 0xDC, 0xC4, 0xDB, 0x82,
            0xFB, 0x94, 0x28, 0x46, 0x05, 0x00, 0x0B, 0xE9, 0x6C, 0xB5,
        ]
        let firstFetch: [UInt8] = [
            0x01, 0x01, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0xC0, 0xF6, 0xFE, 0x01, 0x07, 0x8A, 0xDC, 0xC4, 0xDB, 0x82,
            0xFB, 0x94, 0x28, 0x46, 0x03, 0x09, 0xC6, 0xE4, 0x82, 0xE8,
        ]
        let feed: [UInt8] = [
            0x01, 0x02, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0xC0, 0xF6, 0xFE, 0x01, 0x07, 0x05, 0x46, 0xAC, 0x02, 0x68,
            0x65, 0x29, 0x80,
        ]
        func position(_ bytes: [UInt8], viewer: UserID? = nil) -> Result<ZonePageQuery.Position?, FailureReason> {
            ChangeToken.position(in: key, viewer: viewer, from: bytes, store: store)
        }
        #expect(try position(zone).get() == ZonePageQuery.Position(zone: ZoneID(70), number: 5))
        #expect(try position(firstFetch).get() == ZonePageQuery.Position(zone: ZoneID(70), number: 3, begunAt: 9))
        #expect(position(zone, viewer: bob) == .failure(.tokenInvalid))
        let ahead = [FeedPosition.Ahead(zone: ZoneID(70), changeNumber: 300)]
        let place = ChangeToken.position(inDatabaseFeedOf: database, from: feed, store: store)
        #expect(try place.get() == FeedPosition(number: 5, ahead: ahead))
        // Servers of before and clients of before read what is given out now.
        #expect(zoneToken().bytes == zone && zoneToken(number: 3, begunAt: 9).bytes == firstFetch)
        #expect(databaseToken(ahead: ahead).bytes == feed)
    }

    @Test func `R-200, R-220, R-701: the same for database tokens`() {
        let rows: [(name: String, bytes: [UInt8], answer: Result<FeedPosition?, FailureReason>)] = [
            ("none", [], .success(nil)),
            ("its own", databaseToken().bytes, .success(FeedPosition(number: 5))),
            ("no token", [9], .failure(.tokenInvalid)),
            ("of a zone", zoneToken().bytes, .failure(.tokenInvalid)),
            ("of another user", databaseToken(viewer: DatabaseID(8)).bytes, .failure(.tokenInvalid)),
            ("of another store", databaseToken(store: StoreIncarnation(1)).bytes, .failure(.tokenExpired)),
        ]
        for row in rows {
            let answer = ChangeToken.position(inDatabaseFeedOf: database, from: row.bytes, store: store)
            #expect(answer == row.answer, "\(row.name)")
        }
    }

    @Test func `R-046: tags come back as they were given out; anything else is foreign`() {
        var all: Set<[UInt8]> = []
        for number in [0, 1, 300, .max] as [Int64] {
            for zone in [1, 300, .max] as [Int64] {
                let tag = ChangeTag.version(store: store, zone: ZoneID(zone), number: number)
                #expect(ChangeTag(bytes: tag.bytes) == tag)
                #expect(all.insert(tag.bytes).inserted)
            }
        }
        let bytes = ChangeTag.version(store: store, zone: ZoneID(70), number: 12).bytes
        #expect(bytes.count <= 24)
        for count in 0..<bytes.count { #expect(ChangeTag(bytes: Array(bytes.prefix(count))) == .foreign) }
        for index in bytes.indices {
            for bit in 0..<8 {
                var wrong = bytes
                wrong[index] ^= 1 << UInt8(bit)
                #expect(ChangeTag(bytes: wrong) == .foreign)
            }
        }
        #expect(ChangeTag.foreign.bytes.isEmpty)
    }
}
