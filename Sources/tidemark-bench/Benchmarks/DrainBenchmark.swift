// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkTLS

/// The longest time for which one of many devices has no answer, when its server is restarted and sends all of them to another
/// one: from the close to the answer to its next save. The reference is the first answer to a device that comes alone.
enum DrainBenchmark: Benchmark {
    static let name = "drain"
    private static let accountCount = 4

    static func run(_ bench: Bench) throws -> [Row] {
        let secret = "\(bench.directory)/ticket-secret"
        try Data(String(repeating: "tidemark", count: 8).utf8).write(to: URL(fileURLWithPath: secret))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
        // As in a deployment: a device resumes TLS at the other server.
        let options = ["--ticket-secret-file", secret]
        return try [50, 200].map { try row(bench, deviceCount: $0, options) }
    }

    private static func row(_ bench: Bench, deviceCount: Int, _ options: [String]) throws -> Row {
        bench.tell("\(deviceCount) devices")
        var server = try TransportProgram.tidemark(bench, options: options)
        defer { server.stop() }
        let places = try places(bench, server, deviceCount)
        // One context of TLS, which keeps the tickets.
        let target = try target(server, bench)
        let devices = try MovingDevices(target, places)
        defer { devices.stop() }
        let longest = try bench.compare {
            let other = try TransportProgram.tidemark(bench, options: options)
            devices.turn(to: target.at(other.port))
            let old = server
            server = other
            // It returns when the old server has ended.
            old.stop()
            try devices.awaitMoves()
            return (devices.gaps.max() ?? 0) * 1e3
        } with: {
            let alone = try MovingDevices(target.at(server.port), [places[0]])
            defer { alone.stop() }
            return alone.gaps.median * 1e3
        }
        return Row("drain-longest-\(deviceCount)", unit: "ms", longest, goal: .shown)
    }

    /// Zones of their own, which are made here.
    private static func places(
        _ bench: Bench, _ server: TransportProgram, _ count: Int
    ) throws -> [MovingDevices.Place] {
        var places: [MovingDevices.Place] = []
        let accounts = try bench.database().makeAccounts(accountCount)
        for (index, account) in accounts.enumerated() {
            let zones = stride(from: index, to: count, by: accountCount).map { "\(name)-\($0)" }
            let maker = try WireFleet(target(server, bench), credential: account.credential, zones: zones)
            maker.stop()
            places += zones.map {
                MovingDevices.Place(credential: account.credential, zone: MeasuredZone(name: $0))
            }
        }
        return places
    }

    private static func target(_ server: TransportProgram, _ bench: Bench) throws -> WireTarget {
        try WireTarget(port: server.port, authorityFile: bench.certificates.authorityFile)
    }
}
