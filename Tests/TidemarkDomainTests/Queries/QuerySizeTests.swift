// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

/// What of a query is bounded.
@Suite struct QuerySizeTests {
    private let one = QueryPredicate.compare(.field("a"), .equal, .int64(1))

    private func size(_ predicate: QueryPredicate, sorts: Int = 0) -> QuerySize {
        let sorts = (0..<sorts).map { QuerySort(.field("s\($0)")) }
        return Query(recordType: "T", zoneName: nil, predicate: predicate, sorts: sorts).size
    }

    private func expected(_ depth: Int, _ nodeCount: Int, _ byteCount: Int, sorts: Int = 0) -> QuerySize {
        var size = QuerySize()
        (size.depth, size.nodeCount, size.byteCount, size.sortCount) = (depth, nodeCount, byteCount, sorts)
        return size
    }

    @Test func `conditions and their constants count, and texts by their bytes`() {
        #expect(size(.always(true)) == expected(1, 1, 0))
        #expect(size(one, sorts: 3) == expected(1, 2, 8, sorts: 3))
        #expect(size(.between(.field("a"), .int64(1), .string("äb"))) == expected(1, 3, 11))
        #expect(size(.isIn(.field("a"), [.string("x"), .string("yz")])) == expected(1, 3, 3))
        #expect(size(.containsAny(.field("a"), [])) == expected(1, 1, 0))
        #expect(size(.beginsWith(.field("a"), "abc")) == expected(1, 2, 3))
        #expect(size(.search("two words")) == expected(1, 1, 9))
    }

    @Test func `conditions within others are deeper, and a very deep one needs no stack`() {
        #expect(size(.and([one, .not(one), .and([])])) == expected(3, 7, 16))
        var deep = one
        for _ in 0..<1_000 { deep = .not(deep) }
        #expect(size(deep) == expected(1_001, 1_002, 8))
    }

    @Test func `what is too large is told with the bound and the number`() {
        let limits = Limits()
        let cases: [(WritableKeyPath<QuerySize, Int>, Int, String)] = [
            (\.sortCount, limits.sortsMax, "sort descriptors"), (\.depth, limits.predicateDepthMax, "levels"),
            (\.nodeCount, limits.predicateNodesMax, "conditions and constants"),
            (\.byteCount, limits.predicateBytesMax, "bytes of strings"),
        ]
        for (number, most, unit) in cases {
            var size = QuerySize()
            size[keyPath: number] = most
            #expect(size.refusal(within: limits) == nil)
            size[keyPath: number] = most + 1
            let refusal = size.refusal(within: limits)
            #expect(refusal?.reason == .queryTooLarge)
            #expect(refusal?.text.contains("\(most) \(unit)") == true, "\(refusal?.text ?? "")")
            #expect(refusal?.text.contains("this has \(most + 1)") == true)
        }
    }
}
