// SPDX-License-Identifier: Apache-2.0

/// How far the server is with an upload.
struct UploadProgress: Equatable {
    /// The bytes that it has.
    let byteCount: Int64
    let isComplete: Bool
    /// The hash of a complete upload that had none for a name; otherwise empty.
    var sha256: [UInt8] = []
}

/// Decides how to send a file whose hash is known, as a pure function of events, without file, connection or clock.
/// ``UploadDriver`` carries out its decisions.
///
/// | state | what the driver does | what comes next |
/// | --- | --- | --- |
/// | `idle` | nothing yet | an attempt |
/// | `asking` | asks how far the server is | `placing` from there; `ended` if the server has everything |
/// | `placing` | takes a place on the connection for the next part | `sending`; without a place `awaiting` |
/// | `sending` | reads the part and sends it | `placing` |
/// | `awaiting` | waits for the answer to the oldest part | `placing`; `proving` if the server has everything |
/// | `proving` | looks whether the file is still the one that was hashed | `ended` |
/// | `judging` | the same, after the server has said that the content is another | an attempt; `ended` if it is not |
/// | `pausing` | lets time pass after a failure that may pass | another attempt |
/// | `ended` | nothing any more | |
///
/// An attempt begins with `asking`, and the first one of a small file with `placing`. Failures lead to:
///
/// | what goes wrong | state | what comes next | of a patient upload |
/// | --- | --- | --- | --- |
/// | the server has another number of bytes than it should | any | an attempt | `pausing` |
/// | the connection is cut | `awaiting` | an attempt | `pausing` |
/// | any failure | `placing`, `judging`, `pausing` | `ended` | `ended` |
/// | the content is another (`assetFileModified`), the first time | the others | `judging` | `judging` |
/// | any other failure | the others | `pausing` | `pausing` |
///
/// There is an attempt, or `pausing`, only as long as ``TransferPatience`` lasts. Otherwise the upload has `ended`.
///
/// An event that does not belong to the state is a fault of the driver. It ends the upload with an error, because to go
/// on could send the wrong bytes.
struct UploadMachine: TransferMachine {
    enum State: CaseIterable {
        case idle, asking, placing, sending, awaiting, proving, judging, pausing, ended
    }

    /// The events. Each answers the last action.
    enum Event {
        case begun
        /// The server says how far it is.
        case told(UploadProgress)
        /// A place for a part of at most this many bytes; nil if there is no place.
        case placed(byteCountMax: Int?)
        case sent
        /// The server has taken the oldest part, and says how far it is now.
        case answered(UploadProgress)
        /// The file is as it was when it was hashed.
        case unchanged
        case paused
        case failed(TransferFailure)
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
        case send(Range<Int64>)
        case awaitAnswer
        case checkFile
        case pause(Duration)
    }

    enum Outcome {
        case uploaded
        case failed(CKError)
        /// The server never has more of it, attempt after attempt. The error is that of the last one.
        case standsStill(CKError)
    }

    private(set) var state = State.idle
    /// Nil until the upload has ended.
    private(set) var outcome: Outcome?
    private let byteCount: Int64
    private let isPatient: Bool
    private var window: PartWindow
    private var patience: TransferPatience
    /// A part has to be sent even if the server has all bytes: it makes the upload complete. So has the one part of an
    /// empty file.
    private var owesPart = true
    private var isFirstAttempt = true
    /// Whether the file was found unchanged after the server had said that the content is another.
    private var hasJudged = false

    /// Files up to this size are sent without a question whether the server has them, at first. A server may have a
    /// part of them from an earlier attempt.
    static let unaskedBytesMax: Int64 = 262_144

    /// - Parameter isPatient: whether it is tried again for as long as there is time.
    init(byteCount: Int64, isPatient: Bool) {
        self.byteCount = byteCount
        self.isPatient = isPatient
        window = PartWindow(end: byteCount)
        patience = TransferPatience(isPatient: isPatient)
    }

    mutating func handle(_ event: Event) -> [Action] {
        switch (state, event) {
        case (.idle, .begun): beginAttempt()
        case (.asking, .told(let progress)): goOn(from: progress)
        case (.placing, .placed(let byteCountMax)): send(byteCountMax)
        case (.sending, .sent): sendMore()
        case (.awaiting, .answered(let progress)): took(progress)
        case (.proving, .unchanged): end(.uploaded)
        case (.judging, .unchanged): judged()
        case (.pausing, .paused): beginAttempt()
        case (.awaiting, .failed(let failure)) where failure.error.isCut: cut(failure)
        case (.placing, .failed(let failure)), (.judging, .failed(let failure)), (.pausing, .failed(let failure)):
            end(.failed(failure.error))
        case (.asking, .failed(let failure)), (.sending, .failed(let failure)), (.awaiting, .failed(let failure)),
            (.proving, .failed(let failure)):
            failed(failure)
        case (.ended, _): []
        default: end(.failed(.brokenTransfer))
        }
    }

    // MARK: An attempt

    private mutating func beginAttempt() -> [Action] {
        window.restart(at: 0)
        owesPart = true
        defer { isFirstAttempt = false }
        if isFirstAttempt, byteCount <= Self.unaskedBytesMax { return sendMore() }
        state = .asking
        return [.ask]
    }

    private mutating func goOn(from progress: UploadProgress) -> [Action] {
        if progress.isComplete { return [.report(byteCount)] + end(.uploaded) }
        window.restart(at: progress.byteCount)
        patience.reached(window.next)
        return sendMore()
    }

    /// As many parts are under way as there are places; only then the oldest is waited for.
    private mutating func sendMore() -> [Action] {
        guard owesPart || window.hasMore else { return awaitOldest() }
        state = .placing
        return [.takePlace(waits: window.isEmpty)]
    }

    private mutating func send(_ byteCountMax: Int?) -> [Action] {
        guard let byteCountMax else { return awaitOldest() }
        state = .sending
        owesPart = false
        return [.send(window.add(byteCountMax: byteCountMax))]
    }

    private mutating func awaitOldest() -> [Action] {
        // Everything is answered, and yet the server does not call it complete.
        guard !window.isEmpty else { return attemptAgain(after: .serverHas(byteCount, of: byteCount)) }
        state = .awaiting
        return [.awaitAnswer]
    }

    private mutating func took(_ progress: UploadProgress) -> [Action] {
        guard let part = window.removeOldest() else { return end(.failed(.brokenTransfer)) }
        // A number of the server: it may be any.
        let reached = min(progress.byteCount, byteCount)
        patience.reached(reached)
        if progress.isComplete {
            state = .proving
            return [.report(reached), .checkFile]
        }
        // The server may also have taken parts that are still under way.
        let isOnItsWay = (part.upperBound...window.next).contains(reached)
        return [.report(reached)] + (isOnItsWay ? sendMore() : attemptAgain(after: .serverHas(reached, of: byteCount)))
    }

    private mutating func judged() -> [Action] {
        hasJudged = true
        return beginAttempt()
    }

    // MARK: Failures, as in the table

    /// The next server may be elsewhere: it is asked.
    private mutating func cut(_ failure: TransferFailure) -> [Action] {
        patience.reachedServer()
        return attemptAgain(after: failure)
    }

    /// A patient upload lets time pass before it.
    ///
    /// - Parameter failure: what ended the last attempt.
    private mutating func attemptAgain(after failure: TransferFailure) -> [Action] {
        if isPatient { return pause(after: failure) }
        guard patience.mayTryAgain() else { return end(.standsStill(failure.error)) }
        return [.abandonParts] + beginAttempt()
    }

    private mutating func failed(_ failure: TransferFailure) -> [Action] {
        if failure.error.code == .assetFileModified, !hasJudged {
            // Bytes that an earlier attempt left on the server may be damaged. The file is judged here.
            state = .judging
            return [.abandonParts, .checkFile]
        }
        return pause(after: failure)
    }

    private mutating func pause(after failure: TransferFailure) -> [Action] {
        guard let wait = patience.pause(after: failure) else { return end(.failed(failure.error)) }
        state = .pausing
        return [.abandonParts, .pause(wait)]
    }

    private mutating func end(_ outcome: Outcome) -> [Action] {
        state = .ended
        self.outcome = outcome
        return [.abandonParts]
    }
}

extension CKError {
    /// Our own fault: the driver of a transfer told something that cannot have happened.
    static let brokenTransfer = CKError(
        .internalError,
        text: "The transfer of a file failed because of a mistake in the library. Save or fetch the record again.")
}

extension TransferFailure {
    /// The server does not have the expected number of bytes.
    fileprivate static func serverHas(_ byteCount: Int64, of wanted: Int64) -> TransferFailure {
        TransferFailure(
            error: CKError(.networkFailure, text: "The server said that it had \(byteCount) of \(wanted) bytes."))
    }
}
