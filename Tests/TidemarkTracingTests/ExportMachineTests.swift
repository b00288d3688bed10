// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkTracing

@Suite struct ExportMachineTests {
    private static let bounds: ExportBounds = {
        var bounds = ExportBounds()
        (bounds.spansMax, bounds.batchSpansMax, bounds.attemptsMax) = (6, 3, 2)
        return bounds
    }()

    private func spans(_ numbers: ClosedRange<UInt64>) -> [FinishedSpan] { numbers.map { .some($0) } }

    @Test func `R-907: the first span of a batch waits a second for others, and a full batch goes at once`() {
        var machine = ExportMachine(Self.bounds)
        #expect(machine.add(.some(1)) == [.schedule(1, after: .seconds(1))])
        #expect(machine.add(.some(2)) == [])
        #expect(machine.timerFired(1) == [.send(spans(1...2))])
        #expect(machine.timerFired(1) == [], "a timer fires once")
        for number in 3...6 as ClosedRange<UInt64> { #expect(machine.add(.some(number)) == []) }
        // One request at a time.
        #expect(machine.ended(.taken(rejectedCount: 0), randomBits: 0) == [.count(.sent, 2), .send(spans(3...5))])
        #expect(
            machine.ended(.taken(rejectedCount: 1), randomBits: 0)
                == [.count(.sent, 2), .count(.refused, 1), .send(spans(6...6))])
        #expect(machine.ended(.taken(rejectedCount: 9), randomBits: 0) == [.count(.refused, 1)])
        guard case .schedule(let timer, .seconds(1))? = machine.add(.some(7)).first else {
            Issue.record("no timer")
            return
        }
        #expect(machine.add(.some(8)) == [])
        #expect(machine.add(.some(9)) == [.send(spans(7...9))])
        #expect(machine.timerFired(timer) == [], "the batch has gone")
    }

    @Test func `I-7, R-907: what finds no room is dropped and counted, by number and by bytes`() {
        var machine = ExportMachine(Self.bounds)
        for number in 1...6 as ClosedRange<UInt64> { _ = machine.add(.some(number)) }
        #expect(machine.add(.some(7)) == [.count(.queueFull, 1)], "those that are being sent count")
        #expect(machine.ended(.refused, randomBits: 0) == [.count(.refused, 3), .send(spans(4...6))])
        #expect(machine.add(.some(8)) == [])

        var bounds = ExportBounds()
        bounds.bytesMax = FinishedSpan.some(1).byteCount * 2
        machine = ExportMachine(bounds)
        _ = machine.add(.some(1))
        #expect(machine.add(.some(2)) == [])
        #expect(machine.add(.some(3)) == [.count(.queueFull, 1)])
        bounds.batchBytesMax = 1
        machine = ExportMachine(bounds)
        _ = machine.add(.some(1))
        _ = machine.add(.some(2))
        #expect(machine.timerFired(1) == [.send(spans(1...1))], "a batch has one span at least")
        #expect(machine.ended(.taken(rejectedCount: 0), randomBits: 0) == [.count(.sent, 1), .send(spans(2...2))])
    }

    @Test func `R-907: after a failure comes a pause that doubles, or the one that the collector asks for`() {
        var bounds = ExportBounds()
        bounds.attemptsMax = 100
        var machine = ExportMachine(bounds)
        _ = machine.add(.some(1))
        _ = machine.timerFired(1)
        var timer = 2
        for (wanted, pause) in [
            (nil, 1), (nil, 2), (nil, 4), (.seconds(3), 8), (.seconds(30), 30), (.seconds(3_600), 60), (nil, 60),
            (nil, 60),
        ] as [(Duration?, Int)] {
            timer += 1
            // 500 chooses the whole pause.
            let actions = machine.ended(.later(after: wanted), randomBits: 500)
            #expect(actions == [.schedule(timer, after: .seconds(pause))], "\(pause)")
            #expect(machine.add(.some(2)) == [])
            timer += 1
            #expect(machine.timerFired(timer - 1) == [.send(spans(1...1))])
        }
        _ = machine.ended(.taken(rejectedCount: 0), randomBits: 0)
        guard case .schedule(_, let shortest)? = machine.ended(.later(after: nil), randomBits: 0).first else {
            Issue.record("no pause")
            return
        }
        #expect(shortest == .milliseconds(500), "after a success the pauses begin anew, and are spread")
    }

    @Test func `R-907: a batch that is not taken is dropped after its last attempt, and the next one waits`() {
        var machine = ExportMachine(Self.bounds)
        for number in 1...5 as ClosedRange<UInt64> { _ = machine.add(.some(number)) }
        guard case .schedule(let first, _)? = machine.ended(.later(after: nil), randomBits: 500).first else {
            Issue.record("no pause")
            return
        }
        #expect(machine.timerFired(first) == [.send(spans(1...3))])
        let actions = machine.ended(.later(after: nil), randomBits: 500)
        guard actions.count == 2, case .schedule(let second, .seconds(2)) = actions[1] else {
            Issue.record("\(actions)")
            return
        }
        #expect(actions[0] == .count(.unreachable, 3))
        for number in 6...9 as ClosedRange<UInt64> {
            #expect(machine.add(.some(number)) == [], "a full batch does not end the pause")
        }
        #expect(machine.timerFired(second) == [.send(spans(4...6))])
    }

    @Test func `R-907: a stop sends what is left once, and waits for no collector`() {
        var machine = ExportMachine(Self.bounds)
        #expect(machine.stop() == [.finish])
        #expect(machine.add(.some(1)) == [.count(.queueFull, 1)])

        machine = ExportMachine(Self.bounds)
        for number in 1...4 as ClosedRange<UInt64> { _ = machine.add(.some(number)) }
        #expect(machine.stop() == [], "a request is under way")
        #expect(machine.ended(.taken(rejectedCount: 0), randomBits: 0) == [.count(.sent, 3), .send(spans(4...4))])
        #expect(machine.ended(.taken(rejectedCount: 0), randomBits: 0) == [.count(.sent, 1), .finish])

        machine = ExportMachine(Self.bounds)
        for number in 1...4 as ClosedRange<UInt64> { _ = machine.add(.some(number)) }
        _ = machine.ended(.later(after: nil), randomBits: 0)
        #expect(machine.stop() == [.send(spans(1...3))], "the pause ends")
        let last = machine.ended(.later(after: nil), randomBits: 0)
        #expect(last == [.count(.unreachable, 3), .count(.unreachable, 1), .finish])

        machine = ExportMachine(Self.bounds)
        for number in 1...4 as ClosedRange<UInt64> { _ = machine.add(.some(number)) }
        _ = machine.stop()
        #expect(machine.giveUp() == [.count(.unreachable, 4), .finish])
        #expect(machine.ended(.taken(rejectedCount: 0), randomBits: 0) == [], "too late")
    }

    /// Whatever happens in whichever order, each span is counted once, and the bounds hold.
    @Test func `I-7, R-907: in random histories each span is counted once`() {
        var random = SeededRandom()
        for _ in 0..<200 {
            var machine = ExportMachine(Self.bounds)
            var (added, counted, timer, isSending, isFinished) = (0, 0, 0, false, false)
            func take(_ actions: [ExportMachine.Action]) {
                for action in actions {
                    switch action {
                    case .schedule(let number, _): timer = number
                    case .send(let batch):
                        #expect(!isSending && !batch.isEmpty && batch.count <= 3, "seed \(random.seed)")
                        isSending = true
                    case .count(_, let count): counted += count
                    case .finish:
                        #expect(!isFinished, "seed \(random.seed)")
                        isFinished = true
                    }
                }
            }
            for _ in 0..<100 {
                switch random.below(6) {
                case 0, 1, 2:
                    added += 1
                    take(machine.add(.some(UInt64(added))))
                case 3: take(machine.timerFired(timer))
                default:
                    guard isSending else { continue }
                    isSending = false
                    let outcomes = [ExportOutcome.taken(rejectedCount: 1), .refused, .later(after: nil)]
                    take(machine.ended(outcomes[random.below(3)], randomBits: random.next()))
                }
                #expect(added - counted <= 6, "seed \(random.seed)")
            }
            take(machine.stop())
            if isSending, random.below(2) == 0 {
                isSending = false
                take(machine.ended(.refused, randomBits: 0))
            }
            if !isFinished { take(machine.giveUp()) }
            #expect(counted == added && isFinished, "seed \(random.seed)")
        }
    }
}
