// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import tidemark_fuzz

@Suite(.serialized) struct FuzzerTests {
    @Test(arguments: Program.fuzzers.map(\.name))
    func `I-6: no input does harm`(name: String) throws {
        let fuzzer = try #require(Program.fuzzers.first { $0.name == name })
        for seed in [1, UInt64.random(in: 0...UInt64.max)] {
            // Before the run: a trap leaves nothing to say it afterwards.
            print("fuzzer \(name) seed=\(seed)")
            var driver = MutationDriver(fuzzer, seed: seed)
            let result = try driver.run(for: .milliseconds(300))
            #expect(result.executions > fuzzer.seeds().count)
        }
    }

    @Test(arguments: Program.fuzzers.map(\.name))
    func `every seed is accepted, so that mutations begin behind the first check`(name: String) throws {
        let fuzzer = try #require(Program.fuzzers.first { $0.name == name })
        #expect(fuzzer.seeds().count > 1)
        for (index, seed) in fuzzer.seeds().enumerated() {
            #expect(try fuzzer.body(seed), "seed \(index)")
        }
    }

    @Test func `names are different`() {
        #expect(Set(Program.fuzzers.map(\.name)).count == Program.fuzzers.count)
    }

    @Test func `a broken promise is found, and found again with the same seed`() {
        let fuzzer = Fuzzer(name: "planted", seeds: { [[1, 2, 3, 4]] }) { input throws(Finding) in
            try Finding.unless(input.count < 2 || input[0] != 0xFF, "begins with 255")
            return true
        }
        func input() -> [UInt8]? {
            var driver = MutationDriver(fuzzer, seed: 7)
            do {
                _ = try driver.run(for: .seconds(20))
                return nil
            } catch {
                return error.input
            }
        }
        let found = input()
        #expect(found?.first == 0xFF)
        #expect(found == input())
    }

    @Test func `an input that is cut reads as zeros`() {
        var script = FuzzInput(FuzzScript().byte(9).number(0x0102).text("abc").bytes.dropLast())
        #expect(script.byte() == 9)
        #expect(script.number() == 0x0102)
        #expect(script.text() == "ab")
        #expect(script.isAtEnd)
        #expect(script.number() == 0)
        #expect(script.bytes().isEmpty)
    }
}
