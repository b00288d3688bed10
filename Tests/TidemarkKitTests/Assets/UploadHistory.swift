// SPDX-License-Identifier: Apache-2.0

import TidemarkTestSupport

@testable import TidemarkKit

/// A driver, a server and a file. Parts get lost, servers are elsewhere, the file changes, and the app cancels, as a
/// seed decides.
struct UploadHistory: TransferHistory {
    var machine: UploadMachine
    var complaints: [String] = []
    var random: SeededRandom
    private let byteCount: Int64
    let trouble: Int

    /// What the server has: the first so many bytes.
    private var serverByteCount: Int64
    private var isComplete = false
    /// Whether the server will find that what it has is not what was announced.
    private var isDamaged: Bool
    private var isFileChanged = false
    /// Whether the server had everything before anything was sent.
    private var wasToldComplete = false

    private(set) var underWay: [Range<Int64>] = []
    private(set) var hasPlace = false
    /// Where the next part has to begin.
    private var next: Int64 = 0
    private var told: Set<CKError.Code> = []
    /// How often something failed, or the server was elsewhere.
    private var failureCount = 0

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        byteCount = random.pick([0, 1, 262_144, 262_145, 2_000_000] as [Int64])
        trouble = random.pick([0, 20, 60, 300])
        let isBegun = Bool.random(using: &random)
        serverByteCount = isBegun ? Int64.random(in: 0...byteCount, using: &random) : 0
        isDamaged = Int.random(in: 0..<1_000, using: &random) < trouble
        machine = UploadMachine(byteCount: byteCount, isPatient: false)
    }

    mutating func run() { run(from: .begun) }

    mutating func judge() {
        switch machine.outcome {
        case .uploaded?:
            expect(isComplete && serverByteCount == byteCount, "the server has \(serverByteCount) of \(byteCount)")
            expect(wasToldComplete || !isFileChanged, "the file has changed")
        case .failed(let error)?: expect(told.contains(error.code), "nobody told \(error.code)")
        case .standsStill?: expect(failureCount >= TransferPatience.failuresMax - 1, "given up too early")
        case nil: break
        }
    }

    private mutating func failure(_ codes: CKError.Code...) -> UploadMachine.Event {
        let code = random.pick(codes)
        told.insert(code)
        failureCount += 1
        return .failed(TransferFailure(error: CKError(code)))
    }

    // MARK: The driver

    mutating func perform(_ action: UploadMachine.Action) -> UploadMachine.Event? {
        switch action {
        case .abandonParts:
            // Some of them have arrived.
            for part in underWay where Bool.random(using: &random) { _ = take(part) }
            (underWay, hasPlace) = ([], false)
            next = 0
            return nil
        case .report(let reached):
            expect((0...byteCount).contains(reached), "\(reached) reported")
            return nil
        case .ask: return ask()
        case .takePlace(let waits):
            expect(waits == underWay.isEmpty && !hasPlace, "it waits: \(waits), with \(underWay)")
            guard waits || (underWay.count < TransferLane.places && !happens()) else {
                return .placed(byteCountMax: nil)
            }
            if waits, happens(), happens() { return failure(.operationCancelled) }
            hasPlace = true
            return .placed(byteCountMax: random.pick([16_384, 65_536, 524_288]))
        case .send(let part): return send(part)
        case .awaitAnswer: return answer()
        case .checkFile:
            return isFileChanged ? failure(.assetFileModified) : .unchanged
        case .pause(let time):
            expect(time >= .zero && time <= .seconds(60), "a pause of \(time)")
            return happens() ? failure(.operationCancelled) : .paused
        }
    }

    private mutating func ask() -> UploadMachine.Event {
        expect(underWay.isEmpty && !hasPlace, "it asks with parts under way")
        if happens() {
            return failure(.zoneBusy, .quotaExceeded, .requestRateLimited, .networkUnavailable, .operationCancelled)
        }
        next = serverByteCount
        wasToldComplete = isComplete
        return .told(UploadProgress(byteCount: serverByteCount, isComplete: isComplete))
    }

    private mutating func send(_ part: Range<Int64>) -> UploadMachine.Event {
        expect(hasPlace, "it sends without a place")
        expect(part.lowerBound == next && part.upperBound <= byteCount, "\(part) is sent, not from \(next)")
        expect(!part.isEmpty || underWay.isEmpty, "\(part) is nothing")
        if happens() { isFileChanged = true }
        if isFileChanged { return failure(.assetFileModified) }
        hasPlace = false
        next = part.upperBound
        underWay.append(part)
        return .sent
    }

    private mutating func answer() -> UploadMachine.Event {
        guard !underWay.isEmpty else {
            complaints.append("it waits for nothing")
            return .failed(TransferFailure(error: .brokenTransfer))
        }
        let part = underWay.removeFirst()
        if happens() { isFileChanged = true }
        if happens() { return cut(part) }
        if happens() { return failure(.zoneBusy, .requestRateLimited, .operationCancelled, .internalError) }
        return take(part)
    }

    /// Some parts have arrived, or the next server has less.
    private mutating func cut(_ part: Range<Int64>) -> UploadMachine.Event {
        underWay.insert(part, at: 0)
        failureCount += 1
        if !isComplete, Bool.random(using: &random) {
            serverByteCount = Int64.random(in: 0...serverByteCount, using: &random)
        }
        told.insert(.networkFailure)
        return .failed(TransferFailure(error: .cut))
    }

    // MARK: The server

    private mutating func take(_ part: Range<Int64>) -> UploadMachine.Event {
        guard !isComplete, part.lowerBound == serverByteCount else {
            failureCount += 1
            return .answered(UploadProgress(byteCount: serverByteCount, isComplete: isComplete))
        }
        serverByteCount = part.upperBound
        guard serverByteCount == byteCount else {
            return .answered(UploadProgress(byteCount: serverByteCount, isComplete: false))
        }
        if isDamaged {
            (isDamaged, serverByteCount) = (happens(), 0)
            return failure(.assetFileModified)
        }
        isComplete = true
        return .answered(UploadProgress(byteCount: serverByteCount, isComplete: true))
    }
}
