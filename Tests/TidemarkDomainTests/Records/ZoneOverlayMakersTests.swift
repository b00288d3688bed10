// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields

/// Who made each change of a group.
@Suite struct ZoneOverlayMakersTests {
    private let tablet = DeviceID(high: 0, low: 77)

    @Test func `R-248: of a group in which several devices write, each record has the one that wrote it`() throws {
        var zone = TestZone()
        zone.save(save("old"))
        let requests = [
            zone.request(saves: [save("a"), save("both")], policy: .allKeys),
            zone.request(saves: [save("b"), save("both", fields(["k": 2]))], policy: .allKeys, device: tablet),
            zone.request(deletes: ["none"], device: DeviceID(high: 0, low: 78)),
            zone.request(saves: [save("c"), save("a")], deletes: ["old"], policy: .allKeys),
        ]
        let read = ZoneRead(of: requests, in: zone.key, limits: Limits())
        let overlay = ZoneOverlay(snapshot: zone.snapshot(for: read), store: store, limits: Limits())
        for request in requests { _ = overlay.apply(request, now: 2_000) }
        let (hers, others) = (requests[0].memoryLife, requests[1].memoryLife)
        let expected = ["a": hers, "b": others, "both": .nobody, "c": hers, "old": hers]
        let makers = overlay.makers
        let records = try #require(overlay.changes).records
        #expect(Dictionary(uniqueKeysWithValues: records.map { ($0.name, makers.maker(of: $0)) }) == expected)
        #expect(hers != others)
    }

    @Test func `R-248: of what one device writes alone it is the maker`() throws {
        var zone = TestZone()
        let request = zone.request(saves: [save("a"), save("b")])
        let read = ZoneRead(of: [request], in: zone.key, limits: Limits())
        let overlay = ZoneOverlay(snapshot: zone.snapshot(for: read), store: store, limits: Limits())
        #expect(overlay.apply(request, now: 2_000).reasons == [nil, nil])
        let makers = overlay.makers
        let records = try #require(overlay.changes).records
        #expect(records.map { makers.maker(of: $0) } == [request.memoryLife, request.memoryLife])
        #expect(ChangeMakers().maker(of: records[0]) == .nobody)
    }
}
