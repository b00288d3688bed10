// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

@Suite struct ZoneLinkKeysTests {
    private static func keys(_ count: Int) throws -> ZoneLinkKeys {
        try #require(ZoneLinkKeys((0..<count).map { _ in ZoneSecret.random() }))
    }

    private static func url(_ fragment: String) throws -> URL {
        try #require(URL(string: "https://cloud.example.org/share/abcd#\(fragment)"))
    }

    @Test(arguments: [1, 2, 15, 16, 100])
    func `R-858: keys come back from a URL's fragment, whose letters no messenger changes`(count: Int) throws {
        let keys = try Self.keys(count)
        #expect(try ZoneLinkKeys(in: try Self.url(keys.fragment)) == keys)
        let letters = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")
        #expect(keys.fragment.allSatisfy(letters.contains))
        #expect(keys.fragment.hasPrefix("keys1."))
        #expect(ZoneLinkKeys(bytes: keys.bytes) == keys)
        #expect(ShareURLs.link(in: try Self.url(keys.fragment)) == "abcd", "it is no part of the link")
    }

    @Test func `R-858: a URL that was cut off, or in which a letter is another one, is found out`() throws {
        let fragment = try Self.keys(1).fragment
        for count in "keys".count..<fragment.count {
            let cut = try Self.url(String(fragment.prefix(count)))
            let error = #expect(throws: CKError.self) { try ZoneLinkKeys(in: cut) }
            #expect(error?.code == .invalidArguments, "\(count)")
        }
        // The last letter has bits that are not looked at.
        for place in 0..<fragment.count - 1 {
            var letters = Array(fragment)
            letters[place] = letters[place] == "A" ? "B" : "A"
            let changed = try Self.url(String(letters))
            if String(letters).hasPrefix("keys") {
                #expect(throws: CKError.self) { try ZoneLinkKeys(in: changed) }
            } else {
                #expect(try ZoneLinkKeys(in: changed) == nil)
            }
        }
        #expect(throws: CKError.self) { try ZoneLinkKeys(in: try Self.url("keys2.AAAA")) }
        #expect(throws: CKError.self) { try ZoneLinkKeys(in: try Self.url("keys1.")) }
    }

    @Test func `a URL without keys has none, whatever else is at its end`() throws {
        for text in [
            "https://a.example/share/L", "https://a.example/share/L#", "https://a.example/share/L?keys1.A#top",
        ] {
            #expect(try ZoneLinkKeys(in: try #require(URL(string: text))) == nil)
        }
    }

    @Test func `bytes that are no whole keys are none, and no URL has two keys under one id`() throws {
        let bytes = try Self.keys(2).bytes
        #expect(bytes.count == 96)
        for count in 0...95 where count != 48 { #expect(ZoneLinkKeys(bytes: Array(bytes.prefix(count))) == nil) }
        let secret = ZoneSecret.random()
        for other in [secret, ZoneSecret(id: secret.id, key: ZoneSecret.random().key)] {
            let twice = try Self.url(try #require(ZoneLinkKeys([secret, other])).fragment)
            #expect(throws: CKError.self) { try ZoneLinkKeys(in: twice) }
        }
        #expect(ZoneLinkKeys(bytes: try Self.keys(ZoneLinkKeys.countMax).bytes + Self.keys(1).bytes) == nil)
        #expect(ZoneLinkKeys([ZoneSecret]()) == nil)
    }

    @Test func `R-859: a key that is here stays, whatever a later link says of its id`() throws {
        let first = try Self.keys(2)
        let forged = ZoneSecret(id: first.secrets[1].id, key: ZoneSecret.random().key)
        let fresh = ZoneSecret.random()
        let both = first.adding(try #require(ZoneLinkKeys([forged, fresh])))
        #expect(both.secrets == first.secrets + [forged, fresh])
        #expect(both.secret(forged.id) == first.secrets[1], "it encrypts")
        #expect(both.secrets(forged.id) == [first.secrets[1], forged], "both may open what is there")
        #expect(both.adding(try #require(ZoneLinkKeys([forged, fresh]))) == both, "nothing comes twice")
        #expect(ZoneLinkKeys(bytes: both.bytes) == both)
    }

    @Test func `R-859: however many keys forged links have, the first ones stay`() throws {
        let first = try Self.keys(3)
        var kept = first
        for _ in 0..<12 { kept = kept.adding(try Self.keys(100)) }
        #expect(kept.secrets.count == ZoneLinkKeys.countMax && Array(kept.secrets.prefix(3)) == first.secrets)
        let forged = ZoneSecret(id: first.secrets[0].id, key: ZoneSecret.random().key)
        #expect(kept.adding(try #require(ZoneLinkKeys([forged]))) == kept)
        #expect(ZoneLinkKeys(bytes: kept.bytes) == kept)
        let most = try Self.url(try Self.keys(101).fragment)
        #expect(throws: CKError.self) { try ZoneLinkKeys(in: most) }
    }
}
