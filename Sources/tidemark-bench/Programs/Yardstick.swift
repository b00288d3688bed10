// SPDX-License-Identifier: Apache-2.0

internal import TidemarkStore

/// Runs `tidemark-yardstick` to its end: the load for servers, and the references on libpq.
enum Yardstick {
    static let program = "tidemark-yardstick"

    /// Its output of the form `name=value`.
    static func run(_ bench: Bench, _ arguments: [String], core: Int?) throws -> [String: Double] {
        let output = try ChildProgram.output(program, arguments, core: core, in: bench.directory)
        var values: [String: Double] = [:]
        for line in output.split(separator: "\n") {
            let parts = line.split(separator: "=")
            guard parts.count == 2, let value = Double(parts[1]) else { throw BenchError("\(program) said: \(line)") }
            values[String(parts[0])] = value
        }
        return values
    }

    /// Generates load against a server, on the clients' core.
    static func load(
        _ bench: Bench, _ mode: String, on server: TransportProgram, _ arguments: [String]
    ) throws -> [String: Double] {
        try run(
            bench, ["load", mode, "--port", "\(server.port)", "--server", "\(server.id)"] + arguments,
            core: Bench.clientCore)
    }

    /// Runs our statements on our tables, each with the parameters of one of the samples.
    static func statement(
        _ bench: Bench, _ samples: [PostgresStorage.SentStatement], connections: Int
    ) throws -> [String: Double] {
        let file = "\(bench.directory)/statement"
        try StatementFile.write(samples, to: file)
        return try run(
            bench,
            [
                "statement", "--database", try bench.database().url, "--file", file, "--connections", "\(connections)",
                "--seconds", "\(bench.seconds)",
            ], core: nil)
    }

    /// Runs transactions on the reference's tables.
    static func transactions(
        _ bench: Bench, _ mode: String, _ arguments: [String], seconds: Int? = nil, core: Int? = nil
    ) throws -> [String: Double] {
        let database = try bench.database()
        try database.prepareReference(bench)
        return try run(
            bench,
            [
                "transactions", mode, "--database", database.referenceURL, "--seconds", "\(seconds ?? bench.seconds)",
            ] + arguments, core: core)
    }
}

extension [String: Double] {
    /// A value that must exist.
    func value(_ name: String) throws -> Double {
        guard let value = self[name] else { throw BenchError("\(Yardstick.program) did not print \(name)") }
        return value
    }
}
