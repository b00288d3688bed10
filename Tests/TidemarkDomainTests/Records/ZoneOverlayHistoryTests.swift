// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

/// Random histories: a group must be the same as its requests one after another, and nothing may ever be half done.
@Suite struct ZoneOverlayHistoryTests {
    @Test func `R-117, I-3: a group of requests is decided as if each came alone, in random histories`() {
        let seed = SeededRandom().seed
        for round in 0..<60 {
            var history = RandomHistory(random: SeededRandom(seed: seed &+ UInt64(round)))
            var alone = TestZone()
            var grouped = TestZone()
            for _ in 0..<12 {
                let now = Timestamp(milliseconds: Int64.random(in: 0...50, using: &history.random))
                let requests = history.requests(on: alone)
                let before = alone
                let single = requests.map { alone.run($0, now: now) }
                let group = grouped.run(requests, now: now)
                #expect(single == group, "seed \(seed) round \(round)")
                #expect(alone.records == grouped.records, "seed \(seed) round \(round)")
                #expect(alone.zone == grouped.zone && alone.memories == grouped.memories, "seed \(seed) round \(round)")
                checkInvariants(alone, since: before, "seed \(seed) round \(round)")
            }
        }
    }

    @Test func `R-151, R-117: what failed has changed nothing, in random histories`() {
        let seed = SeededRandom().seed
        for round in 0..<60 {
            var history = RandomHistory(random: SeededRandom(seed: seed &+ UInt64(round)))
            var zone = TestZone()
            for request in (0..<15).flatMap({ _ in history.requests(on: zone) }) {
                let before = zone
                guard let reasons = zone.run(request).reasons else {
                    #expect(zone.records == before.records, "seed \(seed) round \(round)")
                    continue
                }
                let names = request.saves.map(\.name) + request.deletes
                for (name, reason) in zip(names, reasons) where reason != nil {
                    #expect(zone.records[name] == before.records[name], "seed \(seed) round \(round)")
                }
                if request.isAtomic, reasons.contains(where: { $0 != nil }) {
                    #expect(reasons.allSatisfy { $0 != nil } && zone.records == before.records)
                }
                let untouched = Set(zone.records.keys).subtracting(names)
                #expect(untouched.allSatisfy { zone.records[$0] == before.records[$0] }, "seed \(seed) round \(round)")
            }
        }
    }

    /// fields, names, and 128 bytes; nothing of a tombstone.
    private static func counted(_ record: RecordState) -> Int64 {
        if record.isDeleted { return 0 }
        return Int64(
            record.fields.byteCount + record.name.utf8.count + record.type.utf8.count
                + (record.parent?.utf8.count ?? 0) + 128)
    }

    private func checkInvariants(_ zone: TestZone, since before: TestZone, _ comment: Comment) {
        let rows = zone.records.values
        #expect(Set(rows.map(\.changeNumber)).count == rows.count, comment)
        //
        #expect(zone.byteCount == rows.reduce(0) { $0 + Self.counted($1) }, comment)
        #expect(rows.allSatisfy { $0.changeNumber <= $0.batchEnd && $0.batchEnd <= (zone.zone?.changeNumber ?? 0) })
        for record in rows {
            if let parent = record.parent { #expect(zone.living(parent) != nil, comment) }
            guard let old = before.records[record.name], old != record else { continue }
            #expect(record.modifiedAt > old.modifiedAt && record.changeNumber > old.changeNumber, comment)
        }
    }
}

/// Makes requests that often conflict: few names, tags that are often stale.
struct RandomHistory {
    var random: SeededRandom
    var names = (0..<8).map { "n\($0)" }
    private var counter: UInt64 = 0
    private var last: RecordsRequest?

    init(random: SeededRandom) {
        self.random = random
    }

    mutating func requests(on zone: TestZone) -> [RecordsRequest] {
        (0..<Int.random(in: 1...5, using: &random)).map { _ in request(on: zone) }
    }

    mutating func request(on zone: TestZone) -> RecordsRequest {
        // Now and then a request comes twice.
        if let last, Int.random(in: 0..<10, using: &random) == 0 { return last }
        let chosen = names.shuffled(using: &random).prefix(Int.random(in: 1...5, using: &random))
        let saveCount = Int.random(in: 0...chosen.count, using: &random)
        counter += 1
        let user = Bool.random(using: &random) ? alice : bob
        let request = RecordsRequest(
            id: stamp(counter, device: Bool.random(using: &random) ? phone : laptop),
            key: zone.key, saves: chosen.prefix(saveCount).map { save($0, on: zone) },
            deletes: Array(chosen.dropFirst(saveCount)),
            policy: SavePolicy.allCases.randomElement(using: &random) ?? .allKeys,
            isAtomic: Bool.random(using: &random), user: user, access: .owner(user))
        last = request
        return request
    }

    private mutating func save(_ name: String, on zone: TestZone) -> RecordSave {
        let parent: ParentChange =
            switch Int.random(in: 0..<6, using: &random) {
            case 0: .set(names.randomElement(using: &random) ?? "none")
            case 1: .removed
            default: .unchanged
            }
        return RecordSave(
            name: name, type: Int.random(in: 0..<20, using: &random) == 0 ? "Other" : "Item",
            tag: Int.random(in: 0..<4, using: &random) == 0 ? nil : zone.tag(name),
            fields: fields([
                "a": Int64.random(in: 0...3, using: &random), "b": Bool.random(using: &random) ? nil : 1,
            ]),
            parent: parent)
    }
}
