// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkWire

@testable import TidemarkKit

@Suite struct EncodedRequestTests {
    @Test(arguments: [0, 1, 5_000, 262_144])
    func `R-403: a part that is written behind its head is the message, with the group of its request`(
        _ count: Int
    ) throws {
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var chunk = WireUploadAssetChunk()
        chunk.database = .private
        chunk.zone.name = "notes"
        chunk.sha256 = [UInt8](repeating: 9, count: 32)
        chunk.byteCount = 1 << 40
        chunk.checksum = [UInt8](repeating: 8, count: 16)
        var envelope = WireClientEnvelope()
        envelope.operationGroup.id = "group"
        let head = EncodedRequest.head(of: chunk, in: envelope, byteCount: count)
        for id: UInt64 in [1, 300, .max] {
            let bytes = EncodedRequest(head + content).take(id: id)
            #expect(bytes.count - head.count - count <= EncodedRequest.idBytesMax)
            envelope.id = id
            envelope.uploadAssetChunk = chunk
            envelope.uploadAssetChunk.content = content[...]
            #expect(try WireClientEnvelope(reading: bytes) == envelope)
        }
    }
}
