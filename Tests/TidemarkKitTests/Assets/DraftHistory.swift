// SPDX-License-Identifier: Apache-2.0

import TidemarkTestSupport

@testable import TidemarkKit

/// A driver, a server and a file that is hashed meanwhile. Parts get lost, servers are elsewhere, and the file cannot
/// be read, as a seed decides.
struct DraftHistory: TransferHistory {
    var machine: DraftMachine
    var complaints: [String] = []
    var random: SeededRandom
    private let byteCount: Int64
    private let isSettled: Bool
    let trouble: Int
    /// How long a part takes.
    private let partTime: Duration

    /// What the server has: the first so many bytes.
    private var serverByteCount: Int64
    private var piecesLeft: Int
    private var isHashed: Bool { piecesLeft == 0 }

    private(set) var underWay: [Range<Int64>] = []
    private(set) var hasPlace = false
    /// Where the next part has to begin.
    private var next: Int64 = 0

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        byteCount = random.pick([1, 2, 65_537, 5_000_000] as [Int64])
        isSettled = Int.random(in: 0..<4, using: &random) > 0
        trouble = random.pick([0, 10, 60, 300])
        partTime = .milliseconds(random.pick([0, 5, 50, 1_000]))
        serverByteCount = Bool.random(using: &random) ? Int64.random(in: 0..<byteCount, using: &random) : 0
        piecesLeft = Int.random(in: 1...200, using: &random)
        machine = DraftMachine(byteCount: byteCount, isSettled: isSettled)
    }

    private static let sha256 = [UInt8](repeating: 7, count: 32)

    mutating func run() { run(from: .begun) }

    mutating func judge() {
        guard case .named(let sha256)? = machine.outcome else { return }
        expect(
            sha256 == Self.sha256 && serverByteCount == byteCount, "the server has \(serverByteCount) of \(byteCount)")
        expect(isSettled, "the name of an unsettled file proves nothing")
    }

    mutating func perform(_ action: DraftMachine.Action) -> DraftMachine.Event? {
        switch action {
        case .abandonParts:
            // Some of them have arrived.
            for part in underWay where Bool.random(using: &random) { _ = take(part) }
            (underWay, hasPlace) = ([], false)
            return nil
        case .report(let reached):
            expect((1...byteCount).contains(reached), "\(reached) reported")
            return nil
        case .ask:
            expect(underWay.isEmpty && !hasPlace, "it asks with parts under way")
            if happens() { return .failed(CKError(.zoneBusy)) }
            next = serverByteCount
            return .told(UploadProgress(byteCount: serverByteCount, isComplete: false))
        case .takePlace(let waits):
            expect(waits == underWay.isEmpty && !hasPlace, "it waits: \(waits), with \(underWay)")
            expect(!isHashed, "it goes on after all was hashed")
            guard waits || (underWay.count < TransferLane.places && !happens()) else {
                return .placed(byteCountMax: nil)
            }
            hasPlace = true
            return .placed(byteCountMax: random.pick([16_384, 65_536, 524_288]))
        case .send(let part, let isLast): return send(part, isLast: isLast)
        case .hashUnlessAnswered: return Bool.random(using: &random) ? hash() : answer()
        case .awaitAnswer: return answer()
        }
    }

    private mutating func send(_ part: Range<Int64>, isLast: Bool) -> DraftMachine.Event {
        expect(hasPlace && !part.isEmpty && part.lowerBound == next, "\(part) is sent, not from \(next)")
        expect(isLast == (part == byteCount - 1..<byteCount), "\(part) of \(byteCount) is last: \(isLast)")
        expect(part.upperBound < byteCount || (isLast && isSettled), "the last byte is in \(part)")
        if happens() { return .failed(CKError(.assetFileModified)) }
        hasPlace = false
        next = part.upperBound
        underWay.append(part)
        return .sent
    }

    private mutating func hash() -> DraftMachine.Event {
        guard piecesLeft > 0 else {
            complaints.append("it hashes beyond the end")
            return .failed(.brokenTransfer)
        }
        if happens() { return .failed(CKError(.assetFileModified)) }
        piecesLeft -= 1
        return .hashed(isAtEnd: isHashed)
    }

    private mutating func answer() -> DraftMachine.Event {
        guard !underWay.isEmpty else {
            complaints.append("it waits for nothing")
            return .failed(.brokenTransfer)
        }
        if happens() {
            // The next server may have less.
            if Bool.random(using: &random), serverByteCount < byteCount {
                serverByteCount = Int64.random(in: 0...serverByteCount, using: &random)
            }
            return .failed(.cut)
        }
        let part = underWay.removeFirst()
        return happens() ? .failed(CKError(.quotaExceeded)) : take(part)
    }

    // MARK: The server

    private mutating func take(_ part: Range<Int64>) -> DraftMachine.Event {
        if part.lowerBound == serverByteCount { serverByteCount = part.upperBound }
        let isComplete = serverByteCount == byteCount
        return .answered(
            UploadProgress(
                byteCount: serverByteCount, isComplete: isComplete, sha256: isComplete ? Self.sha256 : []),
            PartTime(duration: partTime, byteCountMax: 65_536))
    }
}
