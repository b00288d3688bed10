// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct DateTextTests {
    @Test func `R-060: a date that is printed is read as the same one, bit for bit`() throws {
        var random = SeededRandom()
        var seconds: [Double] = [
            0, 0.1, -0.1, -0.25, 721_692_800.123, 721_692_800.123_456_7, -978_307_200.000_000_1, 1e300, -1e300,
            Date.distantPast.timeIntervalSinceReferenceDate, Date.distantFuture.timeIntervalSinceReferenceDate,
            -63_113_904_000.000_01, 252_423_993_599.999_97,
        ]
        for _ in 0..<2_000 {
            seconds.append(.random(in: -3e9...3e9, using: &random))
            seconds.append(Double(Int64.random(in: -4_000_000_000_000...4_000_000_000_000, using: &random)) / 1_000)
            seconds.append(.random(in: -63_113_904_000..<252_423_993_600, using: &random))
        }
        for seconds in seconds where seconds.magnitude < 1e12 {
            let date = try #require(FieldDate(secondsSince2001: seconds))
            let text = DateText.text(date)
            let isSpelled = (-63_113_904_000..<252_423_993_600).contains(seconds)
            #expect(!isSpelled || DateText.date(text) == date, "\(seconds) is \(text), seed \(random.seed)")
        }
    }

    @Test(arguments: [
        (0.0, "2001-01-01T00:00:00.000Z"), (-0.25, "2000-12-31T23:59:59.750Z"), (0.1, "2001-01-01T00:00:00.1000Z"),
        (-0.1, "2000-12-31T23:59:59.9000Z"), (721_692_800.123_456_7, "2023-11-14T22:13:20.1234567Z"),
        (5e-324, "2001-01-01T00:00:00.000Z"), (1e300, "1e+300"),
    ])
    func `a date is printed as people read it`(seconds: Double, text: String) throws {
        #expect(DateText.text(try #require(FieldDate(secondsSince2001: seconds))) == text)
    }
}
