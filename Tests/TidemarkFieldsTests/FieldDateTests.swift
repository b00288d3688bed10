// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkFields

@Suite struct FieldDateTests {
    private static let edges: [Double] = [
        0, 0.1, -0.1, 721_692_800.123, 721_692_800.123_456_7, -978_307_200, -978_307_200.5, 5e-324, -5e-324, 1e300,
        -1e300,
        .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 9_007_199_254_740_993, 9.3e15, -9.3e15, 63_113_904_000,
    ]

    /// Numbers of every size, and many such as clocks and programs give.
    private static func seconds(_ random: inout SeededRandom) -> Double {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return Double(bitPattern: random.next())
        case 1: return Double.random(in: -3e9...3e9, using: &random)
        case 2: return Double(Int64.random(in: -4_000_000_000_000...4_000_000_000_000, using: &random)) / 1_000
        default: return Double(Int64.random(in: 0...4_000_000_000_000, using: &random)) / 1_000 - 978_307_200
        }
    }

    @Test func `R-060: a date comes back bit for bit, and equal dates have equal bytes`() throws {
        var random = SeededRandom()
        let seconds = Self.edges + (0..<20_000).map { _ in Self.seconds(&random) }
        for seconds in seconds where seconds.isFinite && seconds.bitPattern != (-0.0).bitPattern {
            let date = try #require(FieldDate(secondsSince2001: seconds))
            let place = FieldLocation(
                latitude: 1, longitude: 2, altitude: 3, horizontalAccuracy: 4, verticalAccuracy: 5, course: 6, speed: 7,
                timestamp: date)
            let map = try FieldMap([
                Field("d", .date(date)), Field("l", .dates([date, FieldDate(milliseconds: 5)])),
                Field("p", .location(place)),
            ])
            let again = try FieldMap(validating: map.bytes)
            guard case .date(let back)? = try again["d"]?.value(), case .dates(let list)? = try again["l"]?.value(),
                case .location(let found)? = try again["p"]?.value()
            else {
                Issue.record("no date \(seconds)")
                continue
            }
            for back in [back, list[0], found.timestamp] {
                guard back.secondsSince2001.bitPattern == seconds.bitPattern, back == date else {
                    Issue.record("\(seconds) came back as \(back), seed \(random.seed)")
                    return
                }
            }
            #expect(list[1] == FieldDate(milliseconds: 5))
        }
    }

    @Test func `R-060: a date that milliseconds say is written as before, one that they do not is a double`() throws {
        for milliseconds in [Int64(0), -1, 1_700_000_000_123, -62_135_596_800_000, 253_402_300_799_999] {
            let seconds = Double(milliseconds) / 1_000 - 978_307_200
            #expect(FieldDate(secondsSince2001: seconds) == FieldDate(milliseconds: milliseconds))
        }
        let fine = try #require(FieldDate(secondsSince2001: 0.1))
        #expect(fine != FieldDate(milliseconds: fine.milliseconds))
        #expect(try FieldMap([Field("k", .date(fine))]).bytes.contains(FieldTag.Field.exactDate))
        #expect(try !FieldMap([Field("k", .date(milliseconds: 5))]).bytes.contains(FieldTag.Field.exactDate))
    }

    @Test func `R-060: what is no moment is no date, and minus zero is zero`() {
        for seconds in [Double.nan, .infinity, -.infinity] { #expect(FieldDate(secondsSince2001: seconds) == nil) }
        #expect(FieldDate(secondsSince2001: -0.0) == FieldDate(secondsSince2001: 0))
    }

    @Test(arguments: [
        (0.000_4, Int64(978_307_200_000)), (0.000_5, 978_307_200_001), (-0.000_6, 978_307_199_999), (1e300, .max),
        (-1e300, .min),
    ])
    func `R-176: queries compare the nearest millisecond`(seconds: Double, milliseconds: Int64) {
        #expect(FieldDate(secondsSince2001: seconds)?.milliseconds == milliseconds)
    }

    /// Whether the value of a date, a list of dates and a location's timestamp is accepted as a double of those bits.
    private func isAccepted(_ seconds: Double, in numbers: [Double]) -> (Bool, Bool) {
        func bytes(_ number: Double) -> [UInt8] {
            var output: [UInt8] = []
            FieldWire.append(double: number, to: &output)
            return output
        }
        func start(_ type: FieldType) -> [UInt8] { [FieldTag.Field.key, 1, 0x6B, FieldTag.Field.type, type.rawValue] }
        let date = start(.date) + [FieldTag.Field.exactDate] + bytes(seconds)
        let packed = numbers.flatMap(bytes)
        let list = [FieldTag.List.exactDates, UInt8(packed.count)] + packed
        let dates = start(.dateList) + [FieldTag.Field.list, UInt8(list.count)] + list
        func accepts(_ entry: [UInt8]) -> Bool {
            (try? FieldMap(validating: [FieldTag.FieldMap.fields, UInt8(entry.count)] + entry)) != nil
        }
        return (accepts(date), accepts(dates))
    }

    @Test func `R-060: each date has one form, so that a second one is refused`() {
        #expect(isAccepted(0.1, in: [0.1]) == (true, true))
        #expect(isAccepted(0.25, in: [0.25, 0]) == (false, false))
        #expect(isAccepted(0.1, in: [0.25, 0.1]) == (true, true))
        #expect(isAccepted(-0.0, in: [0.1, -0.0]) == (false, false))
        #expect(isAccepted(.nan, in: [0.1, .nan]) == (false, false))
        #expect(isAccepted(.infinity, in: [0.1, -.infinity]) == (false, false))
        #expect(isAccepted(0.1, in: []) == (true, false))
    }
}
