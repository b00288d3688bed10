// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkWebSocket

/// The elements of Sec-WebSocket-Extensions (RFC 6455 §9.1).
@Suite struct ExtensionOfferTests {
    private func texts(_ lines: String...) -> [String]? { ExtensionOffer.parse(lines)?.map(\.text) }

    @Test func `elements come from all lines in order, with their parameters`() {
        #expect(texts() == [])
        #expect(texts("", " , ,") == [])
        #expect(texts("a", "b ; x=1; y , c") == ["a", "b; x=1; y", "c"])
        let offer = ExtensionOffer.parse(["deflate; bits=\"15\"; bits"])?.first
        #expect(offer?.name == "deflate")
        #expect(offer?.parameters == [.init(name: "bits", value: "15"), .init(name: "bits", value: nil)])
    }

    @Test(arguments: [
        "a b", "a;", "a; =1", "a; x=", "a; x=\"\"", "a; x=\"", "a; x=1 2", "a; x=\"1;2\"", "é", ";", "a; x=\"1\"\"",
    ])
    func `one malformed element spoils all of them`(line: String) {
        #expect(ExtensionOffer.parse(["good", line]) == nil)
    }

    @Test func `what is written can be read`() {
        let offer = ExtensionOffer(name: "x", parameters: [.init(name: "a", value: nil), .init(name: "b", value: "9")])
        #expect(ExtensionOffer.parse([offer.text]) == [offer])
    }
}
