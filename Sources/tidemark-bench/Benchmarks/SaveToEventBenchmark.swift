// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkKit
internal import TidemarkTLS

/// From a change on one device to the event on another, both with idle engines with automatic sync. The reference is
/// the time of one durable save in the same run.
enum SaveToEventBenchmark: Benchmark {
    static let name = "save-to-event"
    private static let zone = CKRecordZone.ID(zoneName: "notes")
    /// An engine that has just sent something collects further changes for 100 ms. After that it is idle.
    private static let pause = Duration.milliseconds(150)
    private static let patience = Duration.seconds(30)

    static func run(_ bench: Bench) throws -> [Row] {
        let stage = try SavingStage(bench, deviceCount: 1, zoneCount: 1)
        defer { stage.stop() }
        let credential = try bench.database().makeCredential()
        var configuration = TidemarkConfiguration(
            url: URL(string: "wss://127.0.0.1:\(stage.port)"), token: credential,
            defaultContainerIdentifier: BenchDatabase.container)
        configuration.certificateAuthorityFile = bench.certificates.authorityFile
        TidemarkConfiguration.current = configuration

        let sampleCount = bench.isQuick ? 20 : bench.seconds * 30
        let (writer, reader) = try blocking { try await start() }
        var medians = Comparison()
        var tails = Comparison()
        for _ in 0..<bench.repetitions {
            let save = try stage.run(bench, inFlight: 1, recordsPerRequest: 1).durations.median * 1e3
            let times = try blocking { try await measure(sampleCount, from: writer, to: reader, in: zone) }
            medians.values.append(times.quantile(0.5))
            tails.values.append(times.quantile(0.99))
            medians.references.append(save)
            tails.references.append(save)
        }
        withExtendedLifetime((writer, reader)) {}
        return [
            Row("save-to-event-p50", unit: "ms", medians, goal: .atMost(5)),
            Row("save-to-event-p99", unit: "ms", tails, goal: .atMost(20)),
        ]
    }

    /// Two devices. When this returns, a save of the first has reached the second once.
    private static func start() async throws -> (Device, Device) {
        let database = CKContainer.default().privateCloudDatabase
        _ = try await database.save(CKRecordZone(zoneID: zone))
        let (writer, reader) = (Device(database), Device(database))
        _ = try await measure(3, from: writer, to: reader, in: zone)
        return (writer, reader)
    }

    /// In milliseconds.
    ///
    /// - Parameters:
    ///   - zone: as the writer names it.
    ///   - furtherPause: up to which the pause before a change is longer, by chance.
    static func measure(
        _ count: Int, from writer: Device, to reader: Device, in zone: CKRecordZone.ID, furtherPause: Duration = .zero
    ) async throws -> [Double] {
        // One for all, so that nothing else is set up between a save and its event.
        let timeout = Task {
            try await Task.sleep(for: patience + (pause + furtherPause) * (2 * count))
            reader.giveUp()
        }
        defer { timeout.cancel() }
        var times: [Double] = []
        for _ in 0..<count {
            try await Task.sleep(for: pause + furtherPause * Double.random(in: 0...1))
            let name = UUID().uuidString
            let start = ContinuousClock.now
            let end = try await reader.arrival(of: name) {
                writer.save(CKRecord.ID(recordName: name, zoneID: zone))
            }
            times.append((end - start) / .milliseconds(1))
        }
        return times
    }
}
