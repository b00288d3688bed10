// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkFields

@testable import TidemarkAdmin

@Suite struct CKToolDateTests {
    /// Text, and the same moment in ISO 8601. The zone is two hours east of Greenwich.
    private static let good: [(String, String)] = [
        ("1875-09-12T21:12:42Z", "1875-09-12T21:12:42Z"), ("1860-12-01T03:23:07.415Z", "1860-12-01T03:23:07.415Z"),
        ("2021-04-28T10:00:00+02:00", "2021-04-28T08:00:00Z"), ("2021-04-28", "2021-04-27T22:00:00Z"),
        ("2021-04-28 17:05", "2021-04-28T15:05:00Z"), ("2021-04-28 0:00", "2021-04-27T22:00:00Z"),
        ("04/28/2021", "2021-04-27T22:00:00Z"), ("04-28-2021", "2021-04-27T22:00:00Z"),
        ("4/28/2021, 17:05", "2021-04-28T15:05:00Z"), ("04-28-2021 17:05", "2021-04-28T15:05:00Z"),
        ("04/28/2021, 5:05 pm", "2021-04-28T15:05:00Z"), ("04/28/2021, 12:05 AM", "2021-04-27T22:05:00Z"),
        ("04/28/2021, 12:05 PM", "2021-04-28T10:05:00Z"), ("02/29/2024", "2024-02-28T22:00:00Z"),
    ]

    @Test func `R-895: dates have the forms of Apple's tool, and are local without a zone`() throws {
        let zone = try #require(TimeZone(secondsFromGMT: 7_200))
        for (text, moment) in Self.good {
            let date = CKToolDate.date(text, in: zone)
            #expect(date != nil && date == DateText.date(moment), "\(text)")
        }
    }

    @Test(arguments: [
        "", "today", "2021", "2021-4-28", "2021-02-30", "2021-13-01", "02/29/2023", "13/01/2021", "04/28/21",
        "2021-04-28 24:00", "2021-04-28 17:60", "04/28/2021, 13:05 pm", "04/28/2021, 0:05 am", "2021-04-28 17:05 pm",
        "2021-04-28T", " 2021-04-28", "2021-04-28 ",
    ])
    func `R-895: what is no date is refused`(_ text: String) {
        #expect(CKToolDate.date(text, in: .gmt) == nil)
    }
}
