// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkCrypto

/// The keys of a zone for another account.
@Suite struct ZoneKeyGrantTests {
    private static let container = "iCloud.test"
    private static let owner = ZoneKeyGrant.keyPair(of: [UInt8](0..<32), container: container)
    private static let reader = ZoneKeyGrant.keyPair(of: [UInt8](repeating: 7, count: 32), container: container)
    private static let keys: [(id: [UInt8], key: [UInt8])] = [
        (id: [UInt8](repeating: 1, count: 16), key: [UInt8](repeating: 2, count: 32)),
        (id: [UInt8](repeating: 3, count: 16), key: [UInt8](repeating: 4, count: 32)),
    ]

    private static func grant(
        _ container: String = container, _ zoneName: String = "Pläne", _ owner: String = "_alice",
        _ reader: String = "_bob"
    ) -> ZoneKeyGrant {
        ZoneKeyGrant(container: container, zoneName: zoneName, owner: owner, reader: reader)
    }

    /// The values of another implementation, Python's hmac and `pyhpke`.
    @Test func `R-969: key pairs and grants are those of another implementation`() throws {
        #expect(
            Hex.encode(Self.owner.publicKey) == "36499b871d9cbf38ed1fe984e183423b7251cdac0de31028bab2652069d26400")
        #expect(
            Hex.encode(Self.reader.publicKey) == "2b0c781cf277e934cca3f7c803b7bac26ae614816d625de50880586f4eae375c")
        let sealed = try #require(
            Hex.decode(
                "de8923a675d02180cdd7d0097ba404b9e1e2930d5665cba58d1765006361793b1d56a4305e1aaf81adbdc2d9efed1049"
                    + "be144a7500e9c16f9e3115dae97fbad1294c9c49c3b3e7c586a88d08ead1656d5c26bbb204572167c70faa95ae30a548"
                    + "df746fc2977ae5479b9d5cb3e6153693178d1a5018a31012dd86c744c9cdea2df9366a4e1d905096124bfd2c50e12390"
            ))
        let opened = try Self.grant().open(sealed, with: Self.reader, from: Self.owner.publicKey)
        #expect(opened == Self.keys.flatMap { $0.id + $0.key })
    }

    @Test func `R-969: a grant opens for its reader, of its owner, in its zone and container, and nowhere else`() throws
    {
        let sealed = try Self.grant().seal(Self.keys, to: Self.reader.publicKey, from: Self.owner)
        let opened = try Self.grant().open(sealed, with: Self.reader, from: Self.owner.publicKey)
        #expect(opened == Self.keys.flatMap { $0.id + $0.key })
        for other in [
            Self.grant("iCloud.test2"), Self.grant(Self.container, "Plan"),
            Self.grant(Self.container, "Pläne", "_carol"), Self.grant(Self.container, "Pläne", "_alice", "_carol"),
            // The same letters with other borders.
            Self.grant(Self.container, "Pläne_", "alice"), Self.grant("iCloud.tes", "tPläne"),
        ] {
            #expect(throws: HPKEError.notGenuine) {
                try other.open(sealed, with: Self.reader, from: Self.owner.publicKey)
            }
        }
        #expect(throws: HPKEError.notGenuine) {
            try Self.grant().open(sealed, with: Self.owner, from: Self.owner.publicKey)
        }
        #expect(throws: HPKEError.notGenuine) {
            try Self.grant().open(sealed, with: Self.reader, from: X25519KeyPair.random().publicKey)
        }
        for count in [0, 47, 48, sealed.count - 1] {
            #expect(throws: HPKEError.self) {
                try Self.grant().open(Array(sealed.prefix(count)), with: Self.reader, from: Self.owner.publicKey)
            }
        }
    }

    @Test func `R-969: an account has another key pair in each container, and for each key`() {
        let key = [UInt8](repeating: 7, count: 32)
        let pairs = [
            ZoneKeyGrant.keyPair(of: key, container: "a"), ZoneKeyGrant.keyPair(of: key, container: "b"),
            ZoneKeyGrant.keyPair(of: [UInt8](repeating: 8, count: 32), container: "a"),
        ]
        #expect(Set(pairs.map(\.publicKey)).count == pairs.count)
        #expect(pairs[0] == ZoneKeyGrant.keyPair(of: key, container: "a"))
    }
}
