// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import TidemarkTLS

/// How long a ticket is good for, and under which key.
@Suite struct TicketKeyRingTests {
    @Test func `R-762: a key makes tickets for an hour, opens them for two more, and is forgotten`() {
        // Tickets are made every so many minutes for ten hours, and each is tried at every minute of the next six.
        for pace in [7, 30, 60, 61, 179, 600] {
            var ring = TicketKeyRing<Int>()
            var keyCount = 0
            var tickets: [(key: Int, madeAt: Int)] = []
            var keyMadeAt: [Int: Int] = [:]
            for minute in 0..<960 {
                let now = Duration.seconds(60 * minute)
                for (key, madeAt) in tickets where minute - madeAt <= 360 {
                    let opening = ring.openingKey(at: now) { $0 == key }
                    let age = minute - (keyMadeAt[key] ?? 0)
                    #expect((opening != nil) == (age < 180), "ticket of minute \(madeAt) at \(minute)")
                    // A ticket is good for the time that it is valid, whenever it was made.
                    if minute - madeAt < 120 { #expect(opening != nil) }
                    if let opening { #expect(opening.key == key && opening.isOld == (age >= 60)) }
                }
                guard minute < 600, minute % pace == 0 else { continue }
                let key = ring.sealingKey(at: now) {
                    keyCount += 1
                    keyMadeAt[keyCount] = minute
                    return keyCount
                }
                if let key { tickets.append((key, minute)) }
                #expect(minute - (keyMadeAt[key ?? 0] ?? 0) < 60)
                #expect(ring.count <= 4)
            }
            #expect(ring.openingKey(at: .seconds(60 * 960)) { _ in true } == nil)
        }
    }

    @Test func `R-762: without random numbers there is no ticket, and no key`() {
        var ring = TicketKeyRing<Int>()
        #expect(ring.sealingKey(at: .zero) { nil } == nil)
        #expect(ring.count == 0)
    }

    @Test(arguments: [false, true])
    func `R-762: a client resumes within hours, also under the key before, and not later`(isTLS12: Bool) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let time = Mutex(Duration.zero)
            let server = try TLSContext(server: party.serverConfiguration, now: { time.withLock { $0 } })
            /// Whether a client that got its ticket at one time resumes at another.
            func resumes(_ ticketAt: Duration, _ later: Duration) throws -> Bool {
                let client = try party.client()
                if isTLS12 { client.limitToTLS12() }
                var wasResumed = false
                for now in [ticketAt, later] {
                    time.withLock { $0 = now }
                    let pair = try Pair(client, server)
                    pair.pump()
                    #expect(pair.isEstablished)
                    try pair.client.send([1])
                    try pair.server.send([2])
                    pair.pump()
                    #expect(pair.server.received == [1] && pair.client.received == [2])
                    #expect(pair.client.session.wasResumed == pair.server.session.wasResumed)
                    wasResumed = pair.client.session.wasResumed
                }
                return wasResumed
            }
            #expect(try resumes(.seconds(0), .seconds(3_599)))
            #expect(try resumes(.seconds(3_599), .seconds(3_601)))
            #expect(try resumes(.seconds(3_601), .seconds(3_601 + 10_799)))
            #expect(try !resumes(.seconds(30_000), .seconds(30_000 + 10_801)))
        }
    }
}
