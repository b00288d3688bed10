// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import TidemarkTelemetry
import Tracing

@testable import TidemarkTracing

@Suite struct RequestTracesTests {
    /// A tracer, and what it has given away.
    private final class Spans: Sendable {
        private let all = Mutex<[FinishedSpan]>([])

        var taken: [FinishedSpan] { all.withLock { $0 } }

        func tracer(sample: Double = 1) -> OTLPTracer {
            OTLPTracer(TraceSampler(sample: sample, secret: 0)) { span in self.all.withLock { $0.append(span) } }
        }
    }

    private let uuid = RequestUUID(session: 0x0123_4567_89AB_CDEF, number: 7)

    private func request(
        result: String = "ok", isFault: Bool = false, turn: Duration? = .milliseconds(4), _ notes: RequestNotes
    ) -> TracedRequest {
        TracedRequest(
            uuid, kind: "query_records", result: result, isFault: isFault, account: 3, answerByteCount: 9,
            start: .milliseconds(1), turn: turn, end: .milliseconds(20), notes: notes)
    }

    @Test func `R-906: a request is a span that has its UUID for a trace, and its waits are spans below it`() throws {
        let spans = Spans()
        let notes = RequestNotes(isTraced: true)
        notes.waitedForStore(from: .milliseconds(5), to: .milliseconds(6))
        notes.waitedForStore(from: .milliseconds(7), to: .milliseconds(16))
        notes.ran("SELECT a\n  FROM b", for: .milliseconds(8))
        spans.tracer().record(request(notes))
        let taken = spans.taken
        let whole = try #require(taken.last)
        #expect(whole.name == "query_records" && whole.kind == .server && whole.parent == nil)
        #expect(whole.trace == TraceName(high: 0x0123_4567_89AB_8DEF, low: 0x8000_0000_0000_0007))
        #expect(whole.status == .unset && whole.end - whole.start == 19_000_000)
        #expect(
            whole.attributes == [
                "tidemark.request": .text("01234567-89AB-8DEF-8000-000000000007"), "tidemark.result": .text("ok"),
                "tidemark.account": .number(3), "tidemark.answer_bytes": .number(9),
            ])
        let parts = taken.dropLast()
        #expect(parts.map(\.name) == ["waiting", "store", "store", "answer"])
        #expect(parts.allSatisfy { $0.trace == whole.trace && $0.parent == whole.id && $0.kind == .internal })
        #expect(Set(taken.map(\.id)).count == 5)
        #expect(parts.map { $0.start - whole.start } == [0, 4_000_000, 6_000_000, 15_000_000])
        #expect(parts.map { $0.end - whole.start } == [3_000_000, 5_000_000, 15_000_000, 19_000_000])
        // The statement belongs to the longest wait.
        #expect(
            parts.map { $0.attributes["db.query.text"] } == [nil, nil, .text("SELECT a FROM b"), nil])
    }

    @Test func `R-906: without a turn and without the store all is the answer, and a fault of the server is an error`()
        throws
    {
        let spans = Spans()
        spans.tracer().record(
            request(result: "internal_error", isFault: true, turn: nil, RequestNotes(isTraced: true)))
        #expect(spans.taken.map(\.name) == ["answer", "query_records"])
        #expect(spans.taken[0].start == spans.taken[1].start && spans.taken[0].end == spans.taken[1].end)
        #expect(spans.taken[1].status == .error)
        #expect(spans.taken[1].attributes["tidemark.result"] == .text("internal_error"))
    }

    @Test func `R-906: the answer begins after the last wait, also if that is no span of its own`() {
        let notes = RequestNotes(isTraced: true)
        for number in 1...100 {
            notes.waitedForStore(from: .microseconds(4_000 + number * 100), to: .microseconds(4_050 + number * 100))
        }
        let steps = RequestSteps.all(of: request(notes))
        #expect(steps.filter { $0.name == "store" }.count == 32)
        #expect(steps.last == RequestStep(name: "answer", start: .microseconds(14_050), end: .milliseconds(20)))
    }

    @Test func `I-7, R-906: of a long statement only as much is looked at as a span keeps`() throws {
        let notes = RequestNotes(isTraced: true)
        notes.waitedForStore(from: .milliseconds(5), to: .milliseconds(6))
        notes.ran(String(repeating: "a OR\n  ", count: 50_000), for: .milliseconds(1))
        let sql = try #require(RequestSteps.all(of: request(notes)).compactMap(\.sql).first)
        #expect(sql.hasPrefix("a OR a OR a") && sql.hasSuffix(" …") && sql.utf8.count <= 4_100, "\(sql.utf8.count)")
    }

    @Test func `I-7, R-906: the waits of a request are bounded`() {
        let notes = RequestNotes(isTraced: true)
        for number in 0..<100 { notes.waitedForStore(from: .seconds(number), to: .seconds(number + 1)) }
        #expect(notes.storeWaits.count == 32)
        #expect(notes.storeWaits.first == .init(start: .zero, end: .seconds(1)))
    }

    @Test func `R-905: the chosen part of all requests is traced, and clients cannot choose it`() {
        func chosen(_ sample: Double, secret: UInt64) -> Set<UInt64> {
            let sampler = TraceSampler(sample: sample, secret: secret)
            return Set((1...20_000).filter { sampler.samples(TraceName(RequestUUID(session: 5, number: $0))) })
        }
        #expect(chosen(0, secret: 1).isEmpty)
        #expect(chosen(1, secret: 1).count == 20_000)
        let (one, other) = (chosen(0.1, secret: 1), chosen(0.1, secret: 2))
        #expect((1_700...2_300).contains(one.count), "\(one.count)")
        #expect(chosen(0.1, secret: 1) == one, "a request is chosen by its UUID")
        #expect(one.intersection(other).count < 400, "another secret chooses others")
        #expect((1...400).contains(chosen(0.01, secret: 1).count))
    }

    @Test func `R-909: what a library traces for a request is below it, and otherwise a trace of its own`() async throws
    {
        let spans = Spans()
        let tracer = spans.tracer()
        let traced = RequestTrace(uuid, notes: RequestNotes(isTraced: true))
        RequestTrace.$current.withValue(traced) {
            tracer.withSpan("outer") { outer in
                outer.attributes["a"] = 1
                outer.attributes["b"] = true
                outer.attributes["c"] = 0.5
                outer.attributes["d"] = "text"
                tracer.withSpan("inner") { _ in }
            }
        }
        let (inner, outer) = (try #require(spans.taken.first), try #require(spans.taken.last))
        #expect(inner.name == "inner" && inner.parent == outer.id && inner.trace == outer.trace)
        #expect(outer.trace == TraceName(uuid) && outer.parent == uuid.low)
        #expect(outer.attributes == ["a": .number(1), "b": .flag(true), "c": .decimal(0.5), "d": .text("text")])

        let others = Spans()
        // A request that was not chosen.
        RequestTrace.$current.withValue(RequestTrace(uuid)) {
            others.tracer().withSpan("none") { _ in }
        }
        others.tracer(sample: 0).withSpan("none") { _ in }
        #expect(others.taken.isEmpty)
        others.tracer().withSpan("alone", ofKind: .client) { _ in }
        #expect(others.taken.map(\.name) == ["alone"] && others.taken[0].parent == nil)
        #expect(others.taken[0].kind == .client && others.taken[0].trace != TraceName(uuid))
    }

    @Test func `I-7, R-909: a span ends once, and what it says is bounded`() throws {
        struct Failure: Error {}
        let spans = Spans()
        let tracer = spans.tracer()
        #expect(throws: Failure.self) {
            try tracer.withSpan("failed") { span in
                let long = String(repeating: "é", count: 10_000)
                for number in 0..<100 { span.attributes["\(number)\(long)"] = long }
                span.operationName = long
                throw Failure()
            }
        }
        let span = try #require(spans.taken.first)
        #expect(span.status == .error && span.attributes.count == 32 && span.byteCount < 300_000)
        #expect(span.name.utf8.count < 4_200)
        let twice = tracer.startSpan("twice")
        twice.end()
        twice.end()
        #expect(spans.taken.count == 2)
    }
}
