// SPDX-License-Identifier: Apache-2.0

internal import Testing
internal import TidemarkTestSupport

@testable internal import TidemarkPostgres

@Suite struct PipelineTests {
    typealias Machine = Pipeline<Int, String>

    /// The outcomes of feeding events, one line each.
    private func feed(_ machine: inout Machine, _ events: [Machine.Event]) -> [String] {
        events.compactMap { event in
            switch machine.receive(event) {
            case .proceed: nil
            case .violation: "violation"
            case .finished(let waiter, .success(let rows)): "\(waiter) \(rows)"
            case .finished(let waiter, .failure(let error)):
                "\(waiter) \(error.code) at \(error.statementIndex.map(String.init) ?? "-")"
            }
        }
    }

    private func machine(_ batches: (String, Int)...) -> Machine {
        var machine = Machine()
        for (name, count) in batches {
            machine.addBatch(count: count, deadline: .seconds(1), commit: CommitRisk(), waiter: name)
        }
        return machine
    }

    private let failure = Machine.Event.failed(PostgresError(.statement(.uniqueViolation)))

    @Test func `batches are answered in order, each at its sync`() {
        var pipeline = machine(("a", 2), ("b", 1))
        let told = feed(&pipeline, [.rows(1), .end, .rows(2), .end, .sync, .rows(3), .end, .sync])
        #expect(told == ["a [1, 2]", "b [3]"])
        #expect(pipeline.isEmpty)
    }

    @Test func `superfluous ends are harmless`() {
        var pipeline = machine(("a", 1), ("b", 1))
        #expect(
            feed(&pipeline, [.end, .rows(1), .end, .end, .sync, .end, .end, .rows(2), .end, .sync, .end]).count == 2)
    }

    @Test func `the first failure fails its batch and no other`() {
        var pipeline = machine(("a", 3), ("b", 1))
        let told = feed(
            &pipeline,
            [.rows(1), .end, failure, .end, .aborted, .end, .sync, .rows(2), .end, .sync])
        #expect(told == ["a statement(23505) at 1", "b [2]"])
    }

    @Test func `what cannot be is a violation`() {
        let histories: [[Machine.Event]] = [
            [.sync], [.rows(1), .sync], [.rows(1), .rows(2)], [.aborted], [.rows(1), .end, .rows(2)],
        ]
        for history in histories {
            var pipeline = machine(("a", 1))
            #expect(feed(&pipeline, history).last == "violation")
        }
    }

    @Test func `a result for nobody is a violation`() {
        var pipeline = machine()
        #expect(feed(&pipeline, [.rows(1)]) == ["violation"])
        #expect(feed(&pipeline, [.end]) == [])
    }

    @Test func `a statement is prepared once, and again if that failed`() {
        var pipeline = machine()
        #expect([pipeline.mustPrepare(3), pipeline.mustPrepare(3)] == [true, false])
        pipeline.addPreparation(3, deadline: .seconds(1))
        pipeline.addBatch(count: 1, deadline: .seconds(1), commit: CommitRisk(), waiter: "a")
        let cause = PostgresError(.statement(.undefinedTable))
        let missing = PostgresError(.statement(.undefinedStatement))
        let told = feed(&pipeline, [.failed(cause), .end, .sync, .failed(missing), .end, .sync])
        #expect(told == ["a statement(42P01) at 0"])
        #expect(pipeline.mustPrepare(3) == true)
    }

    @Test func `a statement takes the place of another, and the place is free if it cannot be prepared`() {
        var pipeline = machine()
        let steps = [(1, "a"), (1, "a"), (2, "b"), (3, "a"), (1, "a"), (2, "b")]
        let told = steps.map { pipeline.preparation(of: $0.0, inPlace: $0.1) }
        #expect(told == [.prepare, .none, .prepare, .replace, .replace, .none])
        pipeline.addDeallocation(deadline: .seconds(1))
        pipeline.addPreparation(inPlace: "a", deadline: .seconds(1))
        pipeline.addBatch(count: 1, deadline: .seconds(1), commit: CommitRisk(), waiter: "w")
        let cause = PostgresError(.statement(.undefinedTable))
        let missing = PostgresError(.statement(.undefinedStatement))
        #expect(
            feed(&pipeline, [.rows(0), .end, .sync, .failed(cause), .end, .sync, .failed(missing), .end, .sync])
                == ["w statement(42P01) at 0"])
        #expect(pipeline.preparation(of: 1, inPlace: "a") == .prepare)
        #expect(pipeline.preparation(of: 2, inPlace: "b") == .none)
    }

    @Test func `after a loss everyone hears of it, and who may have committed knows that`() {
        var pipeline = machine(("a", 1))
        pipeline.addPreparation(0, deadline: .seconds(1))
        let commit = CommitRisk(mayCommit: true, commitIndex: 1)
        pipeline.addBatch(count: 2, deadline: .seconds(1), commit: commit, waiter: "b")
        pipeline.addBatch(count: 2, deadline: .seconds(1), commit: commit, waiter: "c")
        let told = feed(&pipeline, [.rows(1), .end, .sync, .rows(0), .end, .sync])
        #expect(told == ["a [1]"])
        _ = pipeline.mustPrepare(0)
        #expect(feed(&pipeline, [failure, .end]) == [])
        let lost = pipeline.lose(PostgresError(.connectionLost))
        #expect(lost.map { "\($0.0) \($0.1.isCommitOutcomeUnknown)" } == ["b false", "c true"])
        #expect(pipeline.isEmpty)
    }

    @Test func `R-763: who is late is told once, and what still comes for it is dropped`() {
        var pipeline = Machine()
        let commit = CommitRisk(mayCommit: true, commitIndex: nil)
        for (name, deadline) in [("a", 5), ("b", 2), ("c", 9)] {
            pipeline.addBatch(count: 1, deadline: .seconds(deadline), commit: commit, waiter: name)
        }
        #expect(pipeline.nextLateness == .seconds(2))
        #expect(pipeline.giveUp(at: .seconds(1)).isEmpty)
        #expect(pipeline.giveUp(at: .seconds(2)).map { "\($0.waiter) \($0.isCommitOutcomeUnknown)" } == ["b true"])
        #expect(pipeline.nextLateness == .seconds(5))
        #expect(feed(&pipeline, [failure, .end]) == [])
        // Its transaction has failed, so that nothing is in doubt.
        #expect(pipeline.giveUp(at: .seconds(5)).map { "\($0.waiter) \($0.isCommitOutcomeUnknown)" } == ["a false"])
        #expect(feed(&pipeline, [.sync, .rows(2), .end, .sync, .rows(3), .end]) == [])
        #expect(pipeline.giveUp(at: .seconds(5)).isEmpty && pipeline.nextLateness == .seconds(9))
        #expect(feed(&pipeline, [.sync]) == ["c [3]"])
        #expect(pipeline.isEmpty && pipeline.nextLateness == nil)
    }

    @Test func `R-763: whoever was given up is not told of a loss, and its error explains no other's`() {
        var pipeline = Machine()
        _ = pipeline.mustPrepare(0)
        pipeline.addPreparation(0, deadline: .seconds(1))
        pipeline.addBatch(count: 1, deadline: .seconds(1), commit: CommitRisk(), waiter: "late")
        pipeline.addBatch(count: 1, deadline: .seconds(9), commit: CommitRisk(), waiter: "b")
        pipeline.addBatch(count: 1, deadline: .seconds(9), commit: CommitRisk(), waiter: "c")
        #expect(pipeline.giveUp(at: .seconds(1)).map(\.waiter) == ["late"])
        let absent = Machine.Event.failed(PostgresError(.statement(.undefinedStatement)))
        // The preparation failed, and with it the late batch. The next one fails by itself.
        let told = feed(&pipeline, [failure, .end, .sync, absent, .end, .sync, absent, .end, .sync])
        #expect(told == ["b statement(26000) at 0"])
        #expect(pipeline.lose(PostgresError(.connectionLost)).map(\.0) == ["c"])
    }

    @Test func `a batch's effect on the transaction is told by its statements`() {
        let write = Sample.insert(.int8(1))
        let cases: [(Bool, [BoundStatement], after: Bool, afterFailure: Bool, mayCommit: Bool)] = [
            (false, [Sample.one()], false, false, false),
            (false, [write], false, false, true),
            (false, [.begin, write], true, true, false),
            (true, [write], true, true, false),
            (true, [write, .commit], false, true, true),
            (false, [.begin, write, .commit], false, true, true),
            (true, [.rollback], false, true, false),
            (true, [Statement(.read, "r", "rollback to savepoint s")()], true, true, false),
        ]
        for (before, batch, after, afterFailure, mayCommit) in cases {
            let plan = BatchPlan(batch, isInTransaction: before)
            #expect(plan.isInTransactionAfter == after)
            #expect(plan.mayBeInTransactionAfterFailure == afterFailure)
            #expect(plan.commit.mayCommit == mayCommit)
        }
    }
}
