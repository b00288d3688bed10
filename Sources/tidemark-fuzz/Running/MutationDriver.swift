// SPDX-License-Identifier: Apache-2.0

/// Runs a fuzzer on mutated seeds. It does not see which code an input reaches, as libFuzzer does, but needs nothing
/// beyond this package. It is for every run of the tests and for machines without libFuzzer.
struct MutationDriver {
    /// An input that breaks a promise.
    struct Failure: Error, CustomStringConvertible {
        let fuzzer: String
        let seed: UInt64
        let input: [UInt8]
        let finding: Finding

        var description: String {
            "\(fuzzer): \(finding) seed=\(seed) input=[\(input.map(String.init).joined(separator: ", "))]"
        }
    }

    private static let inputBytesMax = 4096
    private static let poolCountMax = 512

    let fuzzer: Fuzzer
    let seed: UInt64
    private var random: FuzzRandom
    private var pool: [[UInt8]]

    init(_ fuzzer: Fuzzer, seed: UInt64) {
        self.fuzzer = fuzzer
        self.seed = seed
        random = FuzzRandom(seed: seed)
        pool = fuzzer.seeds()
        if pool.isEmpty { pool = [[]] }
    }

    /// Tries the seeds, then mutations of them until the time is over.
    ///
    /// - Returns: how many inputs were tried, and how many of them were accepted as valid.
    mutating func run(for duration: Duration) throws(Failure) -> (executions: Int, accepted: Int) {
        let end = ContinuousClock.now + duration
        var executions = 0
        var accepted = 0
        for input in pool {
            if try attempt(input) { accepted += 1 }
            executions += 1
        }
        while executions & 15 != 0 || ContinuousClock.now < end {
            let input = mutated(pool[random.next(below: pool.count)])
            executions += 1
            guard try attempt(input) else { continue }
            accepted += 1
            // What is still valid is worth going on from.
            if pool.count < Self.poolCountMax {
                pool.append(input)
            } else {
                pool[random.next(below: pool.count)] = input
            }
        }
        return (executions, accepted)
    }

    private func attempt(_ input: [UInt8]) throws(Failure) -> Bool {
        do throws(Finding) {
            return try fuzzer.body(input)
        } catch {
            throw Failure(fuzzer: fuzzer.name, seed: seed, input: input, finding: error)
        }
    }

    private mutating func mutated(_ original: [UInt8]) -> [UInt8] {
        var input = original
        for _ in 0...random.next(below: 4) { mutate(&input) }
        if input.count > Self.inputBytesMax { input.removeLast(input.count - Self.inputBytesMax) }
        return input
    }

    private mutating func mutate(_ input: inout [UInt8]) {
        let kind = random.next(below: 8)
        let position = random.next(below: input.count + 1)
        let count = min(input.count - position, 1 + random.next(below: 16))
        switch kind {
        case 0 where position < input.count: input[position] ^= 1 << UInt8(random.next(below: 8))
        case 1 where position < input.count: input[position] = UInt8(truncatingIfNeeded: random.next())
        case 2 where position < input.count:
            let edges: [UInt8] = [0, 1, 0x0A, 0x0D, 0x20, 0x7D, 0x7E, 0x7F, 0x80, 0xC0, 0xFE, 0xFF]
            input[position] = edges[random.next(below: edges.count)]
        case 3: input.removeSubrange(position..<position + count)
        case 4: input.insert(contentsOf: input[position..<position + count], at: position)
        case 5: input.removeLast(input.count - position)
        case 6:
            let other = pool[random.next(below: pool.count)]
            input = input[..<position] + other.suffix(random.next(below: other.count + 1))
        default: input.insert(UInt8(truncatingIfNeeded: random.next()), at: position)
        }
    }
}
