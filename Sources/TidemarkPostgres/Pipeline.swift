// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// What a connection in pipeline mode waits for. This state machine turns libpq's stream of results into answers to
/// batches. It knows no socket and no libpq, so tests can drive it.
///
/// On the wire a batch is `((Deallocate Sync)? Prepare Sync)… statement … Sync`. Each preparation has its own Sync.
/// Without it, a statement that fails would undo preparations on which the next batch, already under way, relies.
struct Pipeline<Rows, Waiter> {
    /// Everything up to one Sync. NB: a class, so that a change of the first segment does not change a copy.
    private final class Segment {
        /// Nil for a preparation, for the deallocation before one, and once the batch is given up.
        var waiter: Waiter?
        let isBatch: Bool
        let prepared: Prepared?
        let count: Int
        let deadline: Duration
        let commit: CommitRisk
        var results: [Rows] = []
        var error: PostgresError?
        /// The index of the statement whose results are due.
        var position = 0
        var hasResult = false

        init(waiter: Waiter?, prepared: Prepared?, count: Int, deadline: Duration, commit: CommitRisk) {
            self.waiter = waiter
            isBatch = waiter != nil
            self.prepared = prepared
            self.count = count
            self.deadline = deadline
            self.commit = commit
        }

        /// Whether nobody knows, without its answer, if it committed. Once a statement of the batch has failed, its
        /// transaction can no longer commit.
        var leavesCommitUnknown: Bool { commit.mayCommit && error == nil }

        /// False if no result is due.
        func acceptsResult() -> Bool {
            guard position < count, !hasResult else { return false }
            hasResult = true
            return true
        }
    }

    /// The statement that a segment prepares.
    private enum Prepared {
        case always(id: Int)
        case inPlace(String)
    }

    /// What must be sent before a statement can run in its place.
    enum PlacePreparation {
        case none, prepare
        /// Another statement is prepared in its place and must be deallocated first.
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
        /// libpq has reported something impossible. The connection must be closed.
        case violation
    }

    private var segments: Deque<Segment> = []
    /// Indexed by the statement's id. A statement counts as prepared once its preparation is sent.
    private var prepared: [Bool] = []
    /// The statement that is prepared in each place, in the same sense.
    private var places: [String: Int] = [:]
    /// Why a preparation failed, for the statement that will fail because of it.
    private var prepareError: PostgresError?

    var isEmpty: Bool { segments.isEmpty }

    /// When the oldest batch must have been answered.
    var nextDeadline: Duration? { segments.first?.deadline }

    /// When the next batch is late whose caller still waits.
    var nextLateness: Duration? { segments.lazy.compactMap { $0.waiter == nil ? nil : $0.deadline }.min() }

    /// The callers of late batches stop waiting. What is still to come for these batches will be dropped.
    mutating func giveUp(at now: Duration) -> [(waiter: Waiter, isCommitOutcomeUnknown: Bool)] {
        segments.compactMap { segment in
            guard segment.deadline <= now, let waiter = segment.waiter else { return nil }
            segment.waiter = nil
            return (waiter, segment.leavesCommitUnknown)
        }
    }

    /// Whether the statement whose result is due is a COMMIT.
    var isCommitDue: Bool { segments.first.map { $0.commit.commitIndex == $0.position } ?? false }

    /// Whether the statement must be prepared before it is used. Returns true only once.
    mutating func mustPrepare(_ id: Int) -> Bool {
        while prepared.count <= id { prepared.append(false) }
        guard !prepared[id] else { return false }
        prepared[id] = true
        return true
    }

    /// What must be sent before the statement of that number can be used in a place. It counts as sent.
    mutating func preparation(of number: Int, inPlace place: String) -> PlacePreparation {
        let previous = places.updateValue(number, forKey: place)
        return previous == nil ? .prepare : previous == number ? .none : .replace
    }

    mutating func addPreparation(_ id: Int, deadline: Duration) {
        addPreparation(.always(id: id), deadline)
    }

    mutating func addPreparation(inPlace place: String, deadline: Duration) {
        addPreparation(.inPlace(place), deadline)
    }

    /// Adds a segment that removes what was prepared in a place.
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
            // libpq reports it once more than needed around a Sync.
            if segment.hasResult {
                segment.hasResult = false
                segment.position += 1
            }
        case .sync:
            return finishSegment()
        }
        return .proceed
    }

    /// The connection is lost. Returns all waiting callers with their errors.
    mutating func lose(_ error: PostgresError) -> [(Waiter, PostgresError)] {
        defer { segments = [] }
        return segments.compactMap { segment in
            guard let waiter = segment.waiter else { return nil }
            var error = error
            error.isCommitOutcomeUnknown = segment.leavesCommitUnknown
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
        // After an error libpq reports each statement up to the Sync as aborted, so the count is always complete.
        guard segment.position == segment.count, !segment.hasResult else { return .violation }
        guard segment.isBatch else {
            if prepareError == nil { prepareError = segment.error }
            return .proceed
        }
        defer { prepareError = nil }
        guard let waiter = segment.waiter else { return .proceed }
        guard let error = segment.error else { return .finished(waiter, .success(segment.results)) }
        return .finished(waiter, .failure(explained(error)))
    }

    /// Replaces the error that a statement does not exist with the error that its preparation had.
    private func explained(_ error: PostgresError) -> PostgresError {
        guard error.code == .statement(.undefinedStatement), var cause = prepareError else { return error }
        cause.statementIndex = error.statementIndex
        return cause
    }
}

/// What is unknown if the connection is lost before the batch is answered.
struct CommitRisk {
    /// Whether others would see the batch's outcome: it has a COMMIT, or writes outside a transaction.
    var mayCommit = false
    /// The index of the COMMIT.
    var commitIndex: Int?
}
