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
        // A field whose value is as long a string, which the input then replaces: a value ends its field.
        let text = String(repeating: "x", count: input.count)
        guard var bytes = try? FieldMap([Field("a", .string(text))]).bytes else {
            throw Finding("no field of a string")
        }
        bytes.replaceSubrange((bytes.count - input.count)..., with: input)
        let fields = try? FieldMap(validating: bytes)
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
