// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct PersonAddressTests {
    @Test func `R-314: addresses have one form, however they are written`() {
        for (text, expected) in [
            ("ann@example.org", "ann@example.org"), ("Ann+Tag@Example.ORG", "ann+tag@example.org"),
            ("@", nil), ("a@", nil), ("@b", nil), ("ann", nil), ("a b@c", nil), ("", nil), ("a@b\0", nil),
        ] as [(String, String?)] {
            #expect(PersonAddress(email: text)?.text == expected, "\(text)")
        }
        for (text, expected) in [
            ("+3545550100", "+3545550100"), ("+354 (555) 0100", "+3545550100"), ("+354-555.01/00", "+3545550100"),
            ("5550100", nil), ("+", nil), ("+12", nil), ("+1234567890123456", nil), ("+354a5550100", nil), ("", nil),
        ] as [(String, String?)] {
            #expect(PersonAddress(phone: text)?.text == expected, "\(text)")
        }
    }

    @Test func `R-314: the normal form says what kind of address it is`() {
        for address in [PersonAddress(email: "+tag@example.org"), PersonAddress(phone: "+3545550100")] {
            #expect(address.map { PersonAddress(normal: $0.text) } == address)
        }
    }
}
