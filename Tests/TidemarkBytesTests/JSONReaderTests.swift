// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes

@Suite struct JSONReaderTests {
    private func read(_ text: String, depthMax: Int = 16) throws(JSONError) -> JSONValue {
        try JSONReader.read(Array(text.utf8), depthMax: depthMax)
    }

    @Test(arguments: [
        ("null", JSONValue.null), (" true\n", .flag(true)), ("false", .flag(false)), ("0", .number(0)),
        ("-0.5e+1", .number(-5)), ("1E2", .number(100)), ("12.25", .number(12.25)),
        ("9007199254740993", .number(0x1p53)),
        (#""""#, .text("")), (#""a\"\\\/\b\f\n\r\té""#, .text("a\"\\/\u{8}\u{C}\n\r\té")),
        (#""\u0041\u00e9\u20AC\ud83d\uDE00""#, .text("Aé€😀")), (#""\u0000""#, .text("\0")), ("[]", .list([])),
        ("[ 1 , [ ] ]", .list([.number(1), .list([])])),
    ])
    func `R-920: what is JSON is read`(_ text: String, _ value: JSONValue) throws {
        #expect(try read(text) == value)
    }

    @Test func `R-920: an object has its members in order, with their lines`() throws {
        let object = try #require(try read("\n{\n \"a\": 1,\n \"b\": {},\n\n \"\": [\n]}\n").object)
        #expect(object.line == 2)
        #expect(object.members.map(\.name) == ["a", "b", ""] && object.members.map(\.line) == [3, 4, 6])
        #expect(object["a"] == .number(1) && object["b"]?.object?.members.isEmpty == true && object["c"] == nil)
    }

    @Test func `R-920: names are compared by their bytes`() throws {
        let object = try #require(try read("{\"\u{212A}\": 1, \"K\": 2, \"e\u{301}\": 3, \"é\": 4}").object)
        #expect(object["K"] == .number(2) && object["\u{212A}"] == .number(1) && object["é"] == .number(4))
    }

    @Test(arguments: [
        ("", JSONError.Code.unfinished), (" ", .unfinished), ("nul", .unfinished), ("nulL", .unexpected),
        ("True", .unexpected), ("1 2", .unexpected), ("{} {}", .unexpected), ("'a'", .unexpected),
        ("\u{FEFF}1", .unexpected), ("// a\n1", .unexpected), ("[1,]", .unexpected), ("[,1]", .unexpected),
        ("[1", .unfinished), ("[1 2]", .unexpected), ("{\"a\"}", .unexpected), ("{\"a\":}", .unexpected),
        ("{\"a\":1,}", .unexpected), ("{a:1}", .unexpected), ("{1:1}", .unexpected), ("{\"a\":1", .unfinished),
        ("]", .unexpected), ("\"a", .unfinished), ("\"\\", .unfinished), ("\"\\x\"", .invalidText),
        ("\"\\u12\"", .invalidText), ("\"\\u12", .unfinished), ("\"a\nb\"", .invalidText), ("\"\t\"", .invalidText),
        ("\"\\ud800\"", .invalidText), ("\"\\ud800\\u0041\"", .invalidText), ("\"\\udc00\"", .invalidText),
        ("01", .invalidNumber), ("-01", .invalidNumber), ("-", .invalidNumber), ("+1", .unexpected),
        ("1.", .invalidNumber), (".1", .unexpected), ("1e", .invalidNumber), ("1e+", .invalidNumber),
        ("1e999", .invalidNumber), ("NaN", .unexpected), ("0x1", .unexpected),
        ("{\"a\":1,\"a\":1}", .nameRepeated), ("{\"a\":1,\"\\u0061\":2}", .nameRepeated),
    ])
    func `R-920: what is no JSON is refused`(_ text: String, _ code: JSONError.Code) {
        #expect(throws: JSONError(code: code, line: 1)) { try read(text) }
    }

    @Test func `R-920: bytes that are not UTF-8 are refused, and the line is told`() {
        #expect(throws: JSONError(code: .invalidText, line: 1)) { try JSONReader.read([0x22, 0xFF, 0x22]) }
        #expect(throws: JSONError(code: .unexpected, line: 3)) { try read("[1,\n2,\n}") }
    }

    @Test func `R-920: depth is bounded, in lists and objects`() throws {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            func nested(_ depth: Int) -> String {
                String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
            }
            _ = try read(nested(4), depthMax: 4)
            #expect(throws: JSONError(code: .tooDeep, line: 1)) { try read(nested(5), depthMax: 4) }
            #expect(throws: JSONError(code: .tooDeep, line: 1)) { try read(nested(100_000)) }
        }
    }

    @Test func `R-920: a text that ends anywhere is refused`() {
        let whole = Array(#"{"a":[1.5e3,true,null,"\u00e9é"],"b":{"c":false}}"#.utf8)
        #expect(throws: Never.self) { _ = try JSONReader.read(whole) }
        for count in whole.indices {
            #expect(throws: JSONError.self) { _ = try JSONReader.read(Array(whole[..<count])) }
        }
    }
}
