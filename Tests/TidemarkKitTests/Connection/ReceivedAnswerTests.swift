// SPDX-License-Identifier: Apache-2.0

import Foundation
import SwiftProtobuf
import Testing
import TidemarkWire

@testable import TidemarkKit

@Suite struct ReceivedAnswerTests {
    private func answer(_ count: Int) -> WireServerEnvelope {
        var envelope = WireServerEnvelope()
        envelope.id = 300
        envelope.fetchAssetChunk.content = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        return envelope
    }

    @Test(arguments: [0, 1, 4_096, 262_144]) func `an answer is read as it was written`(_ count: Int) throws {
        #expect(try WireServerEnvelope(received: try answer(count).serializedBytes()) == answer(count))
        #expect(throws: (any Error).self) { try WireServerEnvelope(received: [0xFF, 0xFF]) }
    }

    @Test func `content outlives the message that it lies in`() throws {
        var message: [UInt8] = try answer(20_000).serializedBytes()
        let content = try WireServerEnvelope(received: message).fetchAssetChunk.content
        message.removeAll(keepingCapacity: true)
        message.append(contentsOf: repeatElement(1, count: 20_000))
        #expect(content == answer(20_000).fetchAssetChunk.content)
        var changed = content
        changed[0] = 99
        #expect(content == answer(20_000).fetchAssetChunk.content)
    }
}
