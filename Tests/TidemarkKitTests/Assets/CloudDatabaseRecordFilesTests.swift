// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkCrypto
import TidemarkFields
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// Files of fetched records, from a server that refuses what a test says.
@Suite struct CloudDatabaseRecordFilesTests {
    private static let contents: [[UInt8]] = (0..<6).map { number in
        (0..<1_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number) }
    }

    private let scheduler = ManualScheduler()
    private let server: ScriptedServer
    private let directory: TestDirectory
    private let container: CKContainer
    /// Hashes of contents that the server refuses, and why.
    private let refusals = Locked<[[UInt8]: WireErrorCode]>([:])

    init() throws {
        directory = try TestDirectory()
        server = ScriptedServer(scheduler)
        container = CKContainer(
            context: CloudContext(
                containerIdentifier: "iCloud.test.\(UUID().uuidString)", token: "alice", transport: server,
                scheduler: scheduler, staging: AssetStaging(directory: URL(fileURLWithPath: directory.path))))
        server.answer { [refusals] envelope in
            guard case .fetchAssetChunk(let request) = envelope.request else { return nil }
            if let code = refusals.withLock({ $0[request.sha256] }) { return Self.failure(code) }
            guard let content = Self.contents.first(where: { ContentHash.of($0) == request.sha256 }) else { return nil }
            var part = WireAssetChunk()
            part.content = content[Int(request.offset)..<Int(request.offset) + Int(request.length)]
            return .fetchAssetChunk(part)
        }
    }

    private static func failure(_ code: WireErrorCode) -> WireServerEnvelope.OneOfAnswer {
        var failure = WireFailure()
        failure.code = code
        return .failure(failure)
    }

    /// From now on the server refuses this content, or nothing.
    private func refuse(_ content: [UInt8]?, _ code: WireErrorCode = .serviceUnavailable) {
        refusals.withLock { $0 = content.map { [ContentHash.of($0): code] } ?? [:] }
    }

    /// A record with these contents, one in each field.
    private static func record(_ name: String, _ contents: [[UInt8]]) throws -> WireRecord {
        var record = WireRecord()
        (record.name, record.type, record.tag) = (name, "File", [1])
        record.fields = try FieldMap(
            contents.enumerated().map { number, content in
                Field(
                    "file\(number)",
                    .asset(FieldAsset(sha256: ContentHash.of(content), byteCount: Int64(content.count))))
            }
        ).bytes
        return record
    }

    private typealias Results = [(id: CKRecord.ID, result: Result<CKRecord, CKError>)]

    /// Fetches the files of records, each with these contents.
    private func fetch(
        _ contents: [[[UInt8]]], _ missing: CloudDatabase.MissingAssets
    ) async throws -> [Result<CKRecord, CKError>] {
        let zoneID = CKRecordZone.ID(zoneName: "Files")
        let results: Results = try contents.enumerated().map { number, contents in
            let id = CKRecord.ID(recordName: "\(number)", zoneID: zoneID)
            return (id, try CKRecord.make(Self.record(id.recordName, contents), in: zoneID))
        }
        let cloud = try container.privateCloudDatabase.cloud
        return try await whileServing { try await cloud.withFiles(results, missing: missing).map(\.result) }
    }

    /// Lets the server answer, and time pass, until the work is done.
    private func whileServing<Value: Sendable>(
        passing time: Duration = .zero, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let isDone = Locked(false)
        let task = Task {
            defer { isDone.withLock { $0 = true } }
            return try await work()
        }
        try await eventually {
            scheduler.advance(by: time)
            return isDone.withLock { $0 }
        }
        return try await task.value
    }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory.path)) ?? [] }

    /// Of contents that are in the directory under a name which a download looks for.
    private var staged: Set<[UInt8]> {
        let parts = Self.contents.map { (ContentHash.of($0), $0) }.filter { hash, content in
            let name = "\(hash.map { String(format: "%02x", $0) }.joined()).\(content.count).part"
            return FileManager.default.contents(atPath: "\(directory.path)/\(name)") == Data(content)
        }
        return Set(parts.map(\.0))
    }

    /// Whose bytes were asked for since there were so many requests.
    private func requested(since count: Int) -> Set<[UInt8]> {
        Set(
            server.envelopes.dropFirst(count).compactMap { envelope in
                if case .fetchAssetChunk(let request) = envelope.request { request.sha256 } else { nil }
            })
    }

    private func files(_ record: CKRecord) throws -> [[UInt8]] {
        try record.allKeys().sorted().map { key in
            try Array(Data(contentsOf: #require((record[key] as? CKAsset)?.fileURL)))
        }
    }

    @Test(arguments: [CloudDatabase.MissingAssets.failRecord, .leaveOut])
    func `R-071: what a call that fails has downloaded is not downloaded again`(
        missing: CloudDatabase.MissingAssets
    ) async throws {
        defer { directory.remove() }
        refuse(Self.contents[5])
        let error = await #expect(throws: CKError.self) {
            try await fetch(Self.contents.map { [$0] }, missing)
        }
        #expect(error?.code == .serviceUnavailable)
        // At most four are under way, so two were finished before the sixth began.
        let staged = staged
        #expect(staged.count >= 2)
        #expect(names.allSatisfy { $0.hasSuffix(".part") }, "\(names)")
        refuse(nil)
        let count = server.envelopes.count
        let results = try await fetch(Self.contents.map { [$0] }, missing)
        #expect(try results.map { try files($0.get()) } == Self.contents.map { [$0] })
        #expect(requested(since: count).isDisjoint(with: staged))
        #expect(names.count == Self.contents.count && names.allSatisfy { !$0.hasSuffix(".part") }, "\(names)")
    }

    @Test func `R-071, R-074: the other files of a record that fails are not downloaded again`() async throws {
        defer { directory.remove() }
        let (one, two) = (Self.contents[0], Self.contents[1])
        refuse(two, .assetNotAvailable)
        let results = try await fetch([[one, two], [one, one]], .failRecord)
        let lost = #expect(throws: CKError.self) { try results[0].get() }
        #expect(lost?.code == .assetNotAvailable)
        #expect(try files(results[1].get()) == [one, one])
        #expect(staged == [ContentHash.of(one)] && names.count == 4, "\(names)")
        refuse(nil)
        let count = server.envelopes.count
        let again = try await fetch([[one, two]], .failRecord)
        #expect(try files(again[0].get()) == [one, two])
        #expect(requested(since: count) == [ContentHash.of(two)])
    }

    @Test func `R-071: the files of records by ID are not downloaded again if a later answer fails`() async throws {
        defer { directory.remove() }
        let isWell = Locked(false)
        server.answer { envelope in
            switch envelope.request {
            case .fetchAssetChunk:
                var part = WireAssetChunk()
                part.content = Self.contents[0][...]
                return .fetchAssetChunk(part)
            case .fetchRecords(let request):
                let name = request.zones[0].names[0]
                guard name == "first" || isWell.withLock({ $0 }),
                    let record = try? Self.record(name, [Self.contents[0]])
                else { return Self.failure(.serviceUnavailable) }
                var answer = WireFetchRecordsAnswer()
                var result = WireRecordResult()
                result.record = record
                (answer.results, answer.covered) = ([result], 1)
                return .fetchRecords(answer)
            default: return nil
            }
        }
        let zoneID = CKRecordZone.ID(zoneName: "Files")
        let ids = ["first", "second"].map { CKRecord.ID(recordName: $0, zoneID: zoneID) }
        let cloud = try container.privateCloudDatabase.cloud
        let error = await #expect(throws: CKError.self) {
            try await whileServing { try await cloud.records(for: ids, desiredKeys: nil) }
        }
        #expect(error?.code == .serviceUnavailable)
        #expect(staged == [ContentHash.of(Self.contents[0])] && names.count == 1, "\(names)")
        isWell.withLock { $0 = true }
        let count = server.envelopes.count
        _ = try await whileServing { try await cloud.records(for: [ids[0]], desiredKeys: nil) }
        #expect(requested(since: count) == [])
    }

    @Test func `R-550, R-553: a file that does not come in time says of which record, and that other zones may go on`()
        async throws
    {
        defer { directory.remove() }
        server.hold { if case .fetchAssetChunk = $0.request { true } else { false } }
        let id = CKRecord.ID(recordName: "beach", zoneID: CKRecordZone.ID(zoneName: "Files"))
        let record = try CKRecord.make(Self.record("beach", [Self.contents[0]]), in: id.zoneID)
        let cloud = try container.privateCloudDatabase.cloud
        let error = await #expect(throws: CKError.self) {
            try await whileServing(passing: .seconds(1)) {
                try await cloud.withFiles([(id, record)], missing: .leaveOut).map(\.result)
            }
        }
        let text = error?.localizedDescription ?? "nothing"
        let start = "The download of an asset of record beach in zone Files stands still. No answer came"
        #expect(text.hasPrefix(start), "\(text)")
        // Other files of the page would only wait as long, so they end.
        #expect(error?.code == .networkFailure && error?.isAboutAsset == false && error?.isAboutNoItem == false)
    }
}
