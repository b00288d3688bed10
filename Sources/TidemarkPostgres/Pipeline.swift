// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// What a connection in pipeline mode is waiting for: the state machine that turns libpq's stream of results into
/// answers to batches. It knows no socket and no libpq, so that tests can drive it.
///
/// On the wire a batch is `((Deallocate Sync)? Prepare Sync)… statement … Sync`. Each preparation has a Sync of its own: a statement that
/// fails would else take with it the preparations on which the next batch, already under way, relies.
struct Pipeline<Rows, Waiter> {
    /// Everything up to one Sync. NB: a class, so that what happens to the first one is not done to a copy of it.
    private final class Segment {
        /// Nil for a preparation, and for making room for one.
        let waiter: Waiter?
        let prepared: Prepared?
        let count: Int
        let deadline: Duration
        let commit: CommitRisk
        var results: [Rows] = []
        var error: PostgresError?
        /// Which statement's results are due.
        var position = 0
        var hasResult = false

        init(waiter: Waiter?, prepared: Prepared?, count: Int, deadline: Duration, commit: CommitRisk) {
            self.waiter = waiter
            self.prepared = prepared
            self.count = count
            self.deadline = deadline
            self.commit = commit
        }

        /// False if no result is due.
        func acceptsResult() -> Bool {
            guard position < count, !hasResult else { return false }
            hasResult = true
            return true
        }
    }

    /// What a segment prepares.
    private enum Prepared {
        case always(id: Int)
        case inPlace(String)
    }

    /// What must be sent before a statement can be run.
    enum Preparation {
        case none, prepare
        /// Another statement is prepared in its place and must go first.
        case replace
    }

    enum Event {
        case rows(Rows)
        case failed(PostgresError)
        case aborted
        case end
        case sync
    }

    enum Action {
        case proceed
        case finished(Waiter, Result<[Rows], PostgresError>)
        /// libpq has told something that cannot be; the connection must be closed.
        case violation
    }

    private var segments: Deque<Segment> = []
    /// Indexed by the statement's id. A statement counts as prepared as soon as its preparation is sent.
    private var prepared: [Bool] = []
    /// Which statement is prepared in a place, in the same sense.
    private var places: [String: Int] = [:]
    /// Why a preparation failed whose statement is about to fail because of it.
    private var prepareError: PostgresError?

    var isEmpty: Bool { segments.isEmpty }

    /// When the oldest batch must have been answered.
    var nextDeadline: Duration? { segments.first?.deadline }

    /// The statement whose result is due is a COMMIT.
    var isCommitDue: Bool { segments.first.map { $0.commit.commitIndex == $0.position } ?? false }

    /// Whether the statement must be prepared before it is used; the answer is yes only once.
    mutating func mustPrepare(_ id: Int) -> Bool {
        while prepared.count <= id { prepared.append(false) }
        guard !prepared[id] else { return false }
        prepared[id] = true
        return true
    }

    /// What must be done before the statement of that number is used in a place; it counts as done.
    mutating func preparation(of number: Int, inPlace place: String) -> Preparation {
        let previous = places.updateValue(number, forKey: place)
        return previous == nil ? .prepare : previous == number ? .none : .replace
    }

    mutating func addPreparation(_ id: Int, deadline: Duration) {
        addPreparation(.always(id: id), deadline)
    }

    mutating func addPreparation(inPlace place: String, deadline: Duration) {
        addPreparation(.inPlace(place), deadline)
    }

    /// What was prepared in a place goes.
    mutating func addDeallocation(deadline: Duration) {
        addPreparation(nil, deadline)
    }

    private mutating func addPreparation(_ prepared: Prepared?, _ deadline: Duration) {
        segments.append(
            Segment(waiter: nil, prepared: prepared, count: 1, deadline: deadline, commit: CommitRisk()))
    }

    mutating func addBatch(count: Int, deadline: Duration, commit: CommitRisk, waiter: Waiter) {
        segments.append(
            Segment(waiter: waiter, prepared: nil, count: count, deadline: deadline, commit: commit))
    }

    mutating func receive(_ event: Event) -> Action {
        guard let segment = segments.first else { return isHarmlessWhenEmpty(event) ? .proceed : .violation }
        switch event {
        case .rows(let rows):
            guard segment.acceptsResult() else { return .violation }
            segment.results.append(rows)
        case .failed(let error):
            guard segment.acceptsResult() else { return .violation }
            fail(segment, error)
        case .aborted:
            guard segment.error != nil, segment.acceptsResult() else { return .violation }
        case .end:
            // libpq says it once more than needed around a Sync.
            if segment.hasResult {
                segment.hasResult = false
                segment.position += 1
            }
        case .sync:
            return finishSegment()
        }
        return .proceed
    }

    /// The connection is gone: everyone who waits, with the error that they get.
    mutating func lose(_ error: PostgresError) -> [(Waiter, PostgresError)] {
        defer { segments = [] }
        return segments.compactMap { segment in
            guard let waiter = segment.waiter else { return nil }
            var error = error
            // Once a statement of the batch has failed, its transaction cannot commit any more.
            error.isCommitOutcomeUnknown = segment.commit.mayCommit && segment.error == nil
            return (waiter, error)
        }
    }

    private func isHarmlessWhenEmpty(_ event: Event) -> Bool {
        if case .end = event { true } else { false }
    }

    private mutating func fail(_ segment: Segment, _ error: PostgresError) {
        var error = error
        error.statementIndex = segment.position
        if segment.error == nil { segment.error = error }
        switch segment.prepared {
        case .always(let id): prepared[id] = false
        case .inPlace(let place): places[place] = nil
        case nil: break
        }
    }

    private mutating func finishSegment() -> Action {
        let segment = segments.removeFirst()
        // After an error libpq reports each statement up to the Sync as aborted, so that the count is always complete.
        guard segment.position == segment.count, !segment.hasResult else { return .violation }
        guard let waiter = segment.waiter else {
            if prepareError == nil { prepareError = segment.error }
            return .proceed
        }
        defer { prepareError = nil }
        guard let error = segment.error else { return .finished(waiter, .success(segment.results)) }
        return .finished(waiter, .failure(explained(error)))
    }

    /// That a statement is not there says less than why it could not be prepared.
    private func explained(_ error: PostgresError) -> PostgresError {
        guard error.code == .statement(.undefinedStatement), var cause = prepareError else { return error }
        cause.statementIndex = error.statementIndex
        return cause
    }
}

/// What is unknown if the connection is lost before the batch's answer.
struct CommitRisk {
    /// Its outcome would be visible to others: it has a COMMIT or writes outside of a transaction.
    var mayCommit = false
    /// Where the COMMIT is.
    var commitIndex: Int?
}
