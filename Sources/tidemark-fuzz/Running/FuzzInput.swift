// SPDX-License-Identifier: Apache-2.0

/// Reads an input as a script: numbers and texts that decide what to do. After its end everything is zero and empty.
struct FuzzInput {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 {
        rest.popFirst() ?? 0
    }

    mutating func bit() -> Bool {
        byte() & 1 == 1
    }

    /// Eight bytes, highest first.
    mutating func number() -> UInt64 {
        var number: UInt64 = 0
        for _ in 0..<8 { number = number << 8 | UInt64(byte()) }
        return number
    }

    mutating func signed() -> Int64 {
        Int64(bitPattern: number())
    }

    /// Up to 255 bytes, after a byte with their number.
    mutating func bytes() -> [UInt8] {
        let count = Int(byte())
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func text() -> String {
        String(decoding: bytes(), as: UTF8.self)
    }

    /// All remaining bytes.
    mutating func remainder() -> [UInt8] {
        defer { rest = [] }
        return Array(rest)
    }
}

/// Writes what ``FuzzInput`` reads, for seeds.
struct FuzzScript {
    private(set) var bytes: [UInt8] = []

    func byte(_ byte: UInt8) -> FuzzScript { adding([byte]) }

    func number(_ number: UInt64) -> FuzzScript {
        let shifts: [UInt64] = [56, 48, 40, 32, 24, 16, 8, 0]
        return adding(shifts.map { UInt8(truncatingIfNeeded: number >> $0) })
    }

    func text(_ text: String) -> FuzzScript { content(Array(text.utf8)) }

    func content(_ content: [UInt8]) -> FuzzScript {
        adding([UInt8(clamping: content.count)] + content.prefix(255))
    }

    func adding(_ more: [UInt8]) -> FuzzScript {
        var script = self
        script.bytes += more
        return script
    }
}
