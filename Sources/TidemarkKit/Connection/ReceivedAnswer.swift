// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import SwiftProtobuf
internal import TidemarkWire

extension WireServerEnvelope {
    /// What a message says. The content of a chunk is lent from the message, which lives as long as it does.
    init(received message: [UInt8]) throws {
        guard let (envelope, content) = try ChunkEnvelope.answer(message) else {
            self = try AnswerEnvelope.answer(message) ?? WireServerEnvelope(serializedBytes: message)
            return
        }
        self = envelope
        fetchAssetChunk.content = Data(lending: content, of: message)
    }
}

extension Data {
    /// Bytes of an array, without a copy.
    fileprivate init(lending range: Range<Int>, of bytes: [UInt8]) {
        self = bytes.withUnsafeBytes { all in
            guard let start = all.baseAddress else { return Data() }
            // NB: an array of bytes stays where it is while somebody holds it: the closure does, and whoever changes the
            // array then changes a copy. The data, for its part, is only read.
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: start + range.lowerBound), count: range.count,
                deallocator: .custom { _, _ in withExtendedLifetime(bytes) {} })
        }
    }
}
