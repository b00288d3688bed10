// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct PersonNameTests {
    private func isValid(_ given: String, _ family: String = "") -> Bool? {
        PersonName(given: given, family: family)?.isValid(limits: Limits())
    }

    @Test func `R-779: a name has a part at least`() {
        #expect(isValid("") == nil)
        #expect(isValid("Ada") == true && isValid("", "Lovelace") == true && isValid("Ada", "Lovelace") == true)
        #expect(PersonName(given: "Ada", family: "")?.byteCount == 3)
    }

    @Test func `R-779, R-761: a part is short, not blank, and fits into one line`() {
        #expect(isValid("Anna María", "Þórðardóttir-O’Neill") == true)
        #expect(isValid("स्मिता", "山田") == true)
        // A letter that joins others has marks that are not seen.
        #expect(isValid("می\u{200C}نا") == true)
        #expect(isValid(String(repeating: "ä", count: 64)) == true)
        for part in [
            String(repeating: "ä", count: 65), " ", "\u{A0}\u{2003}", "a\0b", "a\nb", "a\r\n", "\u{1B}[2J",
            "a\u{2028}b", "a\u{2029}", "a\u{85}b", "\u{7F}",
        ] {
            #expect(isValid(part) == false && isValid("Ada", part) == false, "\(part.unicodeScalars.map(\.value))")
        }
    }
}
