// SPDX-License-Identifier: Apache-2.0

internal import TidemarkScheduling
package import TidemarkSockets

/// One connection to PostgreSQL. It belongs to an event loop. Its methods may be called from anywhere, and cost no hop
/// on the loop itself.
///
/// Batches that are given to it while others are under way are sent at once and answered in order. A pool lends it to
/// one caller at a time, which may keep a transaction open from batch to batch.
package final class PostgresConnection: @unchecked Sendable {
    typealias Outcome = Result<[PostgresRows], PostgresError>
    typealias Waiter = @Sendable (Outcome) -> Void

    package let loop: EventLoop
    private let timeout: Duration
    /// Whether batches of several callers are under way at once. Then a late batch ends alone.
    private let isShared: Bool

    // Only the loop's thread touches the following.

    /// Nil if the connection is closed.
    private var link: LibpqConnection?
    private var registration: Registration?
    private var pipeline = Pipeline<PostgresRows, Waiter>()
    private var script: Script?
    private var watchdog: ScheduledTimer?
    private var watchdogAt = Duration.zero
    /// When the server last answered anything, or began to owe an answer.
    private var heardAt = Duration.zero
    /// Why it was closed.
    private var closingError = PostgresError(.stopped)
    /// Whether a transaction is open, or may be after an error.
    private var isInTransaction = false
    /// Called once, on the loop, when the connection is closed.
    private let onClose: @Sendable (PostgresError) -> Void

    /// Several statements in one text, running outside pipeline mode.
    private struct Script {
        let waiter: Waiter
        let deadline: Duration
        var results: [PostgresRows] = []
        var error: PostgresError?
    }

    /// Takes over an open connection. Loop-confined.
    ///
    /// - Parameters:
    ///   - timeout: for a batch's answer, unless the caller sets another. A shared connection is closed when the server
    ///     has answered nothing at all for so long.
    ///   - isShared: whether several callers have batches under way at once.
    init(
        _ link: LibpqConnection, loop: EventLoop, timeout: Duration, isShared: Bool = false,
        onClose: @escaping @Sendable (PostgresError) -> Void
    ) throws(PostgresError) {
        self.loop = loop
        self.timeout = timeout
        self.isShared = isShared
        self.onClose = onClose
        guard link.enterPipelineMode() else { throw PostgresError(.protocolViolation, detail: link.errorText) }
        do {
            registration = try loop.register(link.socket, interest: .readable, handler: self)
        } catch {
            throw PostgresError(.connectionUnavailable, detail: error.description)
        }
        self.link = link
    }

    /// Sends all statements of `batch` with one Sync, so that they take one round trip, and waits for their results.
    ///
    /// Outside a transaction the batch is a transaction of its own: all or nothing. The first statement that fails
    /// fails the batch, with ``PostgresError/statementIndex``, and later ones are not run. The connection remains
    /// usable, but an open transaction must be rolled back (a pool does so when the connection is returned).
    ///
    /// Cancelling the task does not stop a batch that has been sent. Its deadline does, by closing the connection. On a
    /// connection that several callers share, the late batch fails alone; PostgreSQL's `statement_timeout` ends it.
    ///
    /// - Parameter timeout: from now to the answer, including what is ahead in the pipeline.
    package func execute(
        _ batch: [BoundStatement], timeout: Duration? = nil
    ) async throws(PostgresError) -> [PostgresRows] {
        guard !batch.isEmpty else { return [] }
        StatementTrace.note(batch)
        return try await outcome { self.start(batch, timeout: timeout ?? self.timeout, waiter: $0) }.get()
    }

    /// Runs a text of several statements without parameters, such as a migration, by the simple query protocol.
    ///
    /// Nothing else may be under way on the connection. Results come as text, so only their command tags are useful.
    package func executeScript(_ sql: String, timeout: Duration? = nil) async throws(PostgresError) {
        StatementTrace.note(script: sql)
        _ = try await outcome { self.startScript(sql, timeout: timeout ?? self.timeout, waiter: $0) }.get()
    }

    private func outcome(_ start: @escaping @Sendable (@escaping Waiter) -> Void) async -> Outcome {
        let handover = Handover<Outcome>()
        let waiter: Waiter = { handover.give($0) }
        if loop.isCurrent { start(waiter) } else { loop.execute { start(waiter) } }
        return await handover.take()
    }

    // MARK: On the loop

    var isOpen: Bool { link != nil }
    var needsRollback: Bool { isInTransaction }
    var isIdle: Bool { pipeline.isEmpty && script == nil }
    /// Whether libpq keeps much memory for it.
    var isLarge: Bool { (link?.largestSent ?? 0) > Self.largestSentMin }
    /// A larger statement makes a connection large.
    static let largestSentMin = 1 << 20

    func start(_ batch: [BoundStatement], timeout: Duration, waiter: @escaping Waiter) {
        guard let link else { return waiter(.failure(closingError)) }
        guard script == nil else {
            return waiter(.failure(PostgresError(.protocolViolation, detail: "a script is under way")))
        }
        let deadline = loop.now + timeout
        if pipeline.isEmpty { heardAt = loop.now }
        let plan = BatchPlan(batch, isInTransaction: isInTransaction)
        isInTransaction = plan.isInTransactionAfter
        var isSent = true
        for bound in batch { isSent = isSent && prepare(bound.statement, on: link, deadline: deadline) }
        for bound in batch { isSent = isSent && link.send(bound) }
        isSent = isSent && link.sendSync()
        pipeline.addBatch(count: batch.count, deadline: deadline, commit: plan.commit) { [self] outcome in
            guard case .failure(let error) = outcome else { return waiter(outcome) }
            if plan.mayBeInTransactionAfterFailure { isInTransaction = true }
            waiter(.failure(error.naming(batch)))
        }
        afterSending(isSent, deadline: deadline)
    }

    /// False if the connection is lost.
    private func prepare(_ statement: Statement, on link: LibpqConnection, deadline: Duration) -> Bool {
        switch statement.keeping {
        case .never: return true
        case .always(let id):
            guard pipeline.mustPrepare(id) else { return true }
            pipeline.addPreparation(id, deadline: deadline)
        case .inPlace(let number):
            let place = statement.serverName
            switch pipeline.preparation(of: number, inPlace: place) {
            case .none: return true
            case .prepare: break
            case .replace:
                pipeline.addDeallocation(deadline: deadline)
                guard link.sendDeallocate(statement), link.sendSync() else { return false }
            }
            pipeline.addPreparation(inPlace: place, deadline: deadline)
        }
        return link.sendPrepare(statement) && link.sendSync()
    }

    func startScript(_ sql: String, timeout: Duration, waiter: @escaping Waiter) {
        guard let link else { return waiter(.failure(closingError)) }
        guard isIdle, link.exitPipelineMode() else {
            return waiter(.failure(PostgresError(.protocolViolation, detail: "a batch is under way")))
        }
        let deadline = loop.now + timeout
        script = Script(waiter: waiter, deadline: deadline)
        // A ROLLBACK at the end does no harm, whatever the script does with transactions.
        isInTransaction = true
        afterSending(link.sendScript(sql), deadline: deadline)
    }

    /// Asks PostgreSQL to end what runs now, which then fails with `queryCanceled`. What has ended by then goes on.
    func cancelStatement() {
        guard let link, !isIdle, let cancel = link.makeCancel() else { return }
        PostgresConnector.send(cancel)
    }

    /// Closes the connection. Everything under way fails with `error`.
    func close(_ error: PostgresError) {
        guard link != nil else { return }
        closingError = error
        watchdog?.cancel()
        registration?.cancel()
        link = nil
        let waiters = pipeline.lose(error)
        let script = self.script
        self.script = nil
        onClose(error)
        for (waiter, error) in waiters { waiter(.failure(error)) }
        if let script {
            var error = error
            error.isCommitOutcomeUnknown = true
            script.waiter(.failure(error))
        }
    }

    private func closeLost() {
        close(PostgresError(.connectionLost, detail: link?.errorText ?? ""))
    }

    private func afterSending(_ isSent: Bool, deadline: Duration) {
        guard isSent else { return closeLost() }
        flush()
        if watchdog == nil || deadline < watchdogAt { armWatchdog() }
    }

    private func flush() {
        switch link?.flush() {
        case true: registration?.update(.readable)
        case false: registration?.update([.readable, .writable])
        case nil: closeLost()
        }
    }

    // MARK: Deadlines

    /// One timer for the oldest batch under way. It is set again when it fires, not with each batch, unless a batch has
    /// less time.
    private func armWatchdog() {
        guard isOpen, let deadline = nextDeadline else { return }
        watchdog?.cancel()
        watchdogAt = deadline
        watchdog = loop.schedule(after: deadline - loop.now) { [weak self] in self?.watch() }
    }

    private var nextDeadline: Duration? {
        if let script { return script.deadline }
        guard isShared, !pipeline.isEmpty else { return pipeline.nextDeadline }
        let silence = heardAt + timeout
        return pipeline.nextLateness.map { min($0, silence) } ?? silence
    }

    /// The callers of late batches stop waiting, and the connection goes on for the others.
    private func giveUpLateBatches() {
        for late in pipeline.giveUp(at: loop.now) {
            var error = PostgresError(.timeout, subject: link.map { "server=\($0.place)" })
            error.isCommitOutcomeUnknown = late.isCommitOutcomeUnknown
            late.waiter(.failure(error))
        }
    }

    private func watch() {
        watchdog = nil
        if isShared, script == nil, loop.now < heardAt + timeout {
            giveUpLateBatches()
            return armWatchdog()
        }
        guard let deadline = nextDeadline else { return }
        guard deadline <= loop.now else { return armWatchdog() }
        let place = link.map { "server=\($0.place)" }
        close(PostgresError(.timeout, subject: script == nil ? place : place.map { "script, \($0)" }))
    }
}

// MARK: Results

extension PostgresConnection: EventHandler {
    package func ready(_ readiness: Readiness) {
        if readiness.contains(.writable) { flush() }
        guard let link, readiness.isToReceive else { return }
        heardAt = loop.now
        var isAlive = link.consumeInput()
        while isAlive, link.isBusy, link.awaitMore() { isAlive = link.consumeInput() }
        // What arrived before the end counts.
        if script != nil { takeScriptResults(link) } else { takeResults(link) }
        guard isOpen else { return }
        if isAlive && link.isAlive { flush() } else { closeLost() }
    }

    private func takeResults(_ link: LibpqConnection) {
        var emptyCount = 0
        while isOpen, !pipeline.isEmpty, !link.isBusy {
            let next = link.next()
            // Several `end` without a result between them: libpq has nothing more now.
            if case .end = next { emptyCount += 1 } else { emptyCount = 0 }
            guard emptyCount < 3 else { return }
            receive(next)
        }
    }

    private func receive(_ next: LibpqConnection.Next) {
        switch event(of: next).map({ pipeline.receive($0) }) {
        case .proceed: break
        case .finished(let waiter, let outcome): waiter(outcome)
        case .violation: close(PostgresError(.protocolViolation, detail: link?.errorText ?? ""))
        case nil: break
        }
    }

    /// Nil if there is no event because the connection has just been closed.
    private func event(of next: LibpqConnection.Next) -> Pipeline<PostgresRows, Waiter>.Event? {
        switch next {
        case .rows(let rows):
            // If a transaction has failed before, PostgreSQL answers its COMMIT with ROLLBACK, without an error.
            guard pipeline.isCommitDue, rows.commandTag == "ROLLBACK" else { return .rows(rows) }
            return .failed(PostgresError(.statement(.inFailedTransaction)))
        case .failed(let error):
            if let lost = error.endOfConnection {
                close(lost)
                return nil
            }
            return .failed(error)
        case .aborted: return .aborted
        case .end: return .end
        case .sync: return .sync
        case .unexpected:
            close(PostgresError(.protocolViolation, detail: "an unexpected kind of result"))
            return nil
        }
    }

    private func takeScriptResults(_ link: LibpqConnection) {
        while script != nil, !link.isBusy {
            switch link.next() {
            case .rows(let rows): script?.results.append(rows)
            case .failed(let error):
                if let lost = error.endOfConnection { return close(lost) }
                script?.error = error
            case .end: return finishScript(link)
            case .aborted, .sync, .unexpected:
                return close(PostgresError(.protocolViolation, detail: "an unexpected kind of result"))
            }
        }
    }

    private func finishScript(_ link: LibpqConnection) {
        guard let script else { return }
        self.script = nil
        guard link.enterPipelineMode() else { return closeLost() }
        script.waiter(script.error.map { .failure($0) } ?? .success(script.results))
    }
}

extension PostgresError {
    /// The most names in the text. They are enough to recognise the batch.
    private static let namesMax = 8

    /// Names the statements that timed out, or the one that was refused. Their names are constants of the program, so
    /// they are safe to show.
    fileprivate func naming(_ batch: [BoundStatement]) -> PostgresError {
        var error = self
        if case .statement = code, let index = statementIndex, batch.indices.contains(index) {
            error.subject = "name=\(batch[index].statement.serverName)"
            return error
        }
        guard code == .timeout else { return self }
        let names = batch.prefix(Self.namesMax).map(\.statement.serverName).joined(separator: "+")
        let more = batch.count > Self.namesMax ? "+…" : ""
        error.subject = ["statements=\(names)\(more)", subject].compactMap(\.self).joined(separator: ", ")
        return error
    }

    /// The loss of the connection, if this error of a statement announces it.
    fileprivate var endOfConnection: PostgresError? {
        switch code {
        case .statement(let state) where state.endsConnection:
            PostgresError(.connectionLost, detail: "\(state) \(detail)")
        case .connectionLost: self
        default: nil
        }
    }
}
