// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes

extension Fuzzer {
    /// A JSON text of others: tokens, keys of identity providers. What is read is the same when it is written and read again.
    static let json = Fuzzer(name: "json", seeds: { JSONSeeds.all }) { input throws(Finding) in
        guard let value = try? JSONReader.read(input) else { return false }
        var text: [UInt8] = []
        JSONSeeds.write(value, to: &text)
        // The lines of members differ, so the texts are compared.
        var again: [UInt8] = []
        if let value = try? JSONReader.read(text) { JSONSeeds.write(value, to: &again) }
        try Finding.unless(again == text, "read from \(input), written as \(text)")
        return true
    }
}

private enum JSONSeeds {
    static let all = [
        "{}", "[1,2.5e3,-0.0,1E-7,true,false,null]", #"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA"}]}"#,
        #"{"iss":"https://a","aud":["b"],"exp":1800000000,"a":{"b":[[]]},"":"\u00e9\ud83d\ude00\n\"\\"}"#,
        " \r\n\t\"\" ",
    ].map { Array($0.utf8) }

    static func write(_ value: JSONValue, to text: inout [UInt8]) {
        switch value {
        case .null: text += Array("null".utf8)
        case .flag(let flag): text += Array("\(flag)".utf8)
        case .number(let number): text += Array("\(number)".utf8)
        case .text(let content): write(content, to: &text)
        case .list(let list):
            text.append(UInt8(ascii: "["))
            for (place, element) in list.enumerated() {
                if place > 0 { text.append(UInt8(ascii: ",")) }
                write(element, to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let object):
            text.append(UInt8(ascii: "{"))
            for (place, member) in object.members.enumerated() {
                if place > 0 { text.append(UInt8(ascii: ",")) }
                write(member.name, to: &text)
                text.append(UInt8(ascii: ":"))
                write(member.value, to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ content: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in content.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
            case ..<0x20:
                let digits = String(byte, radix: 16)
                text += Array("\\u00\(digits.count == 1 ? "0" : "")\(digits)".utf8)
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }
}
