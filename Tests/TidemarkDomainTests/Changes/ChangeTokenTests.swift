// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

@Suite struct ChangeTokenTests {
    let key = ZoneKey(database: database, name: "Notes")

    func zoneToken(
        store: StoreIncarnation = store, database: DatabaseID = database, name: String = "Notes", zone: Int64 = 70,
        number: ChangeNumber = 5, begunAt: ChangeNumber = 0
    ) -> ChangeToken {
        .zone(
            ZoneKey(database: database, name: name), store: store,
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
        for token in [zoneToken(), databaseToken(), databaseToken(ahead: ahead)] {
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
            #expect(ChangeToken.position(in: key, from: row.bytes, store: store) == row.answer, "\(row.name)")
        }
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
