// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkWire

@testable import TidemarkKit

@Suite struct TidemarkLimitsTests {
    @Test func `R-936: what a server does not say is nil, and a quota of nothing is one`() {
        let old = TidemarkLimits(WireServerLimits(), isSignedIn: true)
        #expect(old.itemsPerRequest == nil && old.requestBytes == nil && old.recordBytes == nil)
        #expect(old.messageBytes == nil && old.assetBytes == nil && old.quotaBytes == nil)
        #expect(old.requestsPerSecond == nil && old.requestBurst == nil)
        #expect("\(old)" == "TidemarkLimits()")

        var wire = WireServerLimits()
        wire.itemsMax = 400
        wire.requestsPerSecond = 5
        wire.requestBurst = 50
        wire.quotaBytes = 0
        let new = TidemarkLimits(wire, isSignedIn: true)
        #expect(new.itemsPerRequest == 400 && new.requestsPerSecond == 5 && new.requestBurst == 50)
        #expect(new.quotaBytes == 0, "nothing may be saved")
        #expect(new.assetBytes == 0, "the server keeps no assets")
        let nobody = TidemarkLimits(wire, isSignedIn: false)
        #expect(nobody.itemsPerRequest == 400 && nobody.requestsPerSecond == nil && nobody.quotaBytes == nil)
        wire.quotaBytes = .max
        #expect(TidemarkLimits(wire, isSignedIn: true).quotaBytes == .max)
    }
}
