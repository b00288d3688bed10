// SPDX-License-Identifier: Apache-2.0

internal import TidemarkFields

/// Decides how to send a file while its hash is computed, as a pure function of events, without file, connection or
/// clock. ``DraftDriver`` carries out its decisions.
///
/// | state | what the driver does | what comes next |
/// | --- | --- | --- |
/// | `idle` | nothing yet | `asking` |
/// | `asking` | asks how far the server is with the draft | `placing` from there |
/// | `placing` | takes a place on the connection for the next part | `sending`; without a place `awaiting` |
/// | `sending` | reads the part and sends it | `placing` |
/// | `awaiting` | waits for the oldest part's answer, or hashes a piece | `placing`; `awaiting`; see below |
/// | `ended` | nothing any more | |
///
/// In `awaiting` an answer leads to `placing`, and a hashed piece to `awaiting` again. A piece is hashed only if there is no answer yet and
/// the network leaves time for it (``HashingPace``). An answer with the hash leads to `ended`, and so does the answer to the last part if
/// no bytes are left to send.
///
/// Nothing is lost if a draft ends early. The driver's caller computes the rest of the hash, and ``UploadMachine`` asks
/// how much of the file the server has by then. So every failure ends the draft, except a cut in `awaiting`. Then it is
/// `asking` again, unless the last byte was sent or ``TransferPatience`` is over.
///
/// Once everything is hashed, nothing more is sent. Parts under way are still awaited.
///
/// The last byte makes the upload complete. It is a separate part, because the checksum goes with it. If the file may
/// change unnoticed, the last byte is not sent: only the hash can tell what the server has.
struct DraftMachine: TransferMachine {
    enum State: CaseIterable {
        case idle, asking, placing, sending, awaiting, ended
    }

    /// The events. Each answers the last action.
    enum Event {
        case begun
        /// The server says how far it is.
        case told(UploadProgress)
        /// A place for a part of at most this many bytes; nil if there is no place.
        case placed(byteCountMax: Int?)
        case sent
        /// A piece of the file was hashed.
        case hashed(isAtEnd: Bool)
        /// The server has taken the oldest part, and says how far it is now.
        case answered(UploadProgress, PartTime)
        case failed(CKError)
    }

    /// The actions of the driver, in this order. Only the last one leads to an event.
    enum Action: Equatable {
        /// Give up the parts that are under way, and a place that was taken.
        case abandonParts
        /// Report to the app that the server has so many bytes.
        case report(Int64)
        case ask
        /// - waits: whether to wait for a place. A transfer that has parts under way must not.
        case takePlace(waits: Bool)
        case send(Range<Int64>, isLast: Bool)
        /// Hash a piece of the file. But if the oldest part is answered already, take the answer.
        case hashUnlessAnswered
        case awaitAnswer
    }

    enum Outcome: Equatable {
        /// The server has all of the file, and this is its hash.
        case named(sha256: [UInt8])
        /// The hash is still to be computed here.
        case unnamed
    }

    private(set) var state = State.idle
    /// Nil until the draft has ended.
    private(set) var outcome: Outcome?
    /// Where the last byte of the file is.
    private let lastByte: Int64
    private var window: PartWindow
    private var pace: HashingPace
    private var patience = TransferPatience()
    private var isHashed = false

    /// - Parameters:
    ///   - byteCount: of the file; at least 1.
    ///   - isSettled: whether every change of the file shows (``AssetSource/isSettled``).
    init(byteCount: Int64, isSettled: Bool) {
        lastByte = byteCount - 1
        window = PartWindow(end: isSettled ? byteCount : lastByte)
        pace = HashingPace(isSettled: isSettled)
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        case (.idle, .begun): ask()
        case (.asking, .told(let progress)): goOn(from: progress)
        case (.placing, .placed(let byteCountMax)): send(byteCountMax)
        case (.sending, .sent): sendMore()
        case (.awaiting, .hashed(let isAtEnd)): hashed(isAtEnd)
        case (.awaiting, .answered(let progress, let time)): took(progress, time)
        case (.awaiting, .failed(let error)) where error.isCut: cut()
        case (.ended, _): []
        default: end(.unnamed)
        }
    }

    private mutating func ask() -> [Action] {
        state = .asking
        return [.ask]
    }

    private mutating func goOn(from progress: UploadProgress) -> [Action] {
        window.restart(at: progress.byteCount)
        return sendMore()
    }

    /// As many parts are under way as there are places; only then the oldest is waited for.
    private mutating func sendMore() -> [Action] {
        guard !isHashed, window.hasMore else { return awaitOldest() }
        state = .placing
        return [.takePlace(waits: window.isEmpty)]
    }

    private mutating func send(_ byteCountMax: Int?) -> [Action] {
        guard let byteCountMax else { return awaitOldest() }
        state = .sending
        // The last byte is a separate part.
        let bytesBeforeLast = Int(clamping: lastByte - window.next)
        let isLast = bytesBeforeLast == 0
        return [.send(window.add(byteCountMax: isLast ? 1 : min(byteCountMax, bytesBeforeLast)), isLast: isLast)]
    }

    private mutating func awaitOldest() -> [Action] {
        guard !window.isEmpty else { return end(.unnamed) }
        state = .awaiting
        return [!isHashed && pace.pieces > 0 ? .hashUnlessAnswered : .awaitAnswer]
    }

    private mutating func hashed(_ isAtEnd: Bool) -> [Action] {
        pace.hashed()
        isHashed = isAtEnd
        return awaitOldest()
    }

    /// If the server's number of bytes is not the end of this part, the draft ends, because the upload continues from
    /// there. ``UploadMachine`` has no successor, so it also accepts the ends of parts that are still under way.
    private mutating func took(_ progress: UploadProgress, _ time: PartTime) -> [Action] {
        guard let part = window.removeOldest(), progress.byteCount == part.upperBound else { return end(.unnamed) }
        patience.reached(part.upperBound)
        pace.answered(after: time)
        let isNamed = progress.isComplete && progress.sha256.count == FieldAsset.sha256ByteCount
        return [.report(part.upperBound)] + (isNamed ? end(.named(sha256: progress.sha256)) : sendMore())
    }

    /// If the last byte was sent, the draft may have become complete. Then it is no longer a draft: later parts are
    /// named by its hash.
    private mutating func cut() -> [Action] {
        guard window.next <= lastByte, patience.mayTryAgain() else { return end(.unnamed) }
        return [.abandonParts] + ask()
    }

    private mutating func end(_ outcome: Outcome) -> [Action] {
        state = .ended
        self.outcome = outcome
        return [.abandonParts]
    }
}
