// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation

/// Measures this build beside what the machine can do for the same task, in the same run.
///
/// Machines differ and drift: the ratios mean something, the figures by themselves do not.
@main
struct TidemarkBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark-bench",
        abstract: "Measures Tidemark, each figure beside a reference from the same run.",
        discussion: """
            The references are programs in C that do the least possible work (tidemark-yardstick). Build as \
            `make bench` does, and leave the machine alone while it runs. Two cores are needed: servers run on the \
            first, their clients on the second. docs/performance.md explains each row.

            Benchmarks: \(Bench.all.map { $0.name }.joined(separator: ", ")).
            """)

    @Flag(help: "One line of JSON for each row, instead of a table.")
    var json = false

    @Flag(help: "One short repetition: shows that everything runs, its figures are worth little.")
    var quick = false

    @Option(help: "Only this benchmark; may be repeated.")
    var only: [String] = []

    @Option(help: "Repetitions, of which medians are shown; at least 3 for figures that somebody else should believe.")
    var repetitions = 3

    @Option(help: "Seconds of each measurement.")
    var seconds = 3

    func validate() throws {
        let names = Bench.all.map { $0.name }
        for name in only where !names.contains(name) {
            throw ValidationError("There is no benchmark \(name). There are: \(names.joined(separator: ", ")).")
        }
        guard (1...100).contains(repetitions), (1...60).contains(seconds) else {
            throw ValidationError("--repetitions is 1 to 100, --seconds is 1 to 60.")
        }
    }

    func run() throws {
        let bench = try Bench(repetitions: quick ? 1 : repetitions, seconds: quick ? 1 : seconds, isQuick: quick)
        defer { bench.tearDown() }
        var report = Report(isJSON: json)
        for benchmark in Bench.all where only.isEmpty || only.contains(benchmark.name) {
            bench.tell(benchmark.name)
            for row in try benchmark.run(bench) { report.add(row) }
        }
        report.finish()
    }
}
