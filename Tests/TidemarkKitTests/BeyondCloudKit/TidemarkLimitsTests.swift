// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkWire

@testable import TidemarkKit

@Suite struct TidemarkLimitsTests {
    @Test func `R-936: what a server does not say is nil, and a quota of nothing is one`() {
        let old = TidemarkLimits(WireServerLimits(), isSignedIn: true)
        #expect(old.itemsPerRequest == nil && old.requestBytes == nil && old.recordBytes == nil)
        #expect(old.messageBytes == nil && old.assetBytes == nil && old.quotaBytes == nil)
        #expect(old.requestsPerSecond == nil && old.requestBurst == nil && old.connections == nil)
        #expect("\(old)" == "TidemarkLimits()")

        var wire = WireServerLimits()
        wire.itemsMax = 400
        wire.requestsPerSecond = 5
        wire.requestBurst = 50
        wire.connectionsMax = 3
        wire.quotaBytes = 0
        let new = TidemarkLimits(wire, isSignedIn: true)
        #expect(new.itemsPerRequest == 400 && new.requestsPerSecond == 5 && new.requestBurst == 50)
        #expect(new.connections == 3 && "\(new)".contains("connections: 3, quota bytes: 0"))
        #expect(new.quotaBytes == 0, "nothing may be saved")
        #expect(new.assetBytes == 0, "the server keeps no assets")
        let nobody = TidemarkLimits(wire, isSignedIn: false)
        #expect(nobody.itemsPerRequest == 400 && nobody.requestsPerSecond == nil && nobody.quotaBytes == nil)
        #expect(nobody.connections == nil)
        wire.quotaBytes = .max
        #expect(TidemarkLimits(wire, isSignedIn: true).quotaBytes == .max)
    }

    @Test func `R-962: what is used of a quota is nil if a server does not say it, and may be nothing or too much`() {
        var wire = WireServerLimits()
        wire.quotaBytes = 1_000
        let old = TidemarkLimits(wire, isSignedIn: true)
        #expect(old.quotaBytes == 1_000 && old.quotaUsedBytes == nil)
        #expect("\(old)".contains("quota bytes: 1000") && !"\(old)".contains("used"))
        for used: UInt64 in [0, 999, 2_000] {
            wire.quotaUsedBytes = used
            let limits = TidemarkLimits(wire, isSignedIn: true)
            #expect(limits.quotaUsedBytes == Int64(used) && limits != old)
            #expect("\(limits)".hasSuffix("quota bytes: 1000, quota used bytes: \(used))"))
        }
        wire.quotaUsedBytes = .max
        #expect(TidemarkLimits(wire, isSignedIn: true).quotaUsedBytes == .max)
        #expect(TidemarkLimits(wire, isSignedIn: false).quotaUsedBytes == nil)
    }
}
