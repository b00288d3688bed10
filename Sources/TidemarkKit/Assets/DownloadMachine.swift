// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkWire

/// Decides how to bring an asset's content into a file, as a pure function of events, without file, connection or
/// clock. ``DownloadDriver`` carries out its decisions.
///
/// | state | what the driver does | what comes next |
/// | --- | --- | --- |
/// | `idle` | nothing yet | an attempt |
/// | `placing` | takes a place on the connection, and asks for the next part | `placing`; without a place, see below |
/// | `awaiting` | waits for the oldest part | `placing`: the next part is on its way while this one is written |
/// | `writing` | writes what came | `awaiting`; `placing` if nothing is under way; `finishing` if nothing is missing |
/// | `finishing` | proves the content and gives the file its name | `ended`; an attempt, once, if it is damaged |
/// | `pausing` | lets time pass after a failure that may pass | another attempt |
/// | `ended` | nothing any more | |
///
/// An attempt goes on behind the last byte that was written. It begins with `placing`, or with `finishing` if nothing
/// is missing. If there is no place, or all parts were requested, received bytes are written. If there are none, it
/// waits for some. A failure in `awaiting` and `writing` leads to `pausing`, as long as ``TransferPatience`` lasts.
/// Every other failure leads to `ended`, and so does a part of the wrong length. An event that does not belong to the
/// state is a fault of the driver, and leads to `ended` too.
struct DownloadMachine: TransferMachine {
    enum State: CaseIterable {
        case idle, placing, awaiting, writing, finishing, pausing, ended
    }

    /// The events. Each answers the last action.
    enum Event {
        case begun
        /// A place for a part of at most this many bytes; nil if there is no place.
        case placed(byteCountMax: Int?)
        /// The oldest part came, and has so many bytes.
        case received(byteCount: Int)
        case written
        /// The file has the wanted content, and its name.
        case finished(URL)
        /// The file had another content, and is empty again.
        case damaged
        case paused
        case failed(TransferFailure)
    }

    /// The actions of the driver, in this order. Only the last one leads to an event.
    enum Action: Equatable {
        /// Give up the parts that are under way.
        case abandonParts
        /// Report to the app that the file has so many bytes.
        case report(Int64)
        /// Ask for the checksum, without waiting for it.
        case askForChecksum
        /// Wait for the checksum, and tell it to the file.
        case expectChecksum
        /// - waits: whether to wait for a place. A transfer that has parts under way must not.
        case takePlace(waits: Bool)
        case fetch(Range<Int64>)
        case awaitAnswer
        case write
        case finish
        case pause(Duration)
    }

    enum Outcome {
        case downloaded(URL)
        case failed(CKError)
        /// No answer came in time, although there is time for the download. The error says so.
        case standsStill(CKError)
        /// The content was another one than was asked for, twice.
        case damaged
    }

    private(set) var state = State.idle
    /// Nil until the download has ended.
    private(set) var outcome: Outcome?
    private let isPatient: Bool
    private let byteCount: Int64
    /// How many bytes the file has.
    private var writtenByteCount: Int64
    private var window: PartWindow
    private var patience: TransferPatience
    /// The bytes of a part that came and is not written yet.
    private var receivedByteCount: Int?
    /// Whether the checksum was asked for and is not known yet.
    private var awaitsChecksum = false
    /// Whether the content was damaged once.
    private var wasDamaged = false

    /// - Parameters:
    ///   - byteCount: of the asset.
    ///   - writtenByteCount: what an earlier download has left in the file.
    ///   - isPatient: whether it is tried again for as long as there is time.
    init(byteCount: Int64, writtenByteCount: Int64, isPatient: Bool) {
        self.byteCount = byteCount
        self.writtenByteCount = writtenByteCount
        self.isPatient = isPatient
        window = PartWindow(end: byteCount)
        patience = TransferPatience(isPatient: isPatient)
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        case (.idle, .begun): begin()
        case (.placing, .placed(let byteCountMax)): fetch(byteCountMax)
        case (.awaiting, .received(let byteCount)): received(byteCount)
        case (.writing, .written): written()
        case (.finishing, .finished(let file)): end(.downloaded(file))
        case (.finishing, .damaged): damaged()
        case (.pausing, .paused): beginAttempt()
        case (.awaiting, .failed(let failure)), (.writing, .failed(let failure)): failed(failure)
        case (.placing, .failed(let failure)), (.finishing, .failed(let failure)), (.pausing, .failed(let failure)):
            end(after: failure)
        case (.ended, _): []
        default: end(.failed(.brokenTransfer))
        }
    }

    /// The checksum proves only what comes with this download.
    private mutating func begin() -> [Action] {
        awaitsChecksum = writtenByteCount == 0 && byteCount >= AssetFile.checksumBytesMin
        return (awaitsChecksum ? [.askForChecksum] : []) + beginAttempt()
    }

    private mutating func beginAttempt() -> [Action] {
        receivedByteCount = nil
        window.restart(at: writtenByteCount)
        return next()
    }

    /// As many parts are under way as there are places. Received bytes are written only then, while these parts are on
    /// their way.
    ///
    /// - Parameter isFull: whether there was no place just now.
    private mutating func next(isFull: Bool = false) -> [Action] {
        let isIdle = window.isEmpty && receivedByteCount == nil
        if window.hasMore, isIdle || !isFull {
            state = .placing
            return [.takePlace(waits: isIdle)]
        }
        if receivedByteCount != nil {
            state = .writing
            defer { awaitsChecksum = false }
            return awaitsChecksum ? [.expectChecksum, .write] : [.write]
        }
        if !window.isEmpty {
            state = .awaiting
            return [.awaitAnswer]
        }
        state = .finishing
        return [.finish]
    }

    private mutating func fetch(_ byteCountMax: Int?) -> [Action] {
        guard let byteCountMax else { return next(isFull: true) }
        return [.fetch(window.add(byteCountMax: byteCountMax))] + next()
    }

    private mutating func received(_ byteCount: Int) -> [Action] {
        guard let part = window.removeOldest(), part.count == byteCount else {
            return end(.failed(CloudDatabase.wrongAnswer(to: .fetchAssetChunk)))
        }
        receivedByteCount = byteCount
        return next()
    }

    private mutating func written() -> [Action] {
        writtenByteCount += Int64(receivedByteCount.take() ?? 0)
        patience.reached(writtenByteCount)
        // It was full before the write, or nothing is left to ask for.
        return [.report(writtenByteCount)] + next(isFull: true)
    }

    private mutating func failed(_ failure: TransferFailure) -> [Action] {
        guard let wait = patience.pause(after: failure) else { return end(after: failure) }
        state = .pausing
        return [.abandonParts, .pause(wait)]
    }

    private mutating func end(after failure: TransferFailure) -> [Action] {
        let standsStill = failure.error.code == .networkFailure && !failure.isOutOfTime
        return end(standsStill ? .standsStill(failure.error) : .failed(failure.error))
    }

    /// The second time, no bytes of an earlier download are used.
    private mutating func damaged() -> [Action] {
        guard !wasDamaged else { return end(.damaged) }
        wasDamaged = true
        writtenByteCount = 0
        patience = TransferPatience(isPatient: isPatient)
        return beginAttempt()
    }

    private mutating func end(_ outcome: Outcome) -> [Action] {
        state = .ended
        self.outcome = outcome
        return [.abandonParts]
    }
}
