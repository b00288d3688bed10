// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct NamesTests {
    @Test func `R-020, R-040: zone and record names are printable ASCII that does not begin with an underscore`() {
        for name in ["a", "A b~", " ", "x_", "-", String(repeating: "n", count: 255)] {
            #expect(ZoneName.isValid(name, limits: Limits()) && RecordName.isValid(name, limits: Limits()), "\(name)")
        }
        let bad = [
            "", "_", "_a", "a\u{1F}", "a\u{7F}", "a\u{0}", "é", "e\u{301}", "\n", String(repeating: "n", count: 256),
        ]
        for name in bad {
            #expect(!ZoneName.isValid(name, limits: Limits()) && !RecordName.isValid(name, limits: Limits()), "\(name)")
        }
        #expect(
            ZoneName.isValid(ZoneName.default, limits: Limits())
                && !RecordName.isValid(ZoneName.default, limits: Limits()))
    }

    @Test func `R-041: a record type is a letter, then letters, digits and underscores`() {
        for type in ["A", "a", "Note", "N0_te", "Z_"] { #expect(RecordType.isValid(type, limits: Limits()), "\(type)") }
        let bad = [
            "", "1", "_A", "a b", "a-b", "a.b", "é", "[", "`", "@", "cloudkit.share", "Users",
            String(repeating: "A", count: 256),
        ]
        for type in bad { #expect(!RecordType.isValid(type, limits: Limits()), "\(type)") }
    }
}
