// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkFields

@testable import TidemarkDomain

@Suite struct RecordTextsTests {
    private static let text = String(repeating: "Old Harbour ", count: 1_000)
    private static let record = QueryEvaluatorTests.record([
        Field("list", .strings((0..<2_000).map { "Element \($0)" })), Field("numbers", .int64s(Array(0..<2_000))),
        Field("text", .string(text)),
    ])

    private static var predicates: [QueryPredicate] {
        (0..<50).flatMap { number -> [QueryPredicate] in
            let (list, text) = (QueryKey.field("list"), QueryKey.field("text"))
            return [
                .search("harbour \(number)"), .compare(text, .equal, .string("\(number)")),
                .compare(text, .less, .string("P\(number)")), .beginsWith(text, number < 25 ? "Old" : "old"),
                .between(text, .string("A"), .string("\(number)")), .isIn(text, [.string("a"), .string(Self.text)]),
                .contains(list, .string("element \(number * 100)")),
                .containsAny(list, (0..<20).map { .string("element \(number * 100 + $0)") }),
                .contains(.field("numbers"), .int64(Int64(number) * 100)),
            ]
        }
    }

    @Test func `R-292: a record's texts are made comparable once, however many predicates compare them`() {
        var texts = RecordTexts()
        for predicate in Self.predicates {
            let evaluator = QueryEvaluator(predicate)
            let alone = evaluator.matches(Self.record, in: "Notes")
            #expect(evaluator.matches(Self.record, in: "Notes", texts: &texts) == alone, "\(predicate)")
        }
        // The text as words, for equality and for order, and the elements: at most four times what is stored.
        let made = texts.madeByteCount
        #expect(made > Self.text.utf8.count && made <= 4 * Self.record.fields.byteCount)
        for predicate in Self.predicates {
            _ = QueryEvaluator(predicate).matches(Self.record, in: "Notes", texts: &texts)
        }
        #expect(texts.madeByteCount == made)
    }

    @Test func `R-292: many conditions on one list read its elements once`() throws {
        let conditions = (0..<400).map { QueryPredicate.not(.contains(.field("list"), .string("none \($0)"))) }
        var texts = RecordTexts()
        #expect(QueryEvaluator(.and(conditions)).matches(Self.record, in: "Notes", texts: &texts))
        #expect(texts.madeByteCount == (try #require(Self.record.fields["list"])).valueByteCount)
    }

    @Test func `R-292: it is known before what would be made, and nothing else is made then`() {
        for predicate in Self.predicates {
            let evaluator = QueryEvaluator(predicate)
            var texts = RecordTexts()
            let wanted = texts.bytesToMake(evaluator.parts, of: Self.record)
            texts.make(evaluator.parts, of: Self.record)
            #expect(wanted > 1_000 && texts.madeByteCount == wanted, "\(predicate)")
            #expect(texts.bytesToMake(evaluator.parts, of: Self.record) == 0)
            _ = evaluator.matches(Self.record, in: "Notes", texts: &texts)
            #expect(texts.madeByteCount == wanted, "\(predicate)")
        }
        let short: [QueryPredicate] = [
            .always(true), .isPresent(.field("text"), true), .compare(.system(.parent), .equal, .string("x")),
        ]
        for predicate in short {
            #expect(RecordTexts().bytesToMake(QueryEvaluator(predicate).parts, of: Self.record) == 0)
        }
    }

    @Test func `R-292: what finds the candidates of a change is made before as well`() {
        let index = QueryIndex([
            watching("text", .compare(.field("text"), .equal, .string("x"))), watching("search", .search("harbour")),
            watching("none", .compare(.field("none"), .equal, .string("x"))),
        ])
        let (old, new) = (QueryIndexTests.record(t: "x"), QueryIndexTests.record(t: Self.text))
        #expect(index.partsLookedUp(from: old, to: new, in: "Notes").isEmpty, "they have no such field")
        let longer = Self.record
        let parts = index.partsLookedUp(from: nil, to: longer, in: "Notes")
        #expect(parts == [.value(.field("text"), .equality)])
        var texts = VersionTexts()
        let wanted = texts.bytesToMake(parts, from: nil, to: longer)
        texts.make(parts, from: nil, to: longer)
        let candidates = Array(index.candidates(from: nil, to: longer, in: "Notes", texts: &texts))
        #expect(candidates.map(\.members.count) == [1] && texts.new.madeByteCount == wanted)
        #expect(candidates.first?.parts == [.words(.unknown)])
    }
}
