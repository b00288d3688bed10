// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields
internal import TidemarkWebSocket

extension Fuzzer {
    /// Both UTF-8 checks agree, for any split, with the standard library on the whole.
    static let utf8 = Fuzzer(name: "utf8", seeds: { UTF8Seeds.all }) { input throws(Finding) in
        let isValid = String(validating: input, as: UTF8.self) != nil
        var random = FuzzRandom(input)
        var check = UTF8Scanner()
        var isGood = true
        for piece in random.split(input) where isGood {
            isGood = piece.withUnsafeBytes { check.take($0) }
        }
        try Finding.unless((isGood && check.isComplete) == isValid, "WebSocket: \(isGood), library: \(isValid)")
        guard input.count < 100 else { return isValid }
        // A field with that string as its value; its lengths take one byte each.
        var entry: [UInt8] = [0x0A, 0, 0x0A, 1, 0x61, 0x18, FieldType.string.rawValue, 0x22, UInt8(input.count)]
        entry += input
        entry[1] = UInt8(entry.count - 2)
        let fields = try? FieldMap(validating: entry)
        try Finding.unless((fields != nil) == isValid, "Fields: \(fields != nil), library: \(isValid)")
        return isValid
    }
}

private enum UTF8Seeds {
    static let all = [
        "", "plain ASCII of more than eight bytes", "\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}",
        "\u{D7FF}\u{E000}\u{FEFF}", "h\u{E9}llo w\u{F6}rld \u{1F30A}",
    ].map { Array($0.utf8) }
}
