// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// how long a request waits for its answer.
@Suite struct RequestPatienceTests {
    @Test func `R-395: time begins anew when bytes move, and ends all the same`() {
        let patience = RequestPatience(start: .seconds(100), timeout: .seconds(10))
        for (now, progress, rest): (Int, Int?, Int?) in [
            (100, nil, 10), (109, nil, 1), (110, nil, nil), (111, nil, nil),
            // What moved before the request was made says nothing of it.
            (105, 50, 5), (110, 50, nil),
            (110, 105, 5), (115, 105, nil), (115, 115, 10), (199, 198, 1), (200, 199, nil),
        ] {
            let found = patience.rest(at: .seconds(now), lastProgress: progress.map { .seconds($0) })
            #expect(found == rest.map { .seconds($0) }, "at \(now) after \(progress ?? 0)")
        }
    }

    @Test func `R-395: the time for the whole operation bounds it, also while bytes move`() {
        let patience = RequestPatience(start: .zero, timeout: .seconds(60), within: .seconds(90))
        #expect(patience.rest(at: .seconds(85), lastProgress: .seconds(84)) == .seconds(5))
        #expect(patience.rest(at: .seconds(90), lastProgress: .seconds(90)) == nil)
        #expect(RequestPatience(start: .zero, timeout: .seconds(60), within: .seconds(5)).timeout == .seconds(5))
        #expect(RequestPatience(start: .zero, timeout: .seconds(60), within: .seconds(-1)).timeout == .zero)
    }

    /// When a request fails that has ten seconds, and whose server does not answer.
    ///
    /// - Parameter time: for how long bytes move.
    private func end(moving time: Duration) -> Duration {
        let scheduler = ManualScheduler()
        let server = ScriptedServer(scheduler)
        server.hold { if case .fetchZones = $0.request { true } else { false } }
        let context = CloudContext(
            containerIdentifier: "iCloud.test", token: "alice", transport: server, scheduler: scheduler,
            engineScheduler: scheduler)
        let answer = context.connection.begin(timeout: .seconds(10), generation: nil) { _ in
            var envelope = WireClientEnvelope()
            envelope.request = .fetchZones(WireFetchZones())
            return envelope
        }
        for second in 0..<200 where !answer.isGiven {
            if second > 0, .seconds(second) <= time { server.trickle() }
            scheduler.advance(by: .seconds(1))
        }
        #expect(answer.isGiven)
        return scheduler.now
    }

    @Test func `R-395: a request on a slow network is not given up while its bytes move`() {
        #expect(end(moving: .zero) == .seconds(10))
        #expect(end(moving: .seconds(35)) == .seconds(45))
        #expect(end(moving: .seconds(1_000)) == .seconds(100), "but not for ever")
    }
}
