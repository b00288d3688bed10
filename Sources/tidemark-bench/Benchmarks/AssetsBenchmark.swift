// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkKit
internal import TidemarkTLS

/// Uploads and downloads one large asset with the library. The server stores it: both sides hash it, and it is written
/// before it is acknowledged. The reference is what a bare pair of OpenSSL sockets moves, which stores nothing. So the
/// files are in memory, or else the disk would be measured, and in memory that the machine already has
/// (``HeldMemory``). It also measures how much the memory of both sides grows meanwhile.
enum AssetsBenchmark: Benchmark {
    static let name = "assets"
    private static let zone = CKRecordZone.ID(zoneName: "assets")
    private static let mebibyte = 1_048_576
    /// MiB by which either side may grow at its peak.
    private static let growthMax = 16.0

    static func run(_ bench: Bench) throws -> [Row] {
        let megabytes = bench.isQuick ? 64 : 1_024
        let server = try TransportProgram.tidemark(bench, core: Bench.serverCore)
        defer { server.stop() }
        let file = try LargeFile(path: "\(bench.filesDirectory)/asset", megabytes: megabytes)
        let url = file.url
        let database = try makeDatabase(bench, server)
        try blocking { try await prepare(database) }
        try Cores.pinThisProcess(to: Bench.clientCore)
        defer { try? Cores.pinThisProcess(to: nil) }
        var (up, down) = (Comparison(), Comparison())
        var (serverGrowth, clientGrowth) = (Comparison(), Comparison())
        for _ in 0..<bench.repetitions {
            try file.change()
            let memories = try [server.id, getpid()].map { try PeakMemory(process: $0) }
            let record = record(url)
            let memory = try HeldMemory(bench, megabytes: megabytes)
            try HeldMemory.touch(url.path)
            let uploading = try memory.replaced(on: Bench.serverCore) {
                try blocking { try await upload(record, database) }
            }
            let downloading = try HeldMemory(bench, megabytes: megabytes).replaced(on: Bench.clientCore) {
                try blocking { try await download(record, database) }
            }
            up.values.append(Double(megabytes) / uploading)
            down.values.append(Double(megabytes) / downloading)
            serverGrowth.values.append(try memories[0].growth())
            clientGrowth.values.append(try memories[1].growth())
            let bare = try bareSockets(bench, megabytes)
            up.references.append(bare)
            down.references.append(bare)
            serverGrowth.references.append(growthMax)
            clientGrowth.references.append(growthMax)
        }
        return [
            Row("asset-up", unit: "MiB per second", up, goal: .atLeast(0.5)),
            Row("asset-down", unit: "MiB per second", down, goal: .atLeast(0.5)),
            Row("asset-server-memory", unit: "MiB more at the peak", serverGrowth, goal: .atMost(1)),
            Row("asset-client-memory", unit: "MiB more at the peak", clientGrowth, goal: .atMost(1)),
        ]
    }

    private static func makeDatabase(_ bench: Bench, _ server: TransportProgram) throws -> CKDatabase {
        var configuration = TidemarkConfiguration(
            url: URL(string: "wss://127.0.0.1:\(server.port)"), token: try bench.database().makeCredential(),
            defaultContainerIdentifier: BenchDatabase.container)
        configuration.certificateAuthorityFile = bench.certificates.authorityFile
        configuration.assetDirectory = URL(fileURLWithPath: "\(bench.filesDirectory)/staging")
        return CKContainer(
            context: CloudContext(containerIdentifier: BenchDatabase.container, configuration: configuration)
        ).privateCloudDatabase
    }

    /// The zone, and a small asset both ways, so that one-time work is done before.
    private static func prepare(_ database: CKDatabase) async throws {
        try await database.save(CKRecordZone(zoneID: zone))
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("tidemark-bench-\(UUID().uuidString)")
        try Data(count: 4 * mebibyte).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        let record = record(url)
        _ = try await upload(record, database)
        _ = try await download(record, database)
    }

    private static func record(_ url: URL) -> CKRecord {
        let record = CKRecord(recordType: "File", recordID: CKRecord.ID(recordName: UUID().uuidString, zoneID: zone))
        record["file"] = CKAsset(fileURL: url)
        return record
    }

    /// In seconds.
    private static func upload(_ record: CKRecord, _ database: CKDatabase) async throws -> Double {
        let start = ContinuousClock.now
        try await database.save(record)
        return (ContinuousClock.now - start) / .seconds(1)
    }

    /// In seconds.
    private static func download(_ record: CKRecord, _ database: CKDatabase) async throws -> Double {
        let start = ContinuousClock.now
        let fetched = try await database.record(for: record.recordID)
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        guard let file = (fetched["file"] as? CKAsset)?.fileURL else { throw BenchError("No file came.") }
        try FileManager.default.removeItem(at: file)
        return seconds
    }

    private static func bareSockets(_ bench: Bench, _ megabytes: Int) throws -> Double {
        try Yardstick.run(
            bench,
            [
                "stream", "--certificate", bench.certificates.certificateFile, "--private-key",
                bench.certificates.privateKeyFile, "--megabytes", "\(megabytes)", "--receiver-core",
                "\(Bench.serverCore)", "--sender-core", "\(Bench.clientCore)",
            ], core: nil
        ).value("bytes_per_second") / Double(mebibyte)
    }
}

/// A file with different content each time, so that nobody has it yet.
private final class LargeFile {
    let url: URL
    private var version: UInt64 = 0

    init(path: String, megabytes: Int) throws {
        url = URL(fileURLWithPath: path)
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = try FileHandle(forWritingTo: url)
        defer { try? file.close() }
        let block = Data((0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        for _ in 0..<megabytes { try file.write(contentsOf: block) }
    }

    func change() throws {
        version += 1
        let file = try FileHandle(forWritingTo: url)
        defer { try? file.close() }
        try file.write(contentsOf: withUnsafeBytes(of: version) { Data($0) })
    }
}
