// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

@testable import TidemarkKit

/// The machine of an upload, without file, connection or clock.
@Suite struct UploadMachineTests {
    private typealias Machine = UploadMachine

    private static let byteCount: Int64 = 1_000_000

    /// Every kind of event.
    private enum Sample: String, CaseIterable {
        case begun, toldPart, toldAll, placed, placedNone, sent, tookPart, tookAll, tookElse, unchanged, paused
        case failedByCut, failedForNow, failedByChange, failedForGood

        var event: Machine.Event {
            switch self {
            case .begun: .begun
            case .toldPart: .told(UploadProgress(byteCount: 100_000, isComplete: false))
            case .toldAll: .told(UploadProgress(byteCount: UploadMachineTests.byteCount, isComplete: true))
            case .placed: .placed(byteCountMax: 300_000)
            case .placedNone: .placed(byteCountMax: nil)
            case .sent: .sent
            case .tookPart: .answered(UploadProgress(byteCount: 400_000, isComplete: false))
            case .tookAll: .answered(UploadProgress(byteCount: UploadMachineTests.byteCount, isComplete: true))
            case .tookElse: .answered(UploadProgress(byteCount: 299_999, isComplete: false))
            case .unchanged: .unchanged
            case .paused: .paused
            case .failedByCut: .failed(TransferFailure(error: .cut))
            case .failedForNow: .failed(TransferFailure(error: CKError(.zoneBusy)))
            case .failedByChange: .failed(TransferFailure(error: CKError(.assetFileModified)))
            case .failedForGood: .failed(TransferFailure(error: CKError(.quotaExceeded)))
            }
        }
    }

    /// What leads to a state from the beginning.
    private static func path(to state: Machine.State) -> [Sample] {
        switch state {
        case .idle: []
        case .asking: [.begun]
        case .placing: [.begun, .toldPart]
        case .sending: [.begun, .toldPart, .placed]
        case .awaiting: [.begun, .failedForNow, .paused, .toldPart, .placed, .sent, .placedNone]
        case .proving: [.begun, .toldPart, .placed, .sent, .placedNone, .tookAll]
        case .judging: [.begun, .toldPart, .placed, .sent, .placedNone, .failedByChange]
        case .pausing: [.begun, .failedForNow]
        case .ended: [.begun, .toldAll]
        }
    }

    private static func text(_ machine: Machine, _ actions: [Machine.Action]) -> String {
        let outcome: [String] =
            switch machine.outcome {
            case .uploaded?: ["uploaded"]
            case .standsStill?: ["standsStill"]
            case .failed(let error)?: ["\(error.code)"]
            case nil: []
            }
        return (["\(machine.state)"] + actions.map { "\($0)" } + outcome).joined(separator: " ")
    }

    /// All that may happen in a state. The part under way begins at 100,000 and has 300,000 bytes.
    private static let transitions: [Machine.State: [Sample: String]] = [
        .idle: [.begun: "asking ask"],
        .asking: [
            .toldPart: "placing takePlace(waits: true)",
            .toldAll: "ended report(1000000) abandonParts uploaded",
            // A question is no part, and has no cut.
            .failedByCut: "ended abandonParts networkFailure",
            .failedForNow: "pausing abandonParts pause(1.0 seconds)",
            .failedByChange: "judging abandonParts checkFile",
            .failedForGood: "ended abandonParts quotaExceeded",
        ],
        .placing: [
            .placed: "sending send(Range(100000..<400000))",
            // Nothing is under way, so that this comes from no place.
            .placedNone: "asking abandonParts ask",
            // Only a cancelled task gets no place after waiting for one.
            .failedByCut: "ended abandonParts networkFailure",
            .failedForNow: "ended abandonParts zoneBusy",
            .failedByChange: "ended abandonParts assetFileModified",
            .failedForGood: "ended abandonParts quotaExceeded",
        ],
        .sending: [
            .sent: "placing takePlace(waits: false)",
            .failedByCut: "ended abandonParts networkFailure",
            .failedForNow: "pausing abandonParts pause(1.0 seconds)",
            .failedByChange: "judging abandonParts checkFile",
            .failedForGood: "ended abandonParts quotaExceeded",
        ],
        .awaiting: [
            .tookPart: "placing report(400000) takePlace(waits: true)",
            .tookAll: "proving report(1000000) checkFile",
            .tookElse: "asking report(299999) abandonParts ask",
            .failedByCut: "asking abandonParts ask",
            .failedForNow: "pausing abandonParts pause(1.0 seconds)",
            .failedByChange: "judging abandonParts checkFile",
            .failedForGood: "ended abandonParts quotaExceeded",
        ],
        .proving: [
            .unchanged: "ended abandonParts uploaded",
            .failedByCut: "ended abandonParts networkFailure",
            .failedForNow: "pausing abandonParts pause(1.0 seconds)",
            .failedByChange: "judging abandonParts checkFile",
            .failedForGood: "ended abandonParts quotaExceeded",
        ],
        .judging: [
            .unchanged: "asking ask",
            .failedByCut: "ended abandonParts networkFailure",
            .failedForNow: "ended abandonParts zoneBusy",
            .failedByChange: "ended abandonParts assetFileModified",
            .failedForGood: "ended abandonParts quotaExceeded",
        ],
        .pausing: [
            .paused: "asking ask",
            .failedByCut: "ended abandonParts networkFailure",
            .failedForNow: "ended abandonParts zoneBusy",
            .failedByChange: "ended abandonParts assetFileModified",
            .failedForGood: "ended abandonParts quotaExceeded",
        ],
    ]

    @Test func `R-070: each event in each state of an upload does what the table says, and is an error elsewhere`() {
        for state in Machine.State.allCases {
            for sample in Sample.allCases {
                var machine = Machine(byteCount: Self.byteCount, isPatient: false)
                for step in Self.path(to: state) { _ = machine.handle(step.event) }
                #expect(machine.state == state)
                let actions = machine.handle(sample.event)
                let expected =
                    state == .ended
                    ? "ended uploaded" : Self.transitions[state]?[sample] ?? "ended abandonParts internalError"
                #expect(Self.text(machine, actions) == expected, "\(sample) while \(state)")
            }
        }
    }

    @Test func `R-070: a small file is sent unasked, and an empty one by one empty part`() {
        var machine = Machine(byteCount: 0, isPatient: false)
        #expect(machine.handle(.begun) == [.takePlace(waits: true)])
        #expect(machine.handle(.placed(byteCountMax: 100)) == [.send(0..<0)])
        #expect(machine.handle(.sent) == [.awaitAnswer])
        #expect(machine.handle(.answered(UploadProgress(byteCount: 0, isComplete: true))) == [.report(0), .checkFile])
        machine = Machine(byteCount: UploadMachine.unaskedBytesMax, isPatient: false)
        #expect(machine.handle(.begun) == [.takePlace(waits: true)])
        machine = Machine(byteCount: UploadMachine.unaskedBytesMax + 1, isPatient: false)
        #expect(machine.handle(.begun) == [.ask])
        // A server that has all bytes, and yet not all that makes an upload complete, gets a part without any.
        #expect(
            machine.handle(.told(UploadProgress(byteCount: UploadMachine.unaskedBytesMax + 1, isComplete: false)))
                == [.takePlace(waits: true)])
        let end = UploadMachine.unaskedBytesMax + 1
        #expect(machine.handle(.placed(byteCountMax: 100)) == [.send(end..<end)])
    }

    @Test func `R-070: an upload that brings nothing more to the server stands still after some attempts`() {
        var machine = Machine(byteCount: Self.byteCount, isPatient: false)
        var actions = machine.handle(.begun)
        var attempts = 0
        while actions.last == .ask {
            attempts += 1
            _ = machine.handle(.told(UploadProgress(byteCount: 7, isComplete: false)))
            _ = machine.handle(.placed(byteCountMax: 10))
            _ = machine.handle(.sent)
            _ = machine.handle(.placed(byteCountMax: nil))
            actions = machine.handle(.failed(TransferFailure(error: .cut)))
        }
        #expect(attempts == TransferPatience.failuresMax)
        #expect(Self.text(machine, actions) == "ended abandonParts standsStill")
    }

    @Test func `R-070: a file is judged once, and a server that still calls it another content ends the upload`() {
        var machine = Machine(byteCount: Self.byteCount, isPatient: false)
        for step in Self.path(to: .judging) + [.unchanged] { _ = machine.handle(step.event) }
        let actions = machine.handle(Sample.failedByChange.event)
        #expect(Self.text(machine, actions) == "ended abandonParts assetFileModified")
    }

    /// An attempt from where the server is to a part that is under way.
    private static let attempt: [Machine.Event] = [
        .told(UploadProgress(byteCount: 7, isComplete: false)), .placed(byteCountMax: 10), .sent,
        .placed(byteCountMax: nil),
    ]

    @Test func `R-397: a patient upload that is cut again and again goes on after pauses, as long as there is time`() {
        let elsewhere = Machine.Event.answered(UploadProgress(byteCount: 3, isComplete: false))
        for end in [Machine.Event.failed(TransferFailure(error: .cut)), elsewhere] {
            var machine = Machine(byteCount: Self.byteCount, isPatient: true)
            var actions = machine.handle(.begun)
            var pauses: [Duration] = []
            for _ in 0..<20 {
                #expect(actions == [.ask])
                for event in Self.attempt { _ = machine.handle(event) }
                actions = machine.handle(end)
                #expect(machine.state == .pausing)
                if case .pause(let wait)? = actions.last { pauses.append(wait) }
                actions = machine.handle(.paused)
            }
            #expect(pauses.prefix(4) == [.seconds(0.5), .seconds(1), .seconds(2), .seconds(4)])
            #expect(pauses.count == 20 && pauses.last == .seconds(150))
            for event in Self.attempt { _ = machine.handle(event) }
            actions = machine.handle(.failed(TransferFailure(error: .cut, isOutOfTime: true)))
            #expect(Self.text(machine, actions) == "ended abandonParts networkFailure")
        }
    }

    /// Where there is little room on the connection, the first part of it is less than what the server has.
    @Test func `R-070: a small upload goes on where an earlier attempt of it has ended`() {
        var machine = Machine(byteCount: 70_000, isPatient: false)
        #expect(machine.handle(.begun).last == .takePlace(waits: true))
        #expect(machine.handle(.placed(byteCountMax: 30_000)).last == .send(0..<30_000))
        _ = machine.handle(.sent)
        #expect(machine.handle(.placed(byteCountMax: nil)).last == .awaitAnswer)
        let known = UploadProgress(byteCount: 65_536, isComplete: false)
        #expect(machine.handle(.answered(known)).last == .ask)
        #expect(machine.handle(.told(known)).last == .takePlace(waits: true))
        #expect(machine.handle(.placed(byteCountMax: 30_000)).last == .send(65_536..<70_000))
    }

    @Test func `I-6, R-070: a server that has more bytes than the file brings the upload no further`() {
        var machine = Machine(byteCount: Self.byteCount, isPatient: false)
        var actions = machine.handle(.begun)
        var attempts: Int64 = 0
        while actions.last == .ask, attempts < 100 {
            for event in Self.attempt { _ = machine.handle(event) }
            let reached: Int64 = attempts == 0 ? .max : Self.byteCount + attempts
            actions = machine.handle(.answered(UploadProgress(byteCount: reached, isComplete: false)))
            #expect(actions.first == .report(Self.byteCount) || machine.outcome != nil)
            attempts += 1
        }
        #expect(Self.text(machine, actions) == "ended report(1000000) abandonParts standsStill")
        #expect(attempts <= 1 + TransferPatience.failuresMax)
    }

    @Test func `R-395, R-397: a failure that may pass is waited for, as long as there is time`() {
        let isLate = TransferFailure(error: CKError(.networkUnavailable), isOutOfTime: true)
        for isPatient in [false, true] {
            var machine = Machine(byteCount: Self.byteCount, isPatient: isPatient)
            _ = machine.handle(.begun)
            var actions = machine.handle(.failed(TransferFailure(error: CKError(.networkUnavailable))))
            #expect(
                Self.text(machine, actions)
                    == (isPatient
                        ? "pausing abandonParts pause(0.5 seconds)" : "ended abandonParts networkUnavailable"))
            machine = Machine(byteCount: Self.byteCount, isPatient: isPatient)
            _ = machine.handle(.begun)
            actions = machine.handle(.failed(isLate))
            #expect(Self.text(machine, actions) == "ended abandonParts networkUnavailable")
        }
    }

    private static let seeds: [UInt64] = Array(1...400) + (0..<100).map { _ in UInt64.random(in: .min ... .max) }

    @Test(arguments: seeds)
    func `R-070: whatever goes wrong, an upload is whole or has an error, and leaves nothing under way`(seed: UInt64) {
        var history = UploadHistory(seed: seed)
        history.run()
        #expect(history.complaints == [], "seed \(seed)")
    }

    @Test func `the histories end in every way`() {
        var ends: [String: Int] = [:]
        for seed in 1...400 as ClosedRange<UInt64> {
            var history = UploadHistory(seed: seed)
            history.run()
            switch history.machine.outcome {
            case .uploaded?: ends["uploaded", default: 0] += 1
            case .standsStill?: ends["standsStill", default: 0] += 1
            case .failed(let error)?: ends["\(error.code)", default: 0] += 1
            case nil: ends["none", default: 0] += 1
            }
        }
        #expect(ends["uploaded", default: 0] > 100, "\(ends)")
        // A server that moves on never lets an upload stand still.
        #expect(ends["standsStill"] == nil)
        for end in ["assetFileModified", "quotaExceeded", "operationCancelled"] {
            #expect(ends[end] != nil, "\(end) of \(ends)")
        }
    }
}

extension CKError {
    /// The connection was cut while a part was under way.
    static var cut: CKError { CKError(ConnectionMachine.RequestFailure(code: .cut)) }
}
