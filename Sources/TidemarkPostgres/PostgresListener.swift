// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkScheduling
package import TidemarkSockets
internal import TidemarkTelemetry

/// Receives the notifications (NOTIFY) of a channel, on a connection of its own.
///
/// Notifications are lost while the connection is down.
/// ``init(url:loop:channel:applicationName:onNotification:onListening:)`` has a closure that says each time from when
/// on nothing is missed, so that its owner can check what happened before. The closures run on the loop.
package final class PostgresListener: @unchecked Sendable {
    private let loop: EventLoop
    private let parameters: ConnectionParameters
    private let command: String
    private let onNotification: @Sendable (_ payload: String) -> Void
    private let onListening: @Sendable () -> Void

    // Only the loop's thread touches the following.
    private var link: LibpqConnection?
    private var registration: Registration?
    private var backOff = BackOff()
    private var isStopped = false
    /// The request that the server has not answered yet.
    private var awaited: Awaited?
    private var timer: ScheduledTimer?

    private enum Awaited {
        case listening, ping
    }

    /// After this time the server is asked whether it is still there, and must answer within the other one. A vanished
    /// peer sends nothing, but neither does one that has nothing to say.
    private let pingInterval: Duration
    private let answerTimeout: Duration

    /// - Parameters:
    ///   - channel: any name.
    ///   - onNotification: for each notification, with its payload.
    ///   - onListening: whenever the channel is being listened to from now on: after the start and after each loss.
    package init(
        url: String, loop: EventLoop, channel: String, applicationName: String = "tidemark",
        pingInterval: Duration = .seconds(10), answerTimeout: Duration = .seconds(5),
        onNotification: @escaping @Sendable (_ payload: String) -> Void,
        onListening: @escaping @Sendable () -> Void
    ) throws(PostgresError) {
        parameters = try ConnectionParameters(url: url, settings: [], applicationName: applicationName)
        command = "LISTEN " + PostgresAdministration.quoted(channel)
        self.loop = loop
        self.pingInterval = pingInterval
        self.answerTimeout = answerTimeout
        self.onNotification = onNotification
        self.onListening = onListening
        loop.execute { self.connect() }
    }

    /// Stops listening. No closure is called afterwards, except by work that runs on the loop right now. From any
    /// thread.
    package func stop() {
        loop.execute {
            self.isStopped = true
            self.disconnect()
        }
    }

    private func connect() {
        guard !isStopped else { return }
        PostgresConnector.connect(parameters, loop: loop) { self.connected($0) }
    }

    private func connected(_ result: Result<LibpqConnection, PostgresError>) {
        guard !isStopped else { return }
        do {
            let link = try result.get()
            registration = try loop.register(link.socket, interest: .readable, handler: self)
            self.link = link
        } catch {
            note(error as? PostgresError ?? PostgresError(.connectionUnavailable, detail: "\(error)"))
            return connectLater()
        }
        ask(command, .listening)
    }

    /// The owner repairs what was missed. The operator should know why.
    private func note(_ error: PostgresError) {
        FailureLog.shared.note(
            .warning, "changes by other servers are not heard", cause: error.kind, ["error": error.textForLog],
            request: nil)
    }

    private func ask(_ sql: String, _ awaited: Awaited) {
        self.awaited = awaited
        guard let link, link.sendScript(sql) else { return lost() }
        flush()
        setTimer(answerTimeout) { $0.lost() }
    }

    private func flush() {
        switch link?.flush() {
        case true: registration?.update(.readable)
        case false: registration?.update([.readable, .writable])
        case nil: lost()
        }
    }

    private func setTimer(_ delay: Duration, _ action: @escaping @Sendable (PostgresListener) -> Void) {
        timer?.cancel()
        timer = loop.schedule(after: delay) { [weak self] in
            if let self { action(self) }
        }
    }

    private func lost() {
        guard let link else { return }
        note(PostgresError(.connectionLost, detail: link.errorText))
        disconnect()
        connectLater()
    }

    private func disconnect() {
        timer?.cancel()
        registration?.cancel()
        registration = nil
        link = nil
        awaited = nil
    }

    private func connectLater() {
        guard !isStopped else { return }
        let delay = backOff.next(randomBits: loop.randomBits())
        loop.schedule(after: delay) { [weak self] in self?.connect() }
    }
}

extension PostgresListener: EventHandler {
    package func ready(_ readiness: Readiness) {
        if readiness.contains(.writable) { flush() }
        guard let link, readiness.isToReceive else { return }
        let isAlive = link.consumeInput()
        takeAnswer(link)
        while self.link === link, let payload = link.nextNotification() { onNotification(payload) }
        if self.link === link, !isAlive || !link.isAlive { lost() }
    }

    private func takeAnswer(_ link: LibpqConnection) {
        while let awaited, !link.isBusy {
            switch link.next() {
            case .rows: continue
            case .end: answered(awaited)
            case .failed, .aborted, .sync, .unexpected: return lost()
            }
        }
    }

    private func answered(_ question: Awaited) {
        awaited = nil
        setTimer(pingInterval) { $0.ask("", .ping) }
        guard question == .listening else { return }
        backOff.reset()
        onListening()
    }
}
