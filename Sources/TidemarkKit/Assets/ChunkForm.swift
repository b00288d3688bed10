// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// The fields that all requests with a part of one upload have in common.
struct ChunkForm {
    var chunk: WireUploadAssetChunk
    let envelope: WireClientEnvelope

    /// A request for a part, into which the file is read. Blocks.
    ///
    /// - Parameter read: called with the bytes that were read.
    /// - Throws: `assetFileModified` if the file has changed since it was first looked at.
    func request(
        for part: Range<Int64>, of file: AssetSource, read: (UnsafeRawBufferPointer) -> Void = { _ in }
    ) throws(CKError) -> EncodedRequest {
        let head = head(of: part)
        let bytes = try file.bytes(
            at: part.lowerBound, count: part.count, after: head, before: EncodedRequest.idBytesMax)
        bytes.withUnsafeBytes { read(UnsafeRawBufferPointer(rebasing: $0[head.count...])) }
        return EncodedRequest(bytes)
    }

    /// A request for a part that was read already. Copies it, so it should be small.
    func request(with content: [UInt8], at offset: Int64) -> EncodedRequest {
        EncodedRequest(head(of: offset..<offset + Int64(content.count)) + content)
    }

    private func head(of part: Range<Int64>) -> [UInt8] {
        var chunk = chunk
        chunk.offset = UInt64(part.lowerBound)
        return EncodedRequest.head(of: chunk, in: envelope, byteCount: part.count)
    }
}
