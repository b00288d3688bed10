// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

/// Readers that fetch from token to token while others write.
@Suite struct ZonePageHistoryTests {
    @Test func `I-2, R-213: whoever fetches from token to token has everything, whatever happens between`() throws {
        let seed = SeededRandom().seed
        for round in 0..<80 {
            var history = RandomHistory(random: SeededRandom(seed: seed &+ UInt64(round)))
            history.names = (0..<Int.random(in: 3...25, using: &history.random)).map { "n\($0)" }
            var zone = TestZone()
            var readers = [Reader(device: phone), Reader(device: laptop), Reader(device: DeviceID(high: 9, low: 9))]
            for _ in 0..<80 {
                if Bool.random(using: &history.random) {
                    zone.run(history.requests(on: zone))
                } else {
                    let index = Int.random(in: readers.indices, using: &history.random)
                    _ = try readers[index].fetch(from: zone, &history.random, "seed \(seed) round \(round)")
                }
            }
            let living = zone.records.filter { !$0.value.isDeleted }
            for index in readers.indices {
                var isDone = false
                for _ in 0..<100 where !isDone {
                    isDone = try readers[index].fetch(from: zone, &history.random, "seed \(seed) round \(round)")
                }
                #expect(isDone && readers[index].records == living, "seed \(seed) round \(round)")
            }
        }
    }

    private struct Reader {
        let device: DeviceID
        var token: [UInt8] = []
        var records: [String: RecordState] = [:]
        /// The zone's number when the first page was fetched.
        private var begunAt: ChangeNumber = 0

        init(device: DeviceID) {
            self.device = device
        }

        /// One page of some size, read with some look-ahead. Answers whether there is nothing more.
        mutating func fetch(from zone: TestZone, _ random: inout SeededRandom, _ comment: Comment) throws -> Bool {
            let position = try ChangeToken.position(in: zone.key, viewer: nil, from: token, store: store).get()
            let query = ZonePageQuery(
                key: zone.key, after: position, recordsMax: Int.random(in: 1...6, using: &random),
                bytesMax: Int.random(in: 1...100, using: &random), device: device, reader: nil,
                tombstonesPassedMax: Int.random(in: 0...4, using: &random))
            let read = zone.read(
                query, extra: Int.random(in: 0...3, using: &random), passes: Bool.random(using: &random))
            let page = try ZonePage.make(of: read, for: query, store: store).get()
            if token.isEmpty { begunAt = zone.zone?.changeNumber ?? 0 }
            checkBatches(page, query, zone, comment)
            for entry in page.entries {
                // no deletion that is older than anything this device has.
                if entry.isDeleted, entry.createdByDevice != device { #expect(entry.changeNumber > begunAt, comment) }
                records[entry.name] = entry.isDeleted ? nil : entry
            }
            token = page.token.bytes
            return !page.moreComing
        }

        /// I-3: of each batch the page has all that is left, or nothing; if not, that batch alone is too long for a page.
        private func checkBatches(_ page: ZonePage, _ query: ZonePageQuery, _ zone: TestZone, _ comment: Comment) {
            guard case .zone(_, _, _, _, let position) = page.token else { return }
            let start = query.after?.number ?? 0
            let due = zone.records.values.filter { record in
                record.changeNumber > start
                    && (!record.isDeleted || record.createdByDevice == device || record.changeNumber > begunAt)
            }
            for (_, batch) in Dictionary(grouping: due, by: \.batchEnd) {
                let shown = batch.filter { $0.changeNumber <= position.number }
                if shown.isEmpty || shown.count == batch.count { continue }
                let byteCount = batch.reduce(0) { $0 + $1.fields.byteCount }
                // A store may read records that the page leaves out: they count as read.
                let readCount = zone.records.values.count {
                    $0.changeNumber > start && $0.batchEnd == batch[0].batchEnd
                }
                #expect(readCount > query.recordsMax || byteCount > query.bytesMax, comment)
                #expect(shown.count == page.entries.count, comment)
            }
        }
    }
}
