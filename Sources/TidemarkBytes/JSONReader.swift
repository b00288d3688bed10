// SPDX-License-Identifier: Apache-2.0

/// Reads JSON texts strictly (RFC 8259): UTF-8 without a byte order mark, no comments, no name twice in an object, nothing
/// after the value. The caller bounds the length of the text; the reader takes memory in proportion to it.
package struct JSONReader {
    private let bytes: [UInt8]
    private let depthMax: Int
    private var offset = 0
    private var line = 1

    private init(_ bytes: [UInt8], depthMax: Int) {
        self.bytes = bytes
        self.depthMax = depthMax
    }

    /// The value of a whole text.
    ///
    /// - Parameter depthMax: how deeply lists and objects may be nested. Without a bound, the recursion of a reader could end the process.
    package static func read(_ bytes: [UInt8], depthMax: Int = 16) throws(JSONError) -> JSONValue {
        var reader = JSONReader(bytes, depthMax: depthMax)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.offset == bytes.count else { throw reader.error(.unexpected) }
        return value
    }

    private func error(_ code: JSONError.Code) -> JSONError { JSONError(code: code, line: line) }

    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            if byte == 0x0A { line += 1 }
            offset += 1
        }
    }

    private mutating func take(_ byte: UInt8) throws(JSONError) {
        guard let next else { throw error(.unfinished) }
        guard next == byte else { throw error(.unexpected) }
        offset += 1
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        skipSpace()
        guard let next else { throw error(.unfinished) }
        switch next {
        case UInt8(ascii: "{"): return .object(try object(depth: depth + 1))
        case UInt8(ascii: "["): return .list(try list(depth: depth + 1))
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t"): return try word("true", .flag(true))
        case UInt8(ascii: "f"): return try word("false", .flag(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        default: throw error(.unexpected)
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
        for byte in word.utf8 { try take(byte) }
        return value
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONMembers {
        guard depth <= depthMax else { throw error(.tooDeep) }
        var object = JSONMembers(line: line)
        try take(UInt8(ascii: "{"))
        skipSpace()
        if next == UInt8(ascii: "}") {
            offset += 1
            return object
        }
        while true {
            skipSpace()
            let nameLine = line
            let name = try text()
            skipSpace()
            try take(UInt8(ascii: ":"))
            let value = try value(depth: depth)
            guard object.add(name, value, line: nameLine) else {
                throw JSONError(code: .nameRepeated, line: nameLine)
            }
            if try !goesOn(until: UInt8(ascii: "}")) { return object }
        }
    }

    private mutating func list(depth: Int) throws(JSONError) -> [JSONValue] {
        guard depth <= depthMax else { throw error(.tooDeep) }
        var list: [JSONValue] = []
        try take(UInt8(ascii: "["))
        skipSpace()
        if next == UInt8(ascii: "]") {
            offset += 1
            return list
        }
        while true {
            list.append(try value(depth: depth))
            if try !goesOn(until: UInt8(ascii: "]")) { return list }
        }
    }

    /// After an element: a comma, or the end.
    private mutating func goesOn(until end: UInt8) throws(JSONError) -> Bool {
        skipSpace()
        guard let next else { throw error(.unfinished) }
        guard next == end || next == UInt8(ascii: ",") else { throw error(.unexpected) }
        offset += 1
        return next != end
    }

    private mutating func number() throws(JSONError) -> Double {
        let start = offset
        if next == UInt8(ascii: "-") { offset += 1 }
        let first = next
        guard skipDigits() > 0 else { throw error(.invalidNumber) }
        let whole = offset - start - (bytes[start] == UInt8(ascii: "-") ? 1 : 0)
        guard first != UInt8(ascii: "0") || whole == 1 else { throw error(.invalidNumber) }
        if next == UInt8(ascii: ".") {
            offset += 1
            guard skipDigits() > 0 else { throw error(.invalidNumber) }
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            offset += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { offset += 1 }
            guard skipDigits() > 0 else { throw error(.invalidNumber) }
        }
        guard let number = Double(String(decoding: bytes[start..<offset], as: UTF8.self)), number.isFinite else {
            throw error(.invalidNumber)
        }
        return number
    }

    private mutating func skipDigits() -> Int {
        let start = offset
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { offset += 1 }
        return offset - start
    }

    private mutating func text() throws(JSONError) -> String {
        try take(UInt8(ascii: "\""))
        var content: [UInt8] = []
        while true {
            guard let byte = next else { throw error(.unfinished) }
            offset += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: content, as: UTF8.self) else { throw error(.invalidText) }
                return text
            case UInt8(ascii: "\\"): content.append(contentsOf: try escaped())
            case ..<0x20: throw error(.invalidText)
            default: content.append(byte)
            }
        }
    }

    /// The character after a backslash, as UTF-8.
    private mutating func escaped() throws(JSONError) -> [UInt8] {
        guard let byte = next else { throw error(.unfinished) }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return Array(String(Character(try scalar())).utf8)
        default: throw error(.invalidText)
        }
    }

    private mutating func scalar() throws(JSONError) -> Unicode.Scalar {
        var code = try unit()
        if (0xD800...0xDBFF).contains(code) {
            guard next == UInt8(ascii: "\\") else { throw error(.invalidText) }
            offset += 1
            guard next == UInt8(ascii: "u") else { throw error(.invalidText) }
            offset += 1
            let low = try unit()
            guard (0xDC00...0xDFFF).contains(low) else { throw error(.invalidText) }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw error(.invalidText) }
        return scalar
    }

    private mutating func unit() throws(JSONError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next else { throw error(.unfinished) }
            guard let digit = Self.hexDigit(byte) else { throw error(.invalidText) }
            code = code << 4 | digit
            offset += 1
        }
        return code
    }

    private static func hexDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
