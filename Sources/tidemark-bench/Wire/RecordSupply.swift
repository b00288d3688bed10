// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields

/// Records to save, with some 300 bytes of fields each. Confined to the device that saves.
final class RecordSupply: @unchecked Sendable {
    /// As in the reference: records are new at first, then replaced again and again.
    private static let nameCount = 10_000
    private static let contentCount = 64

    private let contents: [SaveMessage.Content]
    private var generator = CheapGenerator()
    private var number = 0

    init() {
        contents = (0..<Self.contentCount).map { SaveMessage.Content(type: "Note", fields: Self.fields($0)) }
    }

    /// Consecutive records, beginning with a random one.
    func next(_ count: Int) -> [SaveMessage] {
        number = Int.random(in: 0..<Self.nameCount, using: &generator)
        return (0..<count).map { save("r\((number + $0) % Self.nameCount)") }
    }

    /// One of the first `count` records of ``following(_:)``.
    func any(of count: Int) -> SaveMessage {
        save(Self.name(Int.random(in: 1..<count, using: &generator)))
    }

    /// Records that never existed, in order.
    func following(_ count: Int) -> [SaveMessage] {
        defer { number += count }
        return (0..<count).map { save(Self.name(number + $0)) }
    }

    /// One of the records that ``BenchDatabase/make(_:inZone:like:)`` has made.
    func any(of records: BenchRecords) -> SaveMessage {
        save(BenchRecords.name(records.prefix, Int.random(in: 1...records.count, using: &generator)))
    }

    func save(_ name: String) -> SaveMessage {
        SaveMessage(name: name, contents[Int.random(in: 0..<contents.count, using: &generator)])
    }

    /// A save that gives a record another parent, or none.
    static func move(_ name: String, under parent: String?) -> SaveMessage {
        SaveMessage(name: name, SaveMessage.Content(type: "Note", fields: fields(0), parent: parent ?? ""))
    }

    private static func name(_ number: Int) -> String { String(format: "r%08d", number) }

    private static func fields(_ number: Int) -> [UInt8] {
        let words = ["the", "tide", "comes", "in", "and", "leaves", "a", "line", "on", "every", "stone", "of", "shore"]
        var body = ""
        while body.utf8.count < 205 { body += words[(body.utf8.count * 7 + number) % words.count] + " " }
        let fields = [
            Field("body", .string(body)),
            Field("created", .date(milliseconds: 1_700_000_000_000 + Int64(number))),
            Field("done", .int64(Int64(number % 2))),
            Field("rank", .double(Double(number) * 1.5)),
            Field("title", .string("Note number \(number)")),
        ]
        do {
            return try FieldMap(fields).bytes
        } catch {
            preconditionFailure("Our own fields are valid: \(error)")
        }
    }
}

/// Numbers that look random, without a system call for each.
private struct CheapGenerator: RandomNumberGenerator {
    private var state = UInt64.random(in: 1...UInt64.max)

    /// xorshift64*.
    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
