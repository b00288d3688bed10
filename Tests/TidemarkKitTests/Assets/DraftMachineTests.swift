// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkKit

/// The machine of a draft, without file, connection or clock.
@Suite struct DraftMachineTests {
    private typealias Machine = DraftMachine

    private static let byteCount: Int64 = 1_000_000
    private static let sha256 = [UInt8](repeating: 7, count: 32)
    /// On a network where this is under way for a second, a piece of the file can be hashed meanwhile.
    private static let slow = PartTime(duration: .seconds(1), byteCountMax: 300_000)

    /// Every kind of event.
    private enum Sample: String, CaseIterable {
        case begun, told, placed, placedNone, sent, hashed, hashedAll, tookPart, tookPartSlowly, tookElse, tookAll
        case failedByCut, failed

        var event: Machine.Event {
            let quick = PartTime(duration: .zero, byteCountMax: 300_000)
            switch self {
            case .begun: return .begun
            case .told: return .told(UploadProgress(byteCount: 0, isComplete: false))
            case .placed: return .placed(byteCountMax: 300_000)
            case .placedNone: return .placed(byteCountMax: nil)
            case .sent: return .sent
            case .hashed: return .hashed(isAtEnd: false)
            case .hashedAll: return .hashed(isAtEnd: true)
            case .tookPart: return .answered(UploadProgress(byteCount: 300_000, isComplete: false), quick)
            case .tookPartSlowly:
                return .answered(UploadProgress(byteCount: 300_000, isComplete: false), DraftMachineTests.slow)
            case .tookElse: return .answered(UploadProgress(byteCount: 600_000, isComplete: false), quick)
            case .tookAll:
                return .answered(
                    UploadProgress(byteCount: 300_000, isComplete: true, sha256: DraftMachineTests.sha256), quick)
            case .failedByCut: return .failed(.cut)
            case .failed: return .failed(CKError(.zoneBusy))
            }
        }
    }

    /// What leads to a state from the beginning.
    private static func path(to state: Machine.State) -> [Sample] {
        switch state {
        case .idle: []
        case .asking: [.begun]
        case .placing: [.begun, .told]
        case .sending: [.begun, .told, .placed]
        case .awaiting: [.begun, .told, .placed, .sent, .placedNone]
        case .ended: [.begun, .told, .placed, .sent, .placedNone, .tookAll]
        }
    }

    private static func text(_ machine: Machine, _ actions: [Machine.Action]) -> String {
        let outcome: [String] =
            switch machine.outcome {
            case .named(sha256: sha256)?: ["named"]
            case .named?: ["misnamed"]
            case .unnamed?: ["unnamed"]
            case nil: []
            }
        return (["\(machine.state)"] + actions.map { "\($0)" } + outcome).joined(separator: " ")
    }

    /// All that goes on in a state. One part is under way, of the first 300,000 bytes.
    private static let transitions: [Machine.State: [Sample: String]] = [
        .idle: [.begun: "asking ask"],
        .asking: [.told: "placing takePlace(waits: true)"],
        .placing: [.placed: "sending send(Range(0..<300000), isLast: false)"],
        .sending: [.sent: "placing takePlace(waits: false)"],
        .awaiting: [
            .hashed: "awaiting hashUnlessAnswered",
            .hashedAll: "awaiting awaitAnswer",
            .tookPart: "placing report(300000) takePlace(waits: true)",
            .tookPartSlowly: "placing report(300000) takePlace(waits: true)",
            .tookAll: "ended report(300000) abandonParts named",
            .failedByCut: "asking abandonParts ask",
        ],
    ]

    @Test func `R-070: each event in each state of a draft does what the table says, and ends it elsewhere`() {
        for state in Machine.State.allCases {
            for sample in Sample.allCases {
                // Of a file that changes without anybody seeing it some is hashed in any case.
                var machine = Machine(byteCount: Self.byteCount, isSettled: false)
                for step in Self.path(to: state) { _ = machine.handle(step.event) }
                #expect(machine.state == state)
                let actions = machine.handle(sample.event)
                let expected =
                    state == .ended
                    ? "ended named" : Self.transitions[state]?[sample] ?? "ended abandonParts unnamed"
                #expect(Self.text(machine, actions) == expected, "\(sample) while \(state)")
            }
        }
    }

    @Test func `R-071: the last byte is a part of its own, or of an unsettled file none`() {
        for isSettled in [true, false] {
            var machine = Machine(byteCount: 11, isSettled: isSettled)
            _ = machine.handle(.begun)
            #expect(machine.handle(.told(UploadProgress(byteCount: 4, isComplete: false))) == [.takePlace(waits: true)])
            #expect(machine.handle(.placed(byteCountMax: 100)) == [.send(4..<10, isLast: false)])
            guard isSettled else {
                #expect(machine.handle(.sent) == [.hashUnlessAnswered])
                continue
            }
            #expect(machine.handle(.sent) == [.takePlace(waits: false)])
            #expect(machine.handle(.placed(byteCountMax: 100)) == [.send(10..<11, isLast: true)])
            #expect(machine.handle(.sent) == [.awaitAnswer])
            // The draft may be complete by now, and be no draft any more.
            #expect(machine.handle(.failed(.cut)) == [.abandonParts])
            #expect(machine.outcome == .unnamed)
        }
    }

    @Test func `R-070: once all is hashed nothing more is sent, and what is under way is waited for`() {
        var machine = Machine(byteCount: Self.byteCount, isSettled: false)
        for sample in Self.path(to: .sending) + [.sent, .placed, .sent, .placedNone] as [Sample] {
            _ = machine.handle(sample.event)
        }
        #expect(machine.handle(Sample.hashedAll.event) == [.awaitAnswer])
        #expect(machine.handle(Sample.tookPart.event) == [.report(300_000), .awaitAnswer])
        #expect(machine.handle(Sample.tookElse.event) == [.report(600_000), .abandonParts])
        #expect(machine.outcome == .unnamed)
    }

    @Test func `R-070: a slow network leaves time to hash, a fast one does not`() {
        func time(_ milliseconds: Int, byteCountMax: Int = 1_048_576) -> PartTime {
            PartTime(duration: .milliseconds(milliseconds), byteCountMax: byteCountMax)
        }
        var pace = HashingPace(isSettled: true)
        #expect(pace.pieces == 0)
        pace.answered(after: time(15))
        #expect(pace.pieces == 0)
        // A network becomes slower by a thirty-second at most with each part.
        var counts: [Int] = []
        for _ in 0..<80 {
            pace.answered(after: time(150))
            counts.append(pace.pieces)
        }
        #expect(counts.first == 0 && counts.last == HashingPace.piecesMax && counts == counts.sorted())
        pace.answered(after: time(20))
        #expect(pace.pieces == 10)
        pace.hashed()
        #expect(pace.pieces == 9)
        pace.answered(after: time(15, byteCountMax: 524_288))
        #expect(pace.pieces == 7, "smaller parts take less time on the same network")
        pace.answered(after: time(1))
        #expect(pace.pieces == 0)
        var unsettled = HashingPace(isSettled: false)
        #expect(unsettled.pieces == HashingPace.piecesOfUnsettledMin)
        unsettled.answered(after: time(1))
        #expect(unsettled.pieces == HashingPace.piecesOfUnsettledMin)
    }

    private static let seeds: [UInt64] = Array(1...400) + (0..<100).map { _ in UInt64.random(in: .min ... .max) }

    @Test(arguments: seeds)
    func `R-070: whatever goes wrong, a draft has a name only if the server has all of it`(seed: UInt64) {
        var history = DraftHistory(seed: seed)
        history.run()
        #expect(history.complaints == [], "seed \(seed)")
    }

    @Test func `the histories of drafts end in every way`() {
        var named = 0
        for seed in 1...400 as ClosedRange<UInt64> {
            var history = DraftHistory(seed: seed)
            history.run()
            if case .named? = history.machine.outcome { named += 1 }
        }
        #expect((50...350).contains(named), "\(named)")
    }
}
