// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkCrypto
import TidemarkScheduling
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// The people who give keys, and what a device knows of them.
extension CloudDatabaseGrantsTests {
    @Test func `R-275: two people have the same number if each knows the other's key`() throws {
        let account = try enterEndToEnd()
        let (bob, fake, secret) = (X25519KeyPair.random(), X25519KeyPair.random(), ZoneSecret.random())
        let container = container()
        func number() throws -> String {
            try scheduler.complete { try await container.safetyNumber(with: CKRecord.ID(recordName: "_bob")) }
        }
        let unknown = #expect(throws: CKError.self) { try number() }
        #expect(unknown?.code == .unknownItem)
        func bobs(_ alice: X25519KeyPair, isEndToEnd: Bool = true) -> String {
            let people = [
                PersonKey(isEndToEnd: true, publicKey: bob.publicKey).statement(of: "_bob"),
                PersonKey(isEndToEnd: isEndToEnd, publicKey: alice.publicKey).statement(of: "_alice"),
            ]
            return SafetyNumber.text(comparing: people, container: identifier)
        }
        serve([secret], try given([secret], by: bob))
        #expect(try sealing(container)?.get() == secret)
        let mine = account.pair(in: identifier)
        #expect(try number() == bobs(mine))
        #expect(try number() != bobs(fake), "bob was told another key of alice")
        #expect(try number() != bobs(mine, isEndToEnd: false), "bob was told that a server has alice's key")
        // Alice was told another key of bob.
        try scheduler.complete { try await container.acceptChangedKey(of: CKRecord.ID(recordName: "_bob")) }
        serve([secret], try given([secret], by: fake))
        #expect(try sealing(self.container())?.get() == secret)
        #expect(try number() != bobs(mine))
        // What the server says of alice's own key changes nothing.
        stored.change { $0.account.publicKey = fake.publicKey }
        let before = try number()
        stored.change { $0.account.publicKey = mine.publicKey }
        #expect(try number() == before)
    }

    @Test func `R-273: what is remembered of a person is read as it was written, and nothing else is`() throws {
        for isEndToEnd in [true, false] {
            let key = PersonKey(isEndToEnd: isEndToEnd, publicKey: X25519KeyPair.random().publicKey)
            #expect(PersonKey(bytes: key.bytes) == key)
            #expect(PersonKey(bytes: Array(key.bytes.dropLast())) == nil && PersonKey(bytes: key.bytes + [0]) == nil)
            #expect(PersonKey(bytes: [9] + key.publicKey) == nil)
        }
        #expect(PersonKey(bytes: []) == nil)
        #expect(PersonKey(.unspecified, [UInt8](repeating: 1, count: 32)) == nil)
        #expect(PersonKey(.endToEnd, [UInt8](repeating: 1, count: 31)) == nil)
    }
}
