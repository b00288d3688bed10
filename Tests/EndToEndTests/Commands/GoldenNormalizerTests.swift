// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite struct GoldenNormalizerTests {
    private func usual(_ text: String) -> String { GoldenNormalizer.text(text, directory: "/tmp/run-1") }

    @Test(arguments: [
        ("made 2026-11-29T15:20:11Z.", "made YYYY-MM-DDThh:mm:ssZ."),
        ("\"2026-11-29T15:20:11.042Z\"", "\"YYYY-MM-DDThh:mm:ss.sssZ\""),
        ("2100-01-01T00:00:00Z", "2100-01-01T00:00:00Z"), ("on 2026-11-29", "on 2026-11-29"),
        ("a 127.0.0.1:43817 b", "a 127.0.0.1:PPPPP b"),
        ("192.0.2.7:80", "192.0.2.7:80"), ("in 12.5 ms", "in N ms"), ("12.5 MB, 3 min", "12.5 MB, 3 min"),
        ("Wrote /tmp/run-1/bundle.tar.gz.", "Wrote bundle.tar.gz."), ("/tmp/run-12/a", "/tmp/run-12/a"),
        ("{\"feed\":null,\"a\":7}", "{\"feed\":N,\"a\":7}"), ("{\"feed\":31}", "{\"feed\":N}"),
        ("_0123456789abcdef", "_0123456789abcdef"),
        ("5d1f4e8a9b3c4d2e8f7a6b5c4d3e2f1a", "5d1f4e8a9b3c4d2e8f7a6b5c4d3e2f1a"),
    ])
    func `what varies is covered, and nothing else`(_ text: String, _ expected: String) {
        #expect(usual(text) == expected)
        #expect(usual(expected) == expected, "twice is as good as once")
    }

    @Test(arguments: [
        ("019A2B3C-4D5E-6F70-8192-A3B4C5D6E7F8", GoldenNormalizer.uuid),
        ("019a2b3c-4d5e-6f70-8192-a3b4c5d6e7f8", GoldenNormalizer.uuid),
        ("_0123456789abcdef0123456789abcdef", GoldenNormalizer.user),
        ("tidemark_abcdefghijklmnopqrstuvwxyz-0123456789_ABCDE", GoldenNormalizer.credential),
    ])
    func `a mask in a table is as wide as what it covers`(_ text: String, _ mask: String) {
        #expect(mask.count == text.count)
        #expect(usual("\(text)  next\n") == "\(mask)  next\n")
    }

    @Test func `without numbers the rows of a table are in one order, below the head`() {
        let table = "TABLE    BYTES    ROWS\nrecord   1048576  12\naccount  8192     -\n"
        let other = "TABLE    BYTES  ROWS\naccount  16384  -\nrecord   8192   3.5\n"
        let expected = "TABLE  BYTES  ROWS\naccount  N  -\nrecord  N  N\n"
        for text in [table, other] {
            #expect(GoldenNormalizer.text(text, .numbers, directory: "/tmp/run-1") == expected)
        }
        let lines = "{\"table\":\"b\",\"bytes\":1}\n{\"table\":\"a\",\"bytes\":22}\n"
        #expect(
            GoldenNormalizer.text(lines, .numbers, directory: "/tmp/run-1")
                == "{\"table\":\"a\",\"bytes\":N}\n{\"table\":\"b\",\"bytes\":N}\n")
        #expect(GoldenNormalizer.text("", .numbers, directory: "/tmp/run-1").isEmpty)
        #expect(GoldenNormalizer.text("7 rows", .numbers, directory: "/tmp/run-1") == "N rows")
    }
}
