// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkTLS

/// A hundred accounts have a zone open, and each publishes its state ten times a second, which is as often as it may. How many
/// states the server takes for each second of its processor, and how long one takes to the others.
enum PresenceBenchmark: Benchmark {
    static let name = "presence"
    private static let memberCount = 100

    static func run(_ bench: Bench) throws -> [Row] {
        let accounts = try bench.database().makeAccounts(memberCount)
        let server = try TransportProgram.tidemark(bench, core: Bench.serverCore)
        defer { server.stop() }
        let target = try WireTarget(port: server.port, authorityFile: bench.certificates.authorityFile)
        let maker = try WireFleet(target, credential: accounts[0].credential, zones: [name])
        maker.stop()
        try bench.database().share(name, of: accounts[0], with: Array(accounts.dropFirst()))
        try Cores.pinThisProcess(to: Bench.clientCore)
        defer { try? Cores.pinThisProcess(to: nil) }
        let people = accounts.map { account in
            PresentDevices.Person(
                credential: account.credential,
                zone: MeasuredZone(
                    name: name, owner: account.recordName == accounts[0].recordName ? "" : accounts[0].recordName))
        }
        let echo = try TransportProgram.reference(bench)
        defer { echo.stop() }
        let processor = ProcessorTime(process: server.id)
        var deliveries: [Double] = []
        let updates = try bench.compare {
            let devices = try PresentDevices(target, people)
            defer { devices.stop() }
            // The first second is that of all who have just come.
            _ = try devices.measure(seconds: 1)
            let before = try processor.seconds()
            let outcome = try devices.measure(seconds: bench.seconds)
            let spent = try processor.seconds() - before
            guard spent > 0, !outcome.deliveries.isEmpty else { throw BenchError("Nothing was published.") }
            deliveries += outcome.deliveries
            return Double(outcome.updateCount) / spent
        } with: {
            try Yardstick.load(
                bench, "echo", on: echo,
                [
                    "--connections", "\(memberCount)", "--bytes", "\(PresentDevices.stateByteCount)", "--window", "1",
                    "--seconds", "\(bench.seconds)",
                ]
            ).value("messages_per_server_second")
        }
        let pace = PresenceBounds().pace / .milliseconds(1)
        func row(_ name: String, _ fraction: Double, _ goal: Row.Goal) -> Row {
            let value = deliveries.quantile(fraction) * 1e3
            return Row(
                "presence-delivery-\(name)", unit: "ms", Comparison(values: [value], references: [pace]), goal: goal)
        }
        return [
            Row("presence-updates", unit: "updates per CPU second", updates, goal: .shown),
            row("p50", 0.5, .atMost(1)), row("p99", 0.99, .atMost(2)),
        ]
    }
}
