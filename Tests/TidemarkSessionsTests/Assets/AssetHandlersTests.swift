// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkCrypto
import TidemarkDomain
import TidemarkFields
import TidemarkScheduling
import TidemarkService
import TidemarkSessions
import TidemarkTelemetry
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@Suite struct AssetHandlersTests {
    private let content = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }

    private func asset(_ content: [UInt8]) -> FieldAsset {
        FieldAsset(sha256: ContentHash.of(content), byteCount: Int64(content.count))
    }

    private func chunk(_ range: Range<Int>, of content: [UInt8]) -> WireClientEnvelope.OneOfRequest {
        var request = WireUploadAssetChunk()
        request.database = .private
        request.sha256 = [UInt8](ContentHash.of(content))
        request.byteCount = UInt64(content.count)
        request.offset = UInt64(range.lowerBound)
        request.content = content[range]
        return .uploadAssetChunk(request)
    }

    private func prepare(_ asset: FieldAsset, owner: String = "") -> WireClientEnvelope.OneOfRequest {
        var request = WirePrepareAssetUpload()
        request.database = .private
        request.zone.owner = owner
        request.sha256 = asset.sha256
        request.byteCount = UInt64(asset.byteCount)
        return .prepareAssetUpload(request)
    }

    private func fetch(
        _ asset: FieldAsset, at offset: UInt64 = 0, length: UInt32 = 1_000, owner: String = ""
    ) -> WireClientEnvelope.OneOfRequest {
        var request = WireFetchAssetChunk()
        request.database = .private
        request.zone.name = "notes"
        request.zone.owner = owner
        request.record = "r"
        request.sha256 = asset.sha256
        request.byteCount = UInt64(asset.byteCount)
        request.offset = offset
        request.length = length
        return .fetchAssetChunk(request)
    }

    private func naming(_ asset: FieldAsset, _ client: TestClient) throws -> WireModifyRecords {
        var request = try client.saving("r", in: "notes")
        request.zones[0].saves[0].fields = [UInt8](try FieldMap([Field("file", .asset(asset))]).bytes)
        return request
    }

    private func saveCode(_ answer: WireServerEnvelope.OneOfAnswer?) throws -> WireErrorCode? {
        guard case .modifyRecords(let records)? = answer, let save = records.zones.first?.saves.first else {
            throw SessionWorld.Unexpected(answer)
        }
        if case .failure(let failure)? = save.result { return failure.failure.code }
        return nil
    }

    private func code(_ answer: WireServerEnvelope.OneOfAnswer?) -> WireErrorCode? {
        if case .failure(let failure)? = answer { failure.code } else { nil }
    }

    @Test func `R-070: upload, save, fetch; a save before the upload fails alone`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        try client.makeZone("notes")
        let asset = asset(content)
        #expect(try saveCode(client.ask(.modifyRecords(naming(asset, client)))) == .assetNotAvailable)
        // Chunks are sent one behind the other, without waiting.
        let ids = [0..<400, 400..<800, 800..<1_000].map { client.post(chunk($0, of: content)) }
        world.scheduler.runUntilIdle()
        let progress = ids.map { client.answer(to: $0) }
        guard case .uploadAssetChunk(let first)? = progress[0], case .uploadAssetChunk(let last)? = progress[2] else {
            throw SessionWorld.Unexpected(progress[0])
        }
        #expect(first.offset == 400 && !first.isComplete)
        #expect(last.offset == 1_000 && last.isComplete)
        #expect(try saveCode(client.ask(.modifyRecords(naming(asset, client)))) == nil)
        guard case .fetchAssetChunk(let part)? = try client.ask(fetch(asset, at: 900)) else {
            throw SessionWorld.Unexpected(nil)
        }
        #expect(Array(part.content) == Array(content[900...]))
    }

    /// In a process of its own, where nobody else counts.
    @Test func `R-815: bytes of assets are counted by their direction`() async {
        await #expect(processExitsWith: .success) {
            let tests = AssetHandlersTests()
            let (world, content) = (SessionWorld(), tests.content)
            let client = try world.enter()
            try client.makeZone("notes")
            func count(_ direction: String) throws -> Double? {
                try MetricsScrape(Measurements.text).value("tidemark_asset_bytes_total", ["direction": direction])
            }
            _ = try client.ask(tests.chunk(0..<400, of: content))
            let first = try count("up")
            precondition(first == 400, "\(String(describing: first))")
            _ = try client.ask(tests.chunk(400..<1_000, of: content))
            let (up, none) = (try count("up"), try count("down"))
            precondition(up == 1_000 && none == 0, "\(String(describing: up)), \(String(describing: none))")
            let asset = tests.asset(content)
            _ = try client.ask(.modifyRecords(tests.naming(asset, client)))
            _ = try client.ask(tests.fetch(asset, at: 900))
            _ = try client.ask(tests.fetch(asset, length: 0))
            let down = try count("down")
            precondition(down == 100, "\(String(describing: down))")
        }
    }

    @Test func `R-071: who may fetch an asset is told the checksum that came with it`() throws {
        let world = SessionWorld()
        let alice = try world.enter("alice", device: 1)
        func checksum(of content: [UInt8]) throws -> [UInt8] {
            guard case .fetchAssetChunk(var request) = fetch(asset(content), length: 0) else { return [0] }
            request.wantsChecksum = true
            guard case .fetchAssetChunk(let part)? = try alice.ask(.fetchAssetChunk(request)) else {
                throw SessionWorld.Unexpected(nil)
            }
            #expect(part.content.isEmpty)
            return Array(part.checksum)
        }
        guard case .uploadAssetChunk(var upload) = chunk(0..<1_000, of: content) else { return }
        for count in [1, 15, 17] {
            upload.checksum = [UInt8](repeating: 1, count: count)
            #expect(try code(alice.ask(.uploadAssetChunk(upload))) == .invalidArguments)
        }
        upload.checksum = [UInt8](Checksum.of(content))
        #expect(try code(alice.ask(.uploadAssetChunk(upload))) == nil)
        #expect(try checksum(of: content) == Checksum.of(content))
        let small = Array(content[..<10])
        _ = try alice.ask(chunk(0..<10, of: small))
        #expect(try checksum(of: small).isEmpty)
        let bob = try world.enter("bob", device: 2)
        guard case .fetchAssetChunk(var request) = fetch(asset(content)) else { return }
        request.wantsChecksum = true
        #expect(try code(bob.ask(.fetchAssetChunk(request))) == .assetNotAvailable)
    }

    @Test func `an upload goes on over another connection of the device`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        _ = try client.ask(chunk(0..<600, of: content))
        client.disconnect()
        let again = try world.enter()
        guard case .prepareAssetUpload(let progress)? = try again.ask(prepare(asset(content))) else {
            throw SessionWorld.Unexpected(nil)
        }
        #expect(progress.offset == 600 && !progress.isComplete)
        guard case .uploadAssetChunk(let end)? = try again.ask(chunk(600..<1_000, of: content)) else {
            throw SessionWorld.Unexpected(nil)
        }
        #expect(end.isComplete)
    }

    @Test func `I-5: another account neither fetches the asset, nor learns that it is there, nor saves it`() throws {
        let world = SessionWorld()
        let alice = try world.enter("alice", device: 1)
        let bob = try world.enter("bob", device: 2)
        _ = try alice.ask(chunk(0..<1_000, of: content))
        try bob.makeZone("notes")
        let asset = asset(content)
        #expect(try code(bob.ask(fetch(asset))) == .assetNotAvailable)
        guard case .prepareAssetUpload(let progress)? = try bob.ask(prepare(asset)) else {
            throw SessionWorld.Unexpected(nil)
        }
        #expect(progress.offset == 0 && !progress.isComplete)
        #expect(try saveCode(bob.ask(.modifyRecords(naming(asset, bob)))) == .assetNotAvailable)
        for owner in ["_ffffffffffffffffffffffffffffffff", "alice"] {
            #expect(try code(bob.ask(fetch(asset, owner: owner))) == .zoneNotFound)
            #expect(try code(bob.ask(prepare(asset, owner: owner))) == .zoneNotFound)
        }
    }

    @Test func `I-6: what is not an asset, or no part of it, is refused`() throws {
        let world = SessionWorld {
            $0.limits.assetBytesMax = 2_000
            $0.limits.assetChunkBytesMax = 1_000
        }
        let client = try world.enter()
        var bad: [WireClientEnvelope.OneOfRequest] = [
            fetch(asset(content), length: 0), fetch(asset(content), length: 1_001), fetch(asset(content), at: 1_001),
            fetch(asset(content), at: .max),
        ]
        for change: (inout WireUploadAssetChunk) -> Void in [
            { $0.sha256 = [1] }, { $0.byteCount = .max }, { $0.offset = 1 }, { $0.offset = .max },
            { $0.content = ArraySlice(repeating: 0, count: 1_001) }, { $0.byteCount = 10 },
            { $0.database = .unspecified },
            { $0.draft = [1] }, { $0.sha256 = [] },
            // Whole, and nobody has said what it is.
            { ($0.sha256, $0.draft) = ([], [UInt8](repeating: 1, count: 32)) },
        ] {
            guard case .uploadAssetChunk(var request) = chunk(0..<1_000, of: content) else { return }
            change(&request)
            bad.append(.uploadAssetChunk(request))
        }
        for request in bad { #expect(try code(client.ask(request)) == .invalidArguments, "\(request)") }
        let large = FieldAsset(sha256: Array(repeating: 1, count: 32), byteCount: 2_001)
        #expect(try code(client.ask(prepare(large))) == .limitExceeded)
        let text = client.failures.last?.message
        #expect(text?.hasSuffix("The limit is 2000 bytes per asset, and this has 2001.") == true)
    }

    @Test func `R-011: a full disk is quotaExceeded, the server goes on, and so does the upload once there is room`()
        throws
    {
        let world = SessionWorld()
        let client = try world.enter()
        world.server.assets.setCapacity(500)
        _ = try client.ask(chunk(0..<400, of: content))
        #expect(try code(client.ask(chunk(400..<1_000, of: content))) == .quotaExceeded)
        #expect(world.server.assets.assets.isEmpty)
        world.server.assets.setCapacity(.max)
        guard case .uploadAssetChunk(let end)? = try client.ask(chunk(400..<1_000, of: content)) else {
            throw SessionWorld.Unexpected(nil)
        }
        #expect(end.isComplete)
    }

    @Test func `R-011: an upload that the quota has no room for is refused when it is prepared`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        let container = ContainerKey(identifier: SessionWorld.container, environment: .development)
        let small = Array(content.prefix(400))
        func progress(_ request: WireClientEnvelope.OneOfRequest) throws -> WireAssetProgress {
            switch try client.ask(request) {
            case .prepareAssetUpload(let progress)?, .uploadAssetChunk(let progress)?: return progress
            case let other: throw SessionWorld.Unexpected(other)
            }
        }
        #expect(world.database.setQuota(StorageQuota(privateBytes: 1_300), of: container))
        #expect(try !progress(prepare(asset(content))).isComplete)
        #expect(try progress(chunk(0..<600, of: content)).offset == 600)
        #expect(try progress(chunk(0..<400, of: small)).isComplete)
        // Begun while there was room, which another upload has taken.
        guard case .failure(let failure)? = try client.ask(chunk(600..<1_000, of: content)) else {
            throw SessionWorld.Unexpected(nil)
        }
        #expect(failure.code == .quotaExceeded)
        #expect(failure.message.contains("holds 400 of 1300 bytes, and this needs 1000 more"), "\(failure.message)")
        #expect(try code(client.ask(prepare(asset(content)))) == .quotaExceeded)
        #expect(world.server.assets.assets.count == 1)
        // What is there already needs no room.
        world.database.setQuota(StorageQuota(privateBytes: 100), of: container)
        #expect(try progress(prepare(asset(small))).isComplete)
        #expect(try progress(chunk(0..<400, of: small)).isComplete)
        #expect(try code(client.ask(prepare(asset(content)))) == .quotaExceeded)
        world.database.setQuota(StorageQuota(privateBytes: 1_400), of: container)
        #expect(try progress(chunk(600..<1_000, of: content)).isComplete)
        let bob = try world.enter("bob", device: 2)
        guard case .prepareAssetUpload(let bobs)? = try bob.ask(prepare(asset(content))) else {
            throw SessionWorld.Unexpected(nil)
        }
        #expect(!bobs.isComplete, "another user has room of their own")
    }

    @Test func `R-070: an upload may begin before its hash is known`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        func draft(_ range: Range<Int>, _ sha256: [UInt8]) throws -> WireAssetProgress {
            guard case .uploadAssetChunk(var request) = chunk(range, of: content) else {
                throw SessionWorld.Unexpected(nil)
            }
            request.sha256 = [UInt8](sha256)
            request.draft = [UInt8](repeating: 1, count: 32)
            guard case .uploadAssetChunk(let progress)? = try client.ask(.uploadAssetChunk(request)) else {
                throw SessionWorld.Unexpected(nil)
            }
            return progress
        }
        #expect(try draft(0..<600, []).offset == 600)
        #expect(world.server.assets.assets.isEmpty)
        #expect(try draft(600..<1_000, ContentHash.of(content)).isComplete)
        #expect(Array(world.server.assets.assets.values) == [content])
    }

    @Test func `R-070: a device that does not know the hash is told`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        func ask(_ range: Range<Int>, isEnd: Bool) throws -> WireServerEnvelope.OneOfAnswer? {
            guard case .uploadAssetChunk(var request) = chunk(range, of: content) else {
                throw SessionWorld.Unexpected(nil)
            }
            request.sha256 = []
            request.draft = [UInt8](repeating: 1, count: 32)
            request.isNamedByContent = isEnd
            return try client.ask(.uploadAssetChunk(request))
        }
        guard case .uploadAssetChunk(let middle)? = try ask(0..<600, isEnd: false),
            case .uploadAssetChunk(let end)? = try ask(600..<1_000, isEnd: true)
        else { throw SessionWorld.Unexpected(nil) }
        #expect(middle.offset == 600 && !middle.isComplete && middle.sha256.isEmpty)
        #expect(end.offset == 1_000 && end.isComplete && Array(end.sha256) == ContentHash.of(content))
        #expect(Array(world.server.assets.assets.values) == [content])
    }

    @Test func `R-070: other bytes than were announced are assetFileModified`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        guard case .uploadAssetChunk(var request) = chunk(0..<1_000, of: content) else { return }
        request.content[5] ^= 1
        #expect(try code(client.ask(.uploadAssetChunk(request))) == .assetFileModified)
        #expect(world.server.assets.assets.isEmpty)
    }

    @Test func `R-074: what the disk has lost is assetNotAvailable, and can be uploaded again`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        _ = try client.ask(chunk(0..<1_000, of: content))
        for asset in world.server.assets.assets.keys { world.server.assets.lose(asset) }
        #expect(try code(client.ask(fetch(asset(content)))) == .assetNotAvailable)
        guard case .prepareAssetUpload(let progress)? = try client.ask(prepare(asset(content))) else {
            throw SessionWorld.Unexpected(nil)
        }
        #expect(!progress.isComplete)
    }

    @Test func `I-7: a client that sends chunks without waiting is not read from`() throws {
        let world = SessionWorld { $0.assetChunksMax = 4 }
        let client = try world.enter()
        for start in 0..<3 { client.post(chunk(start * 100..<start * 100 + 100, of: content)) }
        #expect(!client.isReadingPaused)
        client.post(chunk(300..<400, of: content))
        #expect(client.isReadingPaused)
        world.scheduler.runUntilIdle()
        #expect(!client.isReadingPaused)
    }

    @Test func `a server without a place for assets says so`() throws {
        let world = SessionWorld()
        let service = CloudService(
            storage: MemoryStore(world.database), scheduler: world.scheduler, limits: Limits(), onMoved: { _ in })
        let hub = SessionHub(
            service: service, scheduler: world.scheduler,
            settings: SessionSettings(serverName: "bare", limits: Limits()) { $0.reversed() })
        // The container is there as soon as somebody has been.
        _ = try world.enter()
        let client = TestClient(hub, world.scheduler)
        guard case .hello(let hello)? = try client.ask(.hello(SessionWorld.hello("alice"))) else {
            throw SessionWorld.Unexpected(nil)
        }
        #expect(hello.limits.assetBytesMax == 0)
        #expect(try code(client.ask(chunk(0..<1_000, of: content))) == .serverRejectedRequest)
        #expect(try code(client.ask(fetch(asset(content)))) == .serverRejectedRequest)
    }

    @Test func `R-072, R-704, R-708: what no record names is collected after the grace time, idle uploads too`()
        throws
    {
        let world = SessionWorld()
        let client = try world.enter()
        try client.makeZone("notes")
        let kept = try upload(client, world)
        #expect(try saveCode(client.ask(.modifyRecords(naming(asset(content), client)))) == nil)
        world.scheduler.advance(by: .seconds(7_200))
        #expect(try collect(world).count == 0)
        _ = try client.ask(.modifyRecords(client.saving("r", in: "notes")))
        var deletion = try client.saving("r", in: "notes")
        deletion.zones[0].saves = []
        deletion.zones[0].deletes = ["r"]
        _ = try client.ask(.modifyRecords(deletion))
        #expect(try collect(world).count == 0)
        world.scheduler.advance(by: .seconds(7_200))
        #expect(try collect(world, isDryRun: true).byteCount == 1_000)
        #expect(world.server.assets.assets.keys.contains(kept))
        #expect(try collect(world).count == 1)
        #expect(world.server.assets.assets.isEmpty)
        #expect(try saveCode(client.ask(.modifyRecords(naming(asset(content), client)))) == .assetNotAvailable)
    }

    @Test func `R-072: after the server's clock was set ahead, an upload has its grace time all the same`() throws {
        let world = SessionWorld()
        let client = try world.enter()
        try client.makeZone("notes")
        _ = try upload(client, world)
        world.scheduler.sleepOver(365 * 86_400, isMonotonicStill: true)
        #expect(try collect(world).count == 0)
        world.scheduler.advance(by: .seconds(3_599))
        #expect(try collect(world).count == 0)
        #expect(try saveCode(client.ask(.modifyRecords(naming(asset(content), client)))) == nil)
        // What is old by then is collected.
        _ = try client.ask(chunk(0..<10, of: Array(content[..<10])))
        world.scheduler.advance(by: .seconds(3_601))
        #expect(try collect(world).count == 1)
    }

    private func upload(_ client: TestClient, _ world: SessionWorld) throws -> AssetKey {
        _ = try client.ask(chunk(0..<1_000, of: content))
        return try #require(world.server.assets.assets.keys.first)
    }

    private func collect(_ world: SessionWorld, isDryRun: Bool = false) throws -> AssetCollection {
        let result = Outcome()
        world.scheduler.run { [service = world.server.service] in
            result.set(await service.collectAssets(grace: .seconds(3_600), isDryRun: isDryRun))
        }
        world.scheduler.runUntilIdle()
        return try #require(result.value).get()
    }

    /// The same in a zone of another.
    private func shared(
        _ request: WireClientEnvelope.OneOfRequest, _ zone: WireZoneID
    ) -> WireClientEnvelope.OneOfRequest {
        switch request {
        case .prepareAssetUpload(var request):
            (request.database, request.zone) = (.shared, zone)
            return .prepareAssetUpload(request)
        case .uploadAssetChunk(var request):
            (request.database, request.zone) = (.shared, zone)
            return .uploadAssetChunk(request)
        case .fetchAssetChunk(var request):
            (request.database, request.zone) = (.shared, zone)
            return .fetchAssetChunk(request)
        case .modifyRecords(var request):
            request.database = .shared
            request.zones[0].zone = zone
            return .modifyRecords(request)
        default: return request
        }
    }

    @Test(arguments: [false, true])
    func `R-011, R-324, R-751: a participant's upload is refused for want of room without the owner's figures`(
        isOfAccount: Bool
    ) throws {
        let world = SessionWorld()
        let alice = try world.enter("alice", device: 1)
        try alice.makeZone("notes")
        let bob = try world.enter("bob", device: 2)
        let zone = try bob.join(try alice.share("notes", .readWrite).share.link)
        // Begun while there was room.
        guard case .uploadAssetChunk? = try bob.ask(shared(chunk(0..<600, of: content), zone)) else {
            throw SessionWorld.Unexpected(nil)
        }
        // The CKShare record takes some.
        if isOfAccount {
            let store = MemoryStore(world.database)
            let isSet = try world.scheduler.complete { try await store.setAccountQuota(1_000, of: nil) }
            #expect(isSet)
        } else {
            let container = ContainerKey(identifier: SessionWorld.container, environment: .development)
            #expect(world.database.setQuota(StorageQuota(privateBytes: 1_000), of: container))
        }
        func refusal(_ client: TestClient, _ request: WireClientEnvelope.OneOfRequest) throws -> WireFailure {
            let answer = try client.ask(request)
            guard case .failure(let failure)? = answer else { throw SessionWorld.Unexpected(answer) }
            return failure
        }
        for request in [prepare(asset(content)), chunk(600..<1_000, of: content)] {
            let failure = try refusal(bob, shared(request, zone))
            #expect(failure.code == .quotaExceeded && failure.message == FailureReason.quotaExceeded.text)
            let hasFigures = failure.message.contains(where: \.isNumber)
            #expect(!hasFigures)
        }
        let hers = try refusal(alice, prepare(asset(content)))
        #expect(hers.code == .quotaExceeded)
        #expect(hers.message.contains("of 1000 bytes, and this needs 1000 more"), "\(hers.message)")
    }

    @Test func `F-12, R-743, I-5: who knows a hash of the owner's other assets learns and gets nothing by it`() throws {
        let world = SessionWorld()
        let alice = try world.enter("alice", device: 1)
        for zone in ["mine", "notes"] { try alice.makeZone(zone) }
        _ = try alice.ask(chunk(0..<1_000, of: content))
        let (known, unknown) = (asset(content), asset([7, 8, 9]))
        var hidden = try naming(known, alice)
        hidden.zones[0].zone = TestClient.zone("mine")
        #expect(try saveCode(alice.ask(.modifyRecords(hidden))) == nil)
        let link = try alice.share("notes", .readWrite).share.link
        let bob = try world.enter("bob", device: 1)
        let zone = try bob.join(link)
        #expect(try bob.save("r", in: zone) == nil)

        var fetches: [WireErrorCode?] = []
        for guess in [known, unknown] {
            let answer = try bob.ask(shared(prepare(guess), zone))
            guard case .prepareAssetUpload(let progress)? = answer else { throw SessionWorld.Unexpected(answer) }
            #expect(!progress.isComplete && progress.offset == 0)
            let save = shared(.modifyRecords(try naming(guess, bob)), zone)
            #expect(try saveCode(bob.ask(save)) == .assetNotAvailable)
            fetches.append(code(try bob.ask(shared(fetch(guess), zone))))
        }
        #expect(fetches[0] != nil && fetches[0] == fetches[1])

        // Who has the content has nothing to learn: after an upload it is theirs to name.
        let uploaded = try bob.ask(shared(chunk(0..<1_000, of: content), zone))
        guard case .uploadAssetChunk(let progress)? = uploaded else { throw SessionWorld.Unexpected(uploaded) }
        #expect(progress.isComplete)
        #expect(try saveCode(bob.ask(shared(.modifyRecords(try naming(known, bob)), zone))) == nil)
        #expect(code(try bob.ask(shared(fetch(known), zone))) == nil)
    }
}

/// What a task came to.
private final class Outcome: @unchecked Sendable {
    private(set) var value: Result<AssetCollection, FailureReason>?

    func set(_ value: Result<AssetCollection, FailureReason>) { self.value = value }
}
