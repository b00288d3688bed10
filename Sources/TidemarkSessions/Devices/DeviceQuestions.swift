// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService

/// Which questions of operators a server answers next, and when. Questions that come while it waits or writes share
/// the next answer, so whoever repeats a command makes no server write more than once in a ``pause``.
struct DeviceQuestions {
    /// From the beginning of one answer to the next.
    static let pause = Duration.seconds(1)
    /// Further questions are not answered. Whoever asks them is told that this server did not answer.
    static let waitingMax = 64

    private var waiting: [DeviceQuestion] = []
    private var isBusy = false
    private var beganAt: Duration?

    /// An operator asks.
    ///
    /// - Returns: after which time to begin an answer; nil: one is on its way.
    mutating func ask(_ question: DeviceQuestion, at now: Duration) -> Duration? {
        guard waiting.count < Self.waitingMax, !waiting.contains(question) else { return nil }
        waiting.append(question)
        guard !isBusy else { return nil }
        isBusy = true
        return delay(at: now)
    }

    /// An answer begins.
    ///
    /// - Returns: the questions that it answers.
    mutating func begin(at now: Duration) -> [DeviceQuestion] {
        beganAt = now
        defer { waiting = [] }
        return waiting
    }

    /// The answer was given, or could not be given.
    ///
    /// - Returns: after which time to begin the next one; nil: nobody has asked meanwhile.
    mutating func ended(at now: Duration) -> Duration? {
        isBusy = !waiting.isEmpty
        return isBusy ? delay(at: now) : nil
    }

    private func delay(at now: Duration) -> Duration {
        beganAt.map { max(.zero, Self.pause - (now - $0)) } ?? .zero
    }
}

/// What a list of questions wants to know.
struct DeviceWishes {
    private let accounts: Set<AccountID>
    private let wantsLinks: Bool

    init(_ questions: [DeviceQuestion]) {
        accounts = Set(questions.compactMap(\.account))
        wantsLinks = questions.contains { $0.account == nil }
    }

    /// How much of a device is wanted; nil: nothing.
    func wish(of account: AccountID) -> DeviceTrail.Wish? {
        if accounts.contains(account) { .all } else if wantsLinks { .link } else { nil }
    }
}

/// When a server began.
struct ServerStart: Sendable {
    private let wallClock: Int64
    private let monotonic: Duration

    init(on scheduler: any Scheduler) {
        wallClock = scheduler.wallClockMilliseconds
        monotonic = scheduler.now
    }

    /// By the clock at the beginning, or by the clock of now and the time since: whichever is earlier. So a clock that was set
    /// makes none of the server's connections older than the server.
    func earliest(on scheduler: any Scheduler) -> Timestamp {
        let (seconds, attoseconds) = (scheduler.now - monotonic).components
        let age = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
        return Timestamp(milliseconds: min(wallClock, scheduler.wallClockMilliseconds - age))
    }
}
