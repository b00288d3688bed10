// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkTestSupport

@testable import TidemarkKit

/// A driver, a server and a file. Parts fail, come short or damaged, the disk is full, and the app cancels, as a seed
/// decides.
struct DownloadHistory: TransferHistory {
    var machine: DownloadMachine
    var complaints: [String] = []
    var random: SeededRandom
    private let byteCount: Int64
    let trouble: Int

    /// What the file has: the first so many bytes.
    private var fileByteCount: Int64
    private var isFileDamaged: Bool
    private var isFinished = false

    private(set) var underWay: [Range<Int64>] = []
    private(set) var hasPlace = false
    /// Where the next part has to begin.
    private var next: Int64
    private var received: (part: Range<Int64>, isDamaged: Bool)?
    private var asksForChecksum = false
    private var told: Set<CKError.Code> = []

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        byteCount = random.pick([0, 1, 16_384, AssetFile.checksumBytesMin, 2_000_000] as [Int64])
        trouble = random.pick([0, 20, 60, 300])
        let isBegun = Bool.random(using: &random)
        fileByteCount = isBegun ? Int64.random(in: 0...byteCount, using: &random) : 0
        isFileDamaged = Int.random(in: 0..<1_000, using: &random) < trouble
        next = fileByteCount
        machine = DownloadMachine(byteCount: byteCount, writtenByteCount: fileByteCount, isPatient: false)
    }

    mutating func run() { run(from: .begun) }

    mutating func judge() {
        switch machine.outcome {
        case .downloaded?:
            expect(isFinished && fileByteCount == byteCount, "the file has \(fileByteCount) of \(byteCount)")
            expect(!isFileDamaged, "the file is damaged")
        case .failed(let error)?, .standsStill(let error)?:
            expect(told.contains(error.code), "nobody told \(error.code)")
        case .damaged?: expect(fileByteCount == 0, "damaged content is left behind")
        case nil: break
        }
    }

    private mutating func failure(_ codes: CKError.Code...) -> DownloadMachine.Event {
        let code = random.pick(codes)
        told.insert(code)
        return .failed(TransferFailure(error: CKError(code)))
    }

    mutating func perform(_ action: DownloadMachine.Action) -> DownloadMachine.Event? {
        switch action {
        case .abandonParts:
            (underWay, hasPlace, received) = ([], false, nil)
            next = fileByteCount
            return nil
        case .report(let reached):
            expect(reached == fileByteCount, "\(reached) reported of \(fileByteCount)")
            return nil
        case .askForChecksum:
            expect(fileByteCount == 0 && !asksForChecksum, "it asks for a checksum that proves nothing")
            asksForChecksum = true
            return nil
        case .expectChecksum:
            expect(asksForChecksum && fileByteCount == 0 && received != nil, "the checksum comes at the wrong time")
            asksForChecksum = false
            return nil
        case .takePlace(let waits):
            expect(waits == (underWay.isEmpty && received == nil) && !hasPlace, "it waits: \(waits), with \(underWay)")
            guard waits || (underWay.count < TransferLane.places && !happens()) else {
                return .placed(byteCountMax: nil)
            }
            if waits, happens(), happens() { return failure(.operationCancelled) }
            hasPlace = true
            return .placed(byteCountMax: random.pick([16_384, 65_536, 524_288]))
        case .fetch(let part):
            fetch(part)
            return nil
        case .awaitAnswer: return answer()
        case .write: return write()
        case .finish: return finish()
        case .pause(let time):
            expect(underWay.isEmpty && time >= .zero && time <= .seconds(60), "a pause of \(time) with \(underWay)")
            return happens() ? failure(.operationCancelled) : .paused
        }
    }

    private mutating func fetch(_ part: Range<Int64>) {
        expect(hasPlace, "it asks without a place")
        expect(!part.isEmpty && part.lowerBound == next && part.upperBound <= byteCount, "\(part) is not from \(next)")
        hasPlace = false
        next = part.upperBound
        underWay.append(part)
    }

    private mutating func answer() -> DownloadMachine.Event {
        expect(received == nil, "what came is not written before the next comes")
        guard !underWay.isEmpty else {
            complaints.append("it waits for nothing")
            return .failed(TransferFailure(error: .brokenTransfer))
        }
        let part = underWay.removeFirst()
        if happens() {
            return failure(.zoneBusy, .assetNotAvailable, .requestRateLimited, .networkUnavailable, .operationCancelled)
        }
        received = (part, happens())
        guard happens() else { return .received(byteCount: part.count) }
        told.insert(.internalError)
        return .received(byteCount: part.count + random.pick([-1, 1]))
    }

    private mutating func write() -> DownloadMachine.Event {
        guard let (part, isDamaged) = received else {
            complaints.append("it writes nothing")
            return .failed(TransferFailure(error: .brokenTransfer))
        }
        expect(part.lowerBound == fileByteCount, "\(part) is written at \(fileByteCount)")
        if happens() { return failure(.quotaExceeded) }
        fileByteCount = part.upperBound
        isFileDamaged = isFileDamaged || isDamaged
        received = nil
        return .written
    }

    private mutating func finish() -> DownloadMachine.Event {
        expect(fileByteCount == byteCount && underWay.isEmpty, "it ends with \(fileByteCount) of \(byteCount)")
        if happens() { return failure(.assetNotAvailable) }
        isFinished = !isFileDamaged
        guard isFileDamaged else { return .finished(URL(fileURLWithPath: "/file")) }
        (fileByteCount, next, isFileDamaged) = (0, 0, false)
        return .damaged
    }
}
