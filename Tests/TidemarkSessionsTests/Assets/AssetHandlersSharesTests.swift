// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Testing
import TidemarkCrypto
import TidemarkDomain
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

/// Each account's share of the public database, as uploads meet it.
@Suite struct AssetHandlersSharesTests {
    private let container = ContainerKey(identifier: SessionWorld.container, environment: .development)

    private func content(_ byteCount: Int, _ first: UInt8) -> [UInt8] { [UInt8](repeating: first, count: byteCount) }

    /// All of an asset, with which it becomes known.
    private func upload(_ content: [UInt8]) -> WireClientEnvelope.OneOfRequest {
        var request = WireUploadAssetChunk()
        request.database = .public
        request.sha256 = [UInt8](ContentHash.of(content))
        request.byteCount = UInt64(content.count)
        request.content = content[...]
        return .uploadAssetChunk(request)
    }

    private func prepare(_ content: [UInt8]) -> WireClientEnvelope.OneOfRequest {
        var request = WirePrepareAssetUpload()
        request.database = .public
        request.sha256 = [UInt8](ContentHash.of(content))
        request.byteCount = UInt64(content.count)
        return .prepareAssetUpload(request)
    }

    @Test func `R-277, R-279: whoever has sent a share of the public database sends no more, and others do`() throws {
        let world = SessionWorld()
        let (alice, bob) = (try world.enter(), try world.enter("bob", device: 2))
        #expect(world.database.setQuota(StorageQuota(publicBytes: 10_000), of: container))
        func refusal(_ request: WireClientEnvelope.OneOfRequest, of client: TestClient) throws -> String? {
            switch try client.ask(request) {
            case .prepareAssetUpload?, .uploadAssetChunk?: return nil
            case .failure(let failure)?:
                #expect(failure.code == .quotaExceeded)
                return failure.message
            case let other: throw SessionWorld.Unexpected(other)
            }
        }
        let (first, second) = (content(600, 1), content(400, 2))
        for content in [first, second] {
            #expect(try refusal(prepare(content), of: alice) == nil)
            #expect(try refusal(upload(content), of: alice) == nil)
        }
        // Before its bytes are sent, and when they come.
        let more = content(1, 3)
        for request in [prepare(more), upload(more)] {
            #expect(try refusal(request, of: alice) == FailureReason.publicShareFull.text)
        }
        // What is there and was sent by her needs no room, and that it is there makes it no cheaper for bob.
        #expect(try refusal(upload(first), of: alice) == nil)
        #expect(try refusal(upload(first), of: bob) == nil)
        #expect(try refusal(upload(content(401, 4)), of: bob) == FailureReason.publicShareFull.text)
        #expect(world.server.assets.assets.count == 2, "and nothing is left of what was refused")
        world.database.setQuota(StorageQuota(publicBytes: 10_000, publicShare: .unlimited), of: container)
        #expect(try refusal(upload(more), of: alice) == nil)
    }
}
