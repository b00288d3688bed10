// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkAdmin

@Suite struct LimitRowTests {
    @Test func `R-869: every limit is shown with its value, and every setting names a limit`() {
        let rows = LimitRow.of(nil)
        #expect(rows.allSatisfy { $0.source == .default })
        var limits = Limits.standard
        limits.itemsMax = 17
        let running = LimitRow.of(limits)
        #expect(running.first { $0.name == "itemsMax" }?.value == 17)
        #expect(running.allSatisfy { $0.source == .server } && running.map(\.name) == rows.map(\.name))
        #expect(rows.count == Mirror(reflecting: Limits.standard).children.count)
        #expect(rows.allSatisfy { $0.value != nil }, "\(rows.filter { $0.value == nil })")
        #expect(rows.first { $0.name == "itemsMax" }?.value == Int64(Limits.standard.itemsMax))
        #expect(rows.first { $0.name == "recordBytesMax" }?.unit == "bytes")
        #expect(rows.first { $0.name == "querySecondsMax" }?.unit == "seconds")
        #expect(rows.first { $0.name == "zonesMax" }?.unit == "count")
        #expect(Set(LimitRow.options.keys).isSubset(of: Set(rows.map(\.name))))
        #expect(rows.first { $0.name == "assetBytesMax" }?.setting == "serve --asset-megabytes")
    }
}
