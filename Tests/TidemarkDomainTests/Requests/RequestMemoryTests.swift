// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkTestSupport

@Suite struct RequestMemoryTests {
    let limits = Limits()

    // MARK: Through the overlay

    @Test func `R-157: a repeated request gets the first outcome and changes nothing`() throws {
        var zone = TestZone()
        zone.save(save("old"))
        let request = zone.request(saves: [save("new"), save("old")], deletes: ["old2"])
        let first = zone.run(request)
        let after = zone
        for _ in 0..<3 {
            #expect(zone.run(request, now: 99_999) == first)
            #expect(zone.records == after.records && zone.memories == after.memories)
        }
        // In one group, and among other requests.
        var group = TestZone()
        group.save(save("old"))
        let results = group.run([request, request, group.request(saves: [save("new2")], device: laptop), request])
        #expect(results[1] == results[0] && results[3] == results[0])
        #expect(group.zone?.changeNumber == 3)
    }

    @Test func `R-111, R-157: a repeated conflict comes with the record as it is now`() {
        var zone = TestZone()
        zone.save(save("r"))
        let request = zone.request(saves: [save("r", fields(["mine": 1]))])
        #expect(zone.run(request).saves.first?.failure?.serverRecord == zone.records["r"])
        zone.save(save("r", fields(["theirs": 2])), policy: .changedKeys, device: laptop)
        let again = zone.run(request).saves.first?.failure
        #expect(again?.reason == .recordExists && again?.serverRecord == zone.records["r"])
        #expect(again?.serverZone == zone.zone?.id)
        // A conflict always comes with what it is about: where that is gone, the record is.
        zone.delete("r")
        #expect(zone.run(request).saves == [.failed(ItemFailure(.recordMissing))])
    }

    @Test func `R-054, R-157: a repeat brings the record that was saved, but not one that has changed since`() throws {
        for policy in [SavePolicy.changedKeys, .allKeys] {
            var zone = TestZone()
            zone.save(save("r", fields(["theirs": 2])), device: laptop)
            let request = zone.request(saves: [save("r", fields(["mine": 1]))], policy: policy)
            let first = try #require(zone.run(request).saves.first?.metadata)
            #expect(zone.records["r"]?.fields == fields(["mine": 1, "theirs": 2]))
            #expect(first.content == zone.records["r"].map { .record($0) })
            #expect(zone.run(request).saves == [.saved(first)])
            // Nothing of the record is remembered.
            #expect(zone.memories[phone]?.outcomes.values.allSatisfy { $0.count < 40 } == true)
            zone.save(save("r", fields(["theirs": 3])), policy: .changedKeys, device: laptop)
            let again = try #require(zone.run(request).saves.first?.metadata)
            #expect(again.changeNumber == first.changeNumber && again.content == .withheld)
            zone.delete("r")
            #expect(zone.run(request).saves.first?.metadata?.content == .withheld)
        }
    }

    @Test func `R-054, R-157: what its device knew is remembered as that`() throws {
        for policy in SavePolicy.allCases {
            var zone = TestZone()
            let new = zone.request(saves: [save("r")], policy: policy)
            let first = zone.run(new)
            let change = zone.request(saves: [save("r", tag: zone.tag("r"), fields(["k": 2]))], policy: policy)
            let second = zone.run(change)
            #expect([first, second].flatMap(\.saves).map(\.metadata?.content) == [.known, .known])
            #expect(zone.run([new, change]) == [first, second])
        }
    }

    @Test func `R-157: a failure is remembered like a success`() {
        var zone = TestZone()
        let request = zone.request(saves: [save("r", parent: .set("p"))])
        #expect(zone.run(request).reasons == [.parentMissing])
        zone.save(save("p"))
        #expect(zone.run(request).reasons == [.parentMissing])
    }

    @Test func `R-157: two devices have their own counters`() {
        var zone = TestZone()
        func request(_ device: DeviceID, _ name: String) -> RecordsRequest {
            RecordsRequest(
                id: stamp(1, device: device), key: zone.key, saves: [save(name)], deletes: [],
                policy: .allKeys, isAtomic: false, user: alice, access: .owner(alice))
        }
        let requests = [request(phone, "a"), request(laptop, "b")]
        #expect(zone.run(requests).map(\.reasons) == [[nil], [nil]])
        #expect(zone.records.count == 2)
    }

    @Test func `R-157: a counter that is used for two requests gets neither's outcome`() {
        var zone = TestZone()
        let first = zone.request(saves: [save("a")])
        zone.run(first)
        let other = RecordsRequest(
            id: first.id, key: zone.key, saves: [save("b"), save("c")], deletes: [], policy: .allKeys,
            isAtomic: false, user: alice, access: .owner(alice))
        #expect(zone.run(other).refusal == .requestInvalid)
        #expect(zone.records.keys.sorted() == ["a"])
    }

    @Test func `R-157: a request whose outcome may be forgotten is not applied again`() throws {
        var zone = TestZone()
        func request(_ counter: UInt64, _ lowest: UInt64) -> RecordsRequest {
            RecordsRequest(
                id: stamp(counter, waitingFor: lowest), key: zone.key, saves: [save("n\(counter)")],
                deletes: [], policy: .ifServerRecordUnchanged, isAtomic: true, user: alice,
                access: .owner(alice))
        }
        zone.run(request(1, 1))
        zone.run(request(2, 2))
        #expect(zone.run(request(1, 1)).refusal == .requestForgotten)
        #expect(zone.run(request(2, 2)).reasons == [nil])
    }

    /// Every way in which a request can come: for the first time or again, with its own nonce or another one, to a memory
    /// that has it, has had it, or never heard of it, in each epoch around the one that is kept last, after a wait on the
    /// server that began in any of these.
    @Test func `R-157: what is remembered, what is forgotten and what is new, in every epoch`() {
        let memory = RequestMemory(lowestCounter: 3, outcomes: [5: [7], 6: [8]], nonces: [5: 9])
        let now: Int64 = 10
        let lastKept = now - limits.memoryEpochsKept + 1
        let epochs = [0, 1, lastKept - 1, lastKept, now, now + 1, .max]
        let arrivals = epochs.map(Optional.some) + [nil]
        for counter in UInt64(1)...7 {
            for (epoch, arrival) in epochs.flatMap({ epoch in arrivals.map { (epoch, $0) } }) {
                for (isRepeated, nonce) in [(false, 0), (false, 9), (false, 1), (true, 0), (true, 9), (true, 1)]
                    as [(Bool, UInt64)]
                {
                    let id = stamp(counter, waitingFor: 1, nonce: nonce, isRepeated: isRepeated, epoch: epoch)
                    // Decided before, as a repeat or by one, and cleared since.
                    let mayBeCleared =
                        isRepeated
                        ? epoch < lastKept || epoch > now : epoch < lastKept && arrival.map { $0 < lastKept } == true
                    let expected: RequestRecall =
                        switch counter {
                        case 5: nonce == 9 ? .remembered([7]) : .forgotten
                        case 6: nonce == 0 ? .remembered([8]) : .forgotten
                        case ..<3: .forgotten
                        default: mayBeCleared ? .forgotten : .unseen
                        }
                    #expect(
                        memory.recall(id, arrivalEpoch: arrival, epoch: now, limits: limits) == expected,
                        "counter \(counter), nonce \(nonce), epochs \(epoch), \(arrival ?? -1), repeated \(isRepeated)")
                }
            }
        }
    }

    @Test func `R-157, R-355: two lives of one device have their own counters`() {
        var zone = TestZone()
        func request(_ life: DeviceID, _ name: String, nonce: UInt64 = 1, isRepeated: Bool = false) -> RecordsRequest {
            RecordsRequest(
                id: stamp(1, life: life, nonce: nonce, isRepeated: isRepeated, epoch: 1), key: zone.key,
                saves: [save(name)], deletes: [], policy: .allKeys, isAtomic: false, user: alice, access: .owner(alice))
        }
        let (first, second) = (DeviceID(high: 7, low: 1), DeviceID(high: 7, low: 2))
        #expect(zone.run([request(first, "a"), request(second, "b")]).map(\.reasons) == [[nil], [nil]])
        #expect(zone.records.keys.sorted() == ["a", "b"])
        // Each gets its own outcome again.
        let number = zone.zone?.changeNumber
        #expect(zone.run(request(second, "b", isRepeated: true)).reasons == [nil])
        #expect(zone.zone?.changeNumber == number)
        // Two who live the same life are told apart by what they made up for their requests, also when they repeat them.
        for isRepeated in [false, true] {
            #expect(zone.run(request(first, "c", nonce: 2, isRepeated: isRepeated)).refusal == .requestForgotten)
        }
        #expect(zone.records["c"] == nil)
    }

    // MARK: Bounds

    @Test func `I-7: a memory is bounded, whatever the device says it waits for`() {
        var limits = Limits()
        limits.requestsInFlightMax = 10
        limits.requestMemoryBytesMax = 1_000
        var memory = RequestMemory()
        for counter in 1...UInt64(50) {
            memory.remember([1], of: stamp(counter), limits: limits)
            #expect(memory.outcomes.count <= 10 && memory.outcomes[counter] != nil)
        }
        #expect(memory.lowestCounter == 41 && memory.outcomes.keys.min() == 41)
        #expect(memory.recall(stamp(40), epoch: 0, limits: limits) == .forgotten)
        memory.remember(Array(repeating: 0, count: 995), of: stamp(51), limits: limits)
        #expect(memory.outcomes.count == 6)
        memory.remember(Array(repeating: 0, count: 2_000), of: stamp(52), limits: limits)
        #expect(memory.outcomes.keys.sorted() == [52] && memory.lowestCounter == 52)
        memory.remember([], of: stamp(.max, waitingFor: .max), limits: limits)
        #expect(memory.lowestCounter == .max && memory.outcomes == [.max: []])
    }

    @Test func `R-157: requests may be decided out of order`() {
        var memory = RequestMemory()
        for counter in [3, 1, 2] as [UInt64] {
            #expect(memory.recall(stamp(counter), epoch: 0, limits: limits) == .unseen)
            memory.remember([UInt8(counter)], of: stamp(counter), limits: limits)
        }
        memory.remember([5], of: stamp(5, waitingFor: 3), limits: limits)
        #expect(memory == RequestMemory(lowestCounter: 3, outcomes: [3: [3], 5: [5]]))
        #expect(memory.recall(stamp(4), epoch: 0, limits: limits) == .unseen)
    }

    // MARK: Encodings

    @Test func `R-157: outcomes and memories come back as they were encoded`() throws {
        var random = SeededRandom()
        let seed = random.seed
        for _ in 0..<300 {
            let records = Self.recordsOutcome(&random)
            #expect(RecordsOutcome(decoding: records.encoded) == records, "seed \(seed)")
            let zones = Self.zonesOutcome(&random)
            #expect(ZonesOutcome(decoding: zones.encoded) == zones, "seed \(seed)")
            var memory = RequestMemory(lowestCounter: random.next())
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let counter = random.next()
                memory.outcomes[counter] = records.encoded
                if Bool.random(using: &random) { memory.nonces[counter] = random.next() | 1 }
            }
            #expect(RequestMemory(decoding: memory.encoded) == memory, "seed \(seed)")
            #expect(RequestMemory(decoding: records.encoded) == nil && ZonesOutcome(decoding: records.encoded) == nil)
        }
    }

    @Test func `R-157: a whole batch is remembered in few bytes`() throws {
        var zone = TestZone()
        zone.save(save("first"))
        let outcome = try zone.run(zone.request(saves: (0..<400).map { save("n\($0)") }), now: 86_000_000).get()
        #expect(outcome.encoded.count < 400 * 8)
    }

    @Test func `I-6: cut and garbled bytes are no outcome and no memory, and never trap`() {
        var random = SeededRandom()
        for _ in 0..<20 {
            let outcome = Self.recordsOutcome(&random).encoded
            let memory = RequestMemory(lowestCounter: 9, outcomes: [9: outcome, 11: [1, 2]]).encoded
            for bytes in [outcome, memory, Self.zonesOutcome(&random).encoded] {
                for count in 0..<bytes.count {
                    let cut = Array(bytes.prefix(count))
                    #expect(RecordsOutcome(decoding: cut) == nil && RequestMemory(decoding: cut) == nil)
                    #expect(ZonesOutcome(decoding: cut) == nil)
                }
                for index in bytes.indices {
                    for bit in 0..<8 {
                        var wrong = bytes
                        wrong[index] ^= 1 << UInt8(bit)
                        // It may still be one, of other content: nothing here guards against that.
                        _ = (
                            RecordsOutcome(decoding: wrong), RequestMemory(decoding: wrong),
                            ZonesOutcome(decoding: wrong)
                        )
                    }
                }
                #expect(RecordsOutcome(decoding: bytes + [0]) == nil && RequestMemory(decoding: bytes + [0]) == nil)
            }
        }
        // Counts that would take all memory.
        let huge: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]
        #expect(RecordsOutcome(decoding: [0x21] + huge + huge) == nil)
        #expect(ZonesOutcome(decoding: [0x31] + huge + huge) == nil)
        #expect(RequestMemory(decoding: [0x11] + huge + huge) == nil)
    }

    static func recordsOutcome(_ random: inout SeededRandom) -> RecordsOutcome {
        var outcome = RecordsOutcome(saves: [], deletes: [])
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let numbers = (0..<6).map { _ in
                Int64(bitPattern: random.next()) >> Int64.random(in: 0...63, using: &random)
            }
            let metadata = RecordMetadata(
                zone: ZoneID(numbers[0]), changeNumber: numbers[1], createdAt: Timestamp(milliseconds: numbers[2]),
                createdBy: UserID(numbers[3]), modifiedAt: Timestamp(milliseconds: numbers[4]),
                modifiedBy: UserID(numbers[5]), content: Bool.random(using: &random) ? .known : .withheld)
            outcome.saves.append(
                Bool.random(using: &random) ? .saved(metadata) : .failed(ItemFailure(reason(&random))))
        }
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            outcome.deletes.append(Bool.random(using: &random) ? .deleted : .failed(ItemFailure(reason(&random))))
        }
        return outcome
    }

    static func zonesOutcome(_ random: inout SeededRandom) -> ZonesOutcome {
        func items(_ random: inout SeededRandom) -> [ZoneItemOutcome] {
            (0..<Int.random(in: 0...4, using: &random)).map { _ in
                Bool.random(using: &random) ? .done : .failed(reason(&random))
            }
        }
        return ZonesOutcome(saves: items(&random), deletes: items(&random))
    }

    static func reason(_ random: inout SeededRandom) -> FailureReason {
        FailureReason.allCases.randomElement(using: &random) ?? .serverFault
    }
}
