// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

/// Asks all servers to write down now what they know of devices, and waits until they have.
///
/// It listens from its first question on, so it must be closed.
final class ServerInquiry {
    /// The number of the question that is asked now. Answers to others are passed over.
    private final class Asked: Sendable {
        let number = Mutex<UInt64?>(nil)
    }

    private enum Event: Sendable {
        case listening
        case answered(DeviceAnswer)
        /// The time for the wait of this number is over.
        case late(UInt64)
    }

    /// For the connection, and then again for the answers. A server waits a second at most before it writes.
    private static let patience = Duration.seconds(3)
    static let patienceText = "3 seconds"
    /// The most events that wait. There is one for each server.
    private static let eventsMax = 20_000

    private let console: Console
    private let asked = Asked()
    private let events: AsyncStream<Event>
    private let tell: AsyncStream<Event>.Continuation
    private var listener: NoticeListener?
    private var isListening = false

    init(_ console: Console) {
        self.console = console
        (events, tell) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(Self.eventsMax))
    }

    func close() { listener?.stop() }

    /// Returns when each server that is connected to the database has written, or has had time enough.
    ///
    /// - Parameter account: whose devices; nil: only which devices of all accounts are connected.
    func ask(about account: AccountID?) async throws -> ServerRoll {
        // Before the question: whoever is there now hears it.
        var roll = ServerRoll(expecting: try await console.store.listeningServers())
        guard !roll.isComplete else { return roll }
        guard try await listens() else { return .unasked }
        let number = console.loop.randomBits()
        asked.number.withLock { $0 = number }
        defer { asked.number.withLock { $0 = nil } }
        try await console.store.ask(DeviceQuestion(number: number, account: account))
        let timer = wait(number)
        defer { timer.cancel() }
        for await event in events {
            switch event {
            case .answered(let answer) where answer.question == number: roll.heard(answer)
            case .late(number):
                roll.isLate(try await console.store.listeningServers())
                return roll
            case .answered, .late, .listening: break
            }
            if roll.isComplete { return roll }
        }
        throw CancellationError()
    }

    /// Whether answers are heard.
    private func listens() async throws -> Bool {
        guard !isListening else { return true }
        if listener == nil {
            listener = try console.storage.listen(
                onNotices: { [asked, tell] notices in
                    let number = asked.number.withLock { $0 }
                    for case .devicesWritten(let answer) in notices where answer.question == number {
                        tell.yield(.answered(answer))
                    }
                },
                onListening: { [tell] in tell.yield(.listening) })
        }
        let number = console.loop.randomBits()
        let timer = wait(number)
        defer { timer.cancel() }
        for await event in events {
            switch event {
            case .listening:
                isListening = true
                return true
            case .late(number): return false
            case .answered, .late: break
            }
        }
        throw CancellationError()
    }

    private func wait(_ number: UInt64) -> ScheduledTimer {
        console.loop.schedule(after: Self.patience) { [tell] in tell.yield(.late(number)) }
    }
}
