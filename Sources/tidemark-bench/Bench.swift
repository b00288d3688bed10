// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkDomain
internal import TidemarkTLS

/// One benchmark: measures Tidemark and its reference in turns.
protocol Benchmark {
    static var name: String { get }

    static func run(_ bench: Bench) throws -> [Row]
}

/// What benchmarks share: how long to measure, a folder, certificates, and the database, once one needs it.
///
/// Only the main thread uses it, and stays for the whole run: what it starts ends with it, however it ends.
final class Bench {
    static var all: [any Benchmark.Type] {
        [
            EchoBenchmark.self, FanOutBenchmark.self, IdleConnectionsBenchmark.self, OneSaveBenchmark.self,
            ManyZonesBenchmark.self, OneZoneBenchmark.self, BatchesBenchmark.self, ChangeFeedBenchmark.self,
            SaveToEventBenchmark.self, EngineBenchmark.self, ReadsBenchmark.self, ZoneSizeBenchmark.self,
            FetchedMemoryBenchmark.self, AssetsBenchmark.self, SharedSaveBenchmark.self, SharedFeedBenchmark.self,
            ViewerFeedBenchmark.self, SharedEventBenchmark.self, SharedStatementsBenchmark.self,
            HierarchiesBenchmark.self, HeldLoopBenchmark.self, SubscriptionsBenchmark.self, BusBenchmark.self,
            PresenceBenchmark.self, DrainBenchmark.self,
        ]
    }

    /// The core of servers; the next one is that of clients.
    static let serverCore = 0
    static let clientCore = 1
    /// The limits of the servers that it starts: those of a server without options.
    static let limits = Limits()

    let repetitions: Int
    /// The seconds of each measurement.
    let seconds: Int
    let isQuick: Bool
    let directory: String
    private let memoryFolder: MemoryFolder
    let certificates: DevelopmentCertificates
    private var startedDatabase: BenchDatabase?

    init(repetitions: Int, seconds: Int, isQuick: Bool) throws {
        self.repetitions = repetitions
        self.seconds = seconds
        self.isQuick = isQuick
        // Short, because the paths of Unix sockets are.
        directory = NSTemporaryDirectory() + "tidemark-bench-\(getpid())"
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        memoryFolder = try MemoryFolder(fallback: directory)
        certificates = try DevelopmentCertificates(
            directory: directory, hosts: ["localhost", "127.0.0.1"], now: Int64(Date().timeIntervalSince1970))
    }

    func tearDown() {
        startedDatabase?.stop()
        memoryFolder.remove()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// For files that must not wait for a disk.
    var filesDirectory: String { memoryFolder.path }

    /// A durable private PostgreSQL with our tables and those of the reference, started on first use.
    func database() throws -> BenchDatabase {
        if let startedDatabase { return startedDatabase }
        let database = try BenchDatabase.start(self)
        startedDatabase = database
        return database
    }

    /// Measures both in turns, and each of them first equally often, so that a drift of the machine affects both.
    ///
    /// - Parameter turns: nil for the number of repetitions.
    func compare(
        turns: Int? = nil, _ value: () throws -> Double, with reference: () throws -> Double
    ) rethrows -> Comparison {
        var comparison = Comparison()
        for repetition in 0..<(turns ?? repetitions) {
            if repetition.isMultiple(of: 2) {
                comparison.values.append(try value())
                comparison.references.append(try reference())
            } else {
                comparison.references.append(try reference())
                comparison.values.append(try value())
            }
        }
        return comparison
    }

    /// Reports progress; standard output has only the results.
    func tell(_ text: String) {
        FileHandle.standardError.write(Data("… \(text)\n".utf8))
    }
}

/// Why a figure is missing.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
