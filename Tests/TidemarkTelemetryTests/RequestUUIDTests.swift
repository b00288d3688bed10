// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkTelemetry

@Suite struct RequestUUIDTests {
    /// Made by hand from RFC 9562 §5.8, so that other implementations can be compared with it.
    @Test(
        arguments: [
            (0x0000_0000_0000_0000, 1, "00000000-0000-8000-8000-000000000001"),
            (0x0123_4567_89AB_CDEF, 0x0102_0304_0506_0708, "01234567-89AB-8DEF-8102-030405060708"),
            (0xFFFF_FFFF_FFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF, "FFFFFFFF-FFFF-8FFF-BFFF-FFFFFFFFFFFF"),
            // The two high bits of a number are lost.
            (0xFFFF_FFFF_FFFF_FFFF, 0x3FFF_FFFF_FFFF_FFFF, "FFFFFFFF-FFFF-8FFF-BFFF-FFFFFFFFFFFF"),
            (0x8A00_0000_0000_F000, 64, "8A000000-0000-8000-8000-000000000040"),
        ] as [(UInt64, UInt64, String)])
    func `R-820: the layout is that of a UUID of version 8`(session: UInt64, number: UInt64, text: String) throws {
        let uuid = RequestUUID(session: session, number: number)
        #expect("\(uuid)" == text)
        let parsed = try #require(UUID(uuidString: text))
        #expect(parsed.uuidString == text)
        #expect(parsed.uuid.6 >> 4 == 8 && parsed.uuid.8 >> 6 == 0b10)
    }

    @Test func `R-820: bytes on the wire are the session in network order, and others are none`() {
        let bits: UInt64 = 0x0102_0304_0506_0708
        #expect(RequestUUID.bytes(ofSession: bits) == [1, 2, 3, 4, 5, 6, 7, 8])
        #expect(RequestUUID.session(from: [1, 2, 3, 4, 5, 6, 7, 8]) == bits)
        for bad in [[], [1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 6, 7, 8, 9]] as [[UInt8]] {
            #expect(RequestUUID.session(from: bad) == nil)
        }
    }

    @Test func `R-918, R-919: a UUID is read from its text, in either case and as a trace has it`() {
        let text = "8A010203-0405-8607-BFFF-FFFFFFFFFFFF"
        let uuid = RequestUUID(session: 0x8A01_0203_0405_0607, number: 0x3FFF_FFFF_FFFF_FFFF)
        for form in [text, text.lowercased(), text.filter { $0 != "-" }.lowercased()] {
            #expect(RequestUUID(form) == uuid, "\(form)")
        }
        #expect(RequestUUID("00000000-0000-0000-0000-000000000000") == RequestUUID(high: 0, low: 0))
        let bad = [
            "", "-", "----", "8A010203", text + "0", String(text.dropLast()), text + "-", " " + text, "{\(text)}",
            "8A0102030-405-8607-BFFF-FFFFFFFFFFFF", text.replacing("8A", with: "8G"), text.replacing("-", with: "_"),
            text.replacing("8A", with: "８Ａ"), text.replacing("8A", with: "+8"),
        ]
        for form in bad { #expect(RequestUUID(form) == nil, "\(form)") }
    }

    @Test func `R-919: no two operators' commands have one UUID, and each is of version 8`() {
        let commands = (0..<1_000).map { _ in RequestUUID.random() }
        #expect(Set(commands).count == 1_000 && Set(commands.map(\.high)).count == 1_000)
        #expect(commands.allSatisfy { $0.high >> 12 & 0xF == 8 && $0.low >> 62 == 0b10 })
    }

    @Test func `R-820: sessions of a server have different bits, and so have those of servers with other seeds`() {
        var seen: Set<UInt64> = []
        for seed in [0, 1, UInt64.max] {
            for number in 0..<10_000 as Range<UInt64> { seen.insert(RequestUUID.session(seed: seed, number: number)) }
        }
        #expect(seen.count == 30_000)
        // The first numbers of SplitMix64 with the seed 0, as its authors' program prints them.
        #expect(RequestUUID.session(seed: 0, number: 1) == 0xE220_A839_7B1D_CDAF)
        #expect(RequestUUID.session(seed: 0, number: 2) == 0x6E78_9E6A_A1B9_65F4)
    }
}
