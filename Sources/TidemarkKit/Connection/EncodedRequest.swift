// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkBytes
internal import TidemarkWire

/// A request with a part of an asset. It is complete except for its id, which it gets when it is made. Taken once, so that the part is
/// never copied.
final class EncodedRequest: Sendable {
    /// Bytes that an id takes at most.
    static let idBytesMax = WireWriter.size { WireClientEnvelope.write(id: .max, to: &$0) }

    private let bytes: Mutex<[UInt8]>

    /// - Parameter bytes: with room for ``idBytesMax`` more.
    init(_ bytes: consuming [UInt8]) {
        self.bytes = Mutex(bytes)
    }

    func take(id: UInt64) -> [UInt8] {
        bytes.withLock { kept in
            var bytes: [UInt8] = []
            swap(&bytes, &kept)
            WireWriter.add(to: &bytes) { WireClientEnvelope.write(id: id, to: &$0) }
            return bytes
        }
    }

    /// The bytes before those of a part. The id comes after the part.
    ///
    /// - Parameters:
    ///   - chunk: without content.
    ///   - envelope: what else is in it, such as the group of operations; without id and request.
    static func head(
        of chunk: WireUploadAssetChunk, in envelope: WireClientEnvelope, byteCount: Int
    ) -> [UInt8] {
        func writeContent(to writer: inout WireWriter) {
            WireUploadAssetChunk.write(content: ContentAhead(byteCount: byteCount), to: &writer)
        }
        let length = chunk.size + WireWriter.size { writeContent(to: &$0) }
        var writer = WireWriter(capacity: envelope.size + length - byteCount + 32)
        envelope.write(to: &writer)
        WireClientEnvelope.begin(uploadAssetChunk: length, to: &writer)
        chunk.write(to: &writer)
        writeContent(to: &writer)
        return writer.bytes
    }
}
