// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkKit

@Suite(.timeLimit(.minutes(10))) struct TransferLaneTests {
    @Test func `parts grow on a fast network, however far away, and shrink on a slow one`() {
        var pace = TransferPace()
        let first = pace.chunkBytes
        for _ in 0..<10 { pace.answered(after: .milliseconds(150)) }
        #expect(pace.chunkBytes == TransferPace.chunkBytesMax && pace.chunkBytes > first)
        for _ in 0..<2 { pace.answered(after: .milliseconds(300)) }
        #expect(pace.chunkBytes == TransferPace.chunkBytesMax)
        for _ in 0..<10 { pace.answered(after: .seconds(2)) }
        #expect(pace.chunkBytes == TransferPace.chunkBytesMin)
    }

    @Test func `parts are as large as the server takes, however fast the network is`() {
        var pace = TransferPace()
        for limit in [30_000, 1_000, 100_000, .max] {
            pace.limit(to: limit)
            #expect(pace.chunkBytes <= limit)
            for _ in 0..<10 { pace.answered(after: .milliseconds(1)) }
            #expect(pace.chunkBytes == min(limit, TransferPace.chunkBytesMax))
        }
        pace.limit(to: 1_000)
        for _ in 0..<10 { pace.answered(after: .seconds(2)) }
        #expect(pace.chunkBytes == 1_000)
    }

    @Test func `no more parts than places, and whoever waits comes in turn`() async {
        let lane = TransferLane { .zero }
        var places: [TransferLane.Place] = []
        while let place = lane.tryEnter() { places.append(place) }
        #expect(places.count == TransferLane.places)
        let order = Locked<[Int]>([])
        await withTaskGroup { group in
            for number in 0..<2 {
                group.addTask {
                    guard let place = try? await lane.enter() else { return }
                    order.withLock { $0.append(number) }
                    lane.leave(place, isAnswered: true)
                }
            }
            lane.leave(places.removeLast(), isAnswered: true)
        }
        #expect(order.withLock { $0.sorted() } == [0, 1])
        #expect(lane.tryEnter() != nil)
        #expect(lane.tryEnter() == nil)
    }

    @Test func `R-401: whoever is cancelled stops waiting for a place at once, and holds up nobody`() async throws {
        let lane = TransferLane { .zero }
        var places: [TransferLane.Place] = []
        while let place = lane.tryEnter() { places.append(place) }
        // It is cancelled before it waits, or while it does.
        for _ in 0..<20 {
            let cancelled = Task { try await lane.enter() }
            let next = Task { try await lane.enter() }
            await Task.yield()
            cancelled.cancel()
            let error = await #expect(throws: CKError.self) { try await cancelled.value }
            #expect(error?.code == .operationCancelled)
            lane.leave(places.removeLast(), isAnswered: false)
            places.append(try await next.value)
        }
        #expect(lane.tryEnter() == nil)
        for place in places { lane.leave(place, isAnswered: false) }
        var freeCount = 0
        while lane.tryEnter() != nil { freeCount += 1 }
        #expect(freeCount == TransferLane.places)
    }
}
