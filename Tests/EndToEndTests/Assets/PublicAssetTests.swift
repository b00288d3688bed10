// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkCrypto
import TidemarkFields
import TidemarkKit
import TidemarkTestSupport
import TidemarkWire

/// Whose an asset of the public database is, with the real server, PostgreSQL and files.
@Suite struct PublicAssetTests {
    /// Everybody makes and reads pages. Only editors see drafts.
    private let schema = """
        DEFINE SCHEMA
            CREATE ROLE Editor;
            RECORD TYPE Page ( file ASSET, GRANT READ TO "_world", GRANT CREATE TO "_icloud", GRANT WRITE TO "_creator" );
            RECORD TYPE Draft ( file ASSET, GRANT CREATE, WRITE TO Editor );
        """

    private func record(_ type: String, _ name: String, _ file: URL) -> CKRecord {
        let record = CKRecord(recordType: type, recordID: CKRecord.ID(recordName: name))
        record["file"] = CKAsset(fileURL: file)
        return record
    }

    @Test func `R-743: a hash opens nothing, and whoever sends the content has it, which is stored once`() async throws
    {
        try await OperatorPlace.with(keepsAssets: true) { place in
            let (container, file) = (place.site.container, try place.write(schema, to: "schema.ckdb"))
            #expect(try await place.admin("containers", "create", container).status == 0)
            #expect(try await place.admin("schema", "import", file, "--container", container).status == 0)
            let tokens = (bob: try await place.makeAccount("bob"), carol: try await place.makeAccount("carol"))
            let grant = ["roles", "assign", "alice", "Editor", "--container", container]
            #expect(try await place.admin(grant).status == 0)
            let secret = URL(fileURLWithPath: try place.write(String(repeating: "secret ", count: 9_999), to: "secret"))
            try await place.database(.public).save(record("Draft", "d", secret))
            let content = [UInt8](try Data(contentsOf: secret))
            let asset = FieldAsset(sha256: ContentHash.of(content), byteCount: Int64(content.count))

            // Bob has guessed the content, or has heard of its hash.
            let bob = try await Asker(place, token: tokens.bob)
            let unknown = FieldAsset(sha256: [UInt8](repeating: 7, count: 32), byteCount: asset.byteCount)
            for guess in [asset, unknown] {
                #expect(try await bob.prepare(guess) == .offset(0))
                #expect(try await bob.save("Page", "mine-\(guess.sha256[0])", guess) == .assetNotAvailable)
                #expect(try await bob.fetch(guess, namedBy: "d") == .assetNotAvailable)
            }
            #expect(try await bob.prepare(asset) == .offset(0), "a refused save tells nothing either")

            // Alice sees her draft, so she need not send the file again, nor have it.
            let alice = try await Asker(place, token: try #require(place.site.tokens["alice"]), device: 3)
            #expect(try await alice.prepare(asset) == .complete)
            #expect(try await alice.save("Page", "hers", asset) == nil)
            // Now everybody may read a record that names it.
            let carol = try await Asker(place, token: tokens.carol, device: 4)
            #expect(try await carol.prepare(asset) == .complete)
            #expect(try await carol.save("Page", "carols", asset) == nil)
            try await place.database(.public).deleteRecord(withID: CKRecord.ID(recordName: "hers"))
            try await place.database(.public, token: tokens.carol).deleteRecord(
                withID: CKRecord.ID(recordName: "carols"))
            #expect(try await bob.prepare(asset) == .offset(0))

            // With the file, bob is asked for its bytes. What he sent is his to name.
            let database = place.database(.public, token: tokens.bob)
            try await database.save(record("Page", "bobs", secret))
            let fetched = try await place.database(.public, token: "").record(for: CKRecord.ID(recordName: "bobs"))
            let copy = try #require((fetched["file"] as? CKAsset)?.fileURL)
            #expect(try Data(contentsOf: copy) == Data(content))
            try await database.deleteRecord(withID: CKRecord.ID(recordName: "bobs"))
            #expect(try await bob.prepare(asset) == .complete)
            #expect(try await bob.save("Page", "again", asset) == nil)
            #expect(try stored(in: "\(place.directory.path)/assets") == 1)
        }
    }

    /// How many assets the server keeps; uploads are no assets.
    private func stored(in directory: String) throws -> Int {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: directory)
        return paths.count { $0.contains(/\/[0-9a-f]{2}\/[0-9a-f]{64}\.\d+$/) }
    }
}

/// A user who sends requests that the library would not send.
private final class Asker {
    enum Progress: Equatable {
        case complete
        case offset(UInt64)
        case refused(WireErrorCode)
    }

    private let client: RawClient
    private var id: UInt64 = 1
    private var counter: UInt64 = 0
    private let device: UInt8

    init(_ place: OperatorPlace, token: String, device: UInt8 = 2) async throws {
        self.device = device
        client = try await RawClient(place.site)
        try client.send(.hello(place.site, token: token, device: device))
        guard case .hello? = try await client.answer(to: 1).answer else { throw NeverHappened(description: "no Hello") }
    }

    private func ask(_ request: WireClientEnvelope.OneOfRequest) async throws -> WireServerEnvelope.OneOfAnswer? {
        id += 1
        var envelope = WireClientEnvelope()
        envelope.id = id
        envelope.request = request
        try client.send(envelope)
        return try await client.answer(to: id).answer
    }

    func prepare(_ asset: FieldAsset) async throws -> Progress {
        var request = WirePrepareAssetUpload()
        request.database = .public
        request.sha256 = asset.sha256
        request.byteCount = UInt64(asset.byteCount)
        switch try await ask(.prepareAssetUpload(request)) {
        case .prepareAssetUpload(let progress)?: return progress.isComplete ? .complete : .offset(progress.offset)
        case .failure(let failure)?: return .refused(failure.code)
        case let other: throw NeverHappened(description: "\(String(describing: other))")
        }
    }

    /// Why a new record that names the asset was not saved.
    func save(_ type: String, _ name: String, _ asset: FieldAsset) async throws -> WireErrorCode? {
        var save = WireRecordSave()
        save.name = name
        save.type = type
        save.fields = [UInt8](try FieldMap([Field("file", .asset(asset))]).bytes)
        var part = WireZoneModifications()
        part.zone.name = "_defaultZone"
        part.saves = [save]
        var request = WireModifyRecords()
        request.database = .public
        counter += 1
        request.stamp.counter = counter
        request.stamp.nonce = UInt64(device)
        request.stamp.lowestUnanswered = counter
        request.policy = .allKeys
        request.zones = [part]
        switch try await ask(.modifyRecords(request)) {
        case .modifyRecords(let records)?:
            guard case .failure(let failure)? = records.zones.first?.saves.first?.result else { return nil }
            return failure.failure.code
        case .failure(let failure)?: return failure.code
        case let other: throw NeverHappened(description: "\(String(describing: other))")
        }
    }

    /// Why its bytes were not delivered.
    func fetch(_ asset: FieldAsset, namedBy record: String) async throws -> WireErrorCode? {
        var request = WireFetchAssetChunk()
        request.database = .public
        request.zone.name = "_defaultZone"
        request.record = record
        request.sha256 = asset.sha256
        request.byteCount = UInt64(asset.byteCount)
        request.length = 10
        guard case .failure(let failure)? = try await ask(.fetchAssetChunk(request)) else { return nil }
        return failure.code
    }
}
