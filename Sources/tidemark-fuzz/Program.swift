// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// `tidemark-fuzz` lists the fuzzers. `tidemark-fuzz NAME` runs one. If it was built with libFuzzer, that runs it with
/// its own options (`run` in this folder does both). Otherwise it runs for `--seconds S` (10) from `--seed N` (a new
/// one) on mutated seeds. `tidemark-fuzz seeds NAME DIRECTORY` writes a fuzzer's seeds as files.
@main
enum Program {
    /// All fuzzers, from the first byte of a socket to the input of the rules.
    static let fuzzers: [Fuzzer] = [
        .requestHead, .responseHead, .httpRequests, .httpResponses, .cookies, .handshake, .frames, .inflate, .utf8,
        .json,
        .envelope,
        .serverEnvelope, .zonePage,
        .fieldMap, .fieldMerge, .changeToken, .changeTag, .requestMemory, .outcomes,
    ]

    static func main() {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard let first = arguments.first else {
            for fuzzer in fuzzers { print(fuzzer.name) }
            return
        }
        if first == "seeds", arguments.count == 3 {
            exit(writeSeeds(of: fuzzer(arguments[1]), to: arguments[2]) ? 0 : 1)
        }
        exit(run(fuzzer(first), Array(arguments.dropFirst())))
    }

    private static func fuzzer(_ name: String) -> Fuzzer {
        guard let fuzzer = fuzzers.first(where: { $0.name == name }) else {
            print("There is no fuzzer \(name).")
            exit(2)
        }
        return fuzzer
    }

    #if TIDEMARK_LIBFUZZER
        private static func run(_ fuzzer: Fuzzer, _ options: [String]) -> CInt {
            LibFuzzer.run(fuzzer)
        }
    #else
        private static func run(_ fuzzer: Fuzzer, _ options: [String]) -> CInt {
            func option(_ name: String) -> UInt64? {
                options.firstIndex(of: name).flatMap { $0 + 1 < options.count ? UInt64(options[$0 + 1]) : nil }
            }
            let seed = option("--seed") ?? UInt64.random(in: 0...UInt64.max)
            print("\(fuzzer.name) seed=\(seed)")
            var driver = MutationDriver(fuzzer, seed: seed)
            do {
                let result = try driver.run(for: .seconds(Int64(clamping: option("--seconds") ?? 10)))
                print("\(fuzzer.name) executions=\(result.executions) accepted=\(result.accepted)")
                return 0
            } catch {
                print(error)
                return 1
            }
        }
    #endif

    private static func writeSeeds(of fuzzer: Fuzzer, to directory: String) -> Bool {
        for (index, seed) in fuzzer.seeds().enumerated() {
            guard let file = fopen("\(directory)/seed-\(index)", "w") else { return false }
            let written = fwrite(seed, 1, seed.count, file)
            guard fclose(file) == 0, written == seed.count else { return false }
        }
        return true
    }
}
