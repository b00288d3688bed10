// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

/// The machine of a download, without file, connection or clock.
@Suite struct DownloadMachineTests {
    private typealias Machine = DownloadMachine

    private static let byteCount: Int64 = 1_000_000

    /// Every kind of event.
    private enum Sample: String, CaseIterable {
        case begun, placed, placedNone, received, receivedTooLittle, receivedTooMuch, receivedNothing, written
        case finished, damaged, paused, failedByTimeout, failedLate, failedForNow, failedForGood

        var event: Machine.Event {
            switch self {
            case .begun: .begun
            case .placed: .placed(byteCountMax: 300_000)
            case .placedNone: .placed(byteCountMax: nil)
            case .received: .received(byteCount: 300_000)
            case .receivedTooLittle: .received(byteCount: 299_999)
            case .receivedTooMuch: .received(byteCount: 300_001)
            case .receivedNothing: .received(byteCount: 0)
            case .written: .written
            case .finished: .finished(URL(fileURLWithPath: "/file"))
            case .damaged: .damaged
            case .paused: .paused
            case .failedByTimeout: .failed(TransferFailure(error: CKError(.networkFailure)))
            case .failedLate: .failed(TransferFailure(error: CKError(.networkFailure), isOutOfTime: true))
            case .failedForNow: .failed(TransferFailure(error: CKError(.zoneBusy)))
            case .failedForGood: .failed(TransferFailure(error: CKError(.assetNotAvailable)))
            }
        }
    }

    /// What leads to a state from the beginning, with 100,000 bytes in the file.
    private static func path(to state: Machine.State) -> [Sample] {
        switch state {
        case .idle: []
        case .placing: [.begun]
        case .awaiting: [.begun, .placed, .placedNone]
        case .writing: [.begun, .placed, .placedNone, .received, .placedNone]
        case .finishing:
            path(to: .writing) + [.written, .placed, .placedNone, .received, .placedNone, .written] + lastPart
        case .pausing: [.begun, .placed, .placedNone, .failedForNow]
        case .ended: path(to: .finishing) + [.finished]
        }
    }

    private static let lastPart: [Sample] = [.placed, .received, .written]

    private static func text(_ machine: Machine, _ actions: [Machine.Action]) -> String {
        let outcome: [String] =
            switch machine.outcome {
            case .downloaded?: ["downloaded"]
            case .damaged?: ["damaged"]
            case .standsStill?: ["standsStill"]
            case .failed(let error)?: ["\(error.code)"]
            case nil: []
            }
        return (["\(machine.state)"] + actions.map { "\($0)" } + outcome).joined(separator: " ")
    }

    /// All that may happen in a state. One part is under way, of 300,000 bytes.
    private static let transitions: [Machine.State: [Sample: String]] = [
        .idle: [.begun: "placing takePlace(waits: true)"],
        .placing: [
            .placed: "placing fetch(Range(100000..<400000)) takePlace(waits: false)",
            .placedNone: "placing takePlace(waits: true)",
            // Only a cancelled task gets no place after waiting for one.
            .failedByTimeout: "ended abandonParts standsStill",
            .failedLate: "ended abandonParts networkFailure",
            .failedForNow: "ended abandonParts zoneBusy",
            .failedForGood: "ended abandonParts assetNotAvailable",
        ],
        .awaiting: [
            .received: "placing takePlace(waits: false)",
            .receivedTooLittle: "ended abandonParts internalError",
            .receivedTooMuch: "ended abandonParts internalError",
            .receivedNothing: "ended abandonParts internalError",
            .failedByTimeout: "ended abandonParts standsStill",
            .failedLate: "ended abandonParts networkFailure",
            .failedForNow: "pausing abandonParts pause(1.0 seconds)",
            .failedForGood: "ended abandonParts assetNotAvailable",
        ],
        .writing: [
            .written: "placing report(400000) takePlace(waits: true)",
            .failedByTimeout: "ended abandonParts standsStill",
            .failedLate: "ended abandonParts networkFailure",
            .failedForNow: "pausing abandonParts pause(1.0 seconds)",
            .failedForGood: "ended abandonParts assetNotAvailable",
        ],
        .finishing: [
            .finished: "ended abandonParts downloaded",
            .damaged: "placing takePlace(waits: true)",
            .failedByTimeout: "ended abandonParts standsStill",
            .failedLate: "ended abandonParts networkFailure",
            .failedForNow: "ended abandonParts zoneBusy",
            .failedForGood: "ended abandonParts assetNotAvailable",
        ],
        .pausing: [
            .paused: "placing takePlace(waits: true)",
            .failedByTimeout: "ended abandonParts standsStill",
            .failedLate: "ended abandonParts networkFailure",
            .failedForNow: "ended abandonParts zoneBusy",
            .failedForGood: "ended abandonParts assetNotAvailable",
        ],
    ]

    @Test func `R-074: each event in each state of a download does what the table says, and is an error elsewhere`() {
        for state in Machine.State.allCases {
            for sample in Sample.allCases {
                var machine = Machine(byteCount: Self.byteCount, writtenByteCount: 100_000, isPatient: false)
                for step in Self.path(to: state) { _ = machine.handle(step.event) }
                #expect(machine.state == state)
                let actions = machine.handle(sample.event)
                let expected =
                    state == .ended
                    ? "ended downloaded" : Self.transitions[state]?[sample] ?? "ended abandonParts internalError"
                #expect(Self.text(machine, actions) == expected, "\(sample) while \(state)")
            }
        }
    }

    @Test func `R-074: the next part is on its way while one is written`() {
        var machine = Machine(byteCount: 30, writtenByteCount: 0, isPatient: false)
        #expect(machine.handle(.begun) == [.takePlace(waits: true)])
        #expect(machine.handle(.placed(byteCountMax: 10)) == [.fetch(0..<10), .takePlace(waits: false)])
        #expect(machine.handle(.placed(byteCountMax: 10)) == [.fetch(10..<20), .takePlace(waits: false)])
        #expect(machine.handle(.placed(byteCountMax: nil)) == [.awaitAnswer])
        #expect(machine.handle(.received(byteCount: 10)) == [.takePlace(waits: false)])
        #expect(machine.handle(.placed(byteCountMax: 20)) == [.fetch(20..<30), .write])
        #expect(machine.handle(.written) == [.report(10), .awaitAnswer])
        #expect(machine.handle(.received(byteCount: 10)) == [.write])
        #expect(machine.handle(.written) == [.report(20), .awaitAnswer])
        #expect(machine.handle(.received(byteCount: 10)) == [.write])
        #expect(machine.handle(.written) == [.report(30), .finish])
    }

    @Test func `R-071: the checksum is asked for if all of a large asset is to come, and known before the first byte`()
    {
        let large = AssetFile.checksumBytesMin
        for (byteCount, written, asks) in [(large, 0, true), (large, 1, false), (large - 1, 0, false), (0, 0, false)] {
            var machine = Machine(byteCount: byteCount, writtenByteCount: Int64(written), isPatient: false)
            var actions = machine.handle(.begun)
            #expect(actions.contains(.askForChecksum) == asks)
            guard byteCount > 0 else {
                #expect(actions == [.finish])
                continue
            }
            _ = machine.handle(.placed(byteCountMax: 10))
            _ = machine.handle(.placed(byteCountMax: 10))
            _ = machine.handle(.placed(byteCountMax: nil))
            for isFirst in [true, false] {
                _ = machine.handle(.received(byteCount: 10))
                actions = machine.handle(.placed(byteCountMax: nil))
                #expect(actions == (asks && isFirst ? [.expectChecksum, .write] : [.write]))
                _ = machine.handle(.written)
            }
        }
    }

    private static let seeds: [UInt64] = Array(1...400) + (0..<100).map { _ in UInt64.random(in: .min ... .max) }

    @Test(arguments: seeds)
    func `R-074: whatever goes wrong, a download is whole or has an error, and leaves nothing under way`(seed: UInt64) {
        var history = DownloadHistory(seed: seed)
        history.run()
        #expect(history.complaints == [], "seed \(seed)")
    }

    @Test func `the histories end in every way`() {
        var ends: [String: Int] = [:]
        for seed in 1...400 as ClosedRange<UInt64> {
            var history = DownloadHistory(seed: seed)
            history.run()
            switch history.machine.outcome {
            case .downloaded?: ends["downloaded", default: 0] += 1
            case .damaged?: ends["damaged", default: 0] += 1
            case .standsStill?: ends["standsStill", default: 0] += 1
            case .failed(let error)?: ends["\(error.code)", default: 0] += 1
            case nil: ends["none", default: 0] += 1
            }
        }
        #expect(ends["downloaded", default: 0] > 100, "\(ends)")
        for end in ["damaged", "assetNotAvailable", "quotaExceeded", "operationCancelled", "internalError"] {
            #expect(ends[end] != nil, "\(end) of \(ends)")
        }
    }
}
