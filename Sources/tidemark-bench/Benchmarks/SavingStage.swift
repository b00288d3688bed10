// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTLS

/// A server with devices that save.
final class SavingStage {
    private let server: TransportProgram
    private let fleet: WireFleet

    /// Device `n` saves in zone `n % zoneCount`, all of a new account.
    init(_ bench: Bench, deviceCount: Int, zoneCount: Int) throws {
        let credential = try bench.database().makeCredential()
        let server = try TransportProgram.tidemark(bench)
        do {
            let zones = (0..<deviceCount).map { "zone-\($0 % zoneCount)" }
            fleet = try WireFleet(
                WireTarget(port: server.port, authorityFile: bench.certificates.authorityFile), credential: credential,
                zones: zones)
            self.server = server
        } catch {
            server.stop()
            throw error
        }
    }

    var port: UInt16 { server.port }

    func stop() {
        fleet.stop()
        server.stop()
    }

    struct Result {
        var recordsPerSecond: Double
        var durations: [Double]
    }

    func run(_ bench: Bench, inFlight: Int, recordsPerRequest: Int, seconds: Int? = nil) throws -> Result {
        let records = RecordSupply()
        let outcome = try fleet.run(seconds: seconds ?? bench.seconds, inFlight: inFlight) { device in
            .saves(records.next(recordsPerRequest), in: device.zone)
        }
        return Result(
            recordsPerSecond: Double(outcome.answerCount * recordsPerRequest) / outcome.seconds,
            durations: outcome.durations)
    }
}
