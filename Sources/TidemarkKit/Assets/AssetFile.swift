// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkCrypto
internal import TidemarkFields

/// A file of the app that is to be uploaded: its hash when it was first read, and its bytes.
///
/// Everything here blocks: use it on ``FileThread`` only.
struct AssetFile: Sendable {
    let source: AssetSource
    let content: FieldAsset
    /// `Checksum` of the content, for a large file that was read here.
    let checksum: [UInt8]?

    /// From this size on, the checksum is worth a request of the device that downloads.
    static let checksumBytesMin: Int64 = 1_048_576

    /// Reads the file to its end, for its hash.
    ///
    /// - Throws: `assetFileNotFound`; `assetNotAvailable` if it cannot be read or is not a file; `assetFileModified` if
    ///   it changes meanwhile.
    init(_ url: URL) throws(CKError) {
        let source = try AssetSource(url)
        let reading = try AssetReading(source)
        while try !reading.advance() {}
        self = try reading.finish()
    }

    init(_ source: AssetSource, sha256: [UInt8], checksum: [UInt8]? = nil) {
        self.source = source
        self.checksum = checksum
        content = FieldAsset(sha256: sha256, byteCount: source.byteCount)
    }

    /// As ``AssetSource/bytes(at:count:after:before:)``.
    func bytes(
        at offset: Int64, count: Int, after head: [UInt8] = [], before room: Int = 0
    ) throws(CKError) -> [UInt8] {
        try source.bytes(at: offset, count: count, after: head, before: room)
    }

    /// - Throws: `assetFileModified` if the file has changed since it was first read.
    func checkUnchanged() throws(CKError) {
        try source.checkUnchanged()
    }
}

/// Computes a file's hash and checksum, a piece at a time.
final class AssetReading: @unchecked Sendable {
    private let source: AssetSource
    private let descriptor: Int32
    private let block: UnsafeMutableRawBufferPointer
    private var hash: ContentHash? = ContentHash()
    private var checksum: Checksum?
    private var offset: Int64 = 0

    static let blockBytes = ContentHash.pieceByteCount

    /// - Throws: as ``advance()``.
    init(_ source: AssetSource) throws(CKError) {
        self.source = source
        checksum = source.byteCount >= AssetFile.checksumBytesMin ? Checksum() : nil
        descriptor = try source.openUnchanged()
        block = .allocate(byteCount: Self.blockBytes, alignment: 64)
    }

    deinit {
        close(descriptor)
        block.deallocate()
    }

    /// Whether everything has been read.
    var isAtEnd: Bool { offset == source.byteCount }

    /// Reads the next piece; at the end does nothing.
    ///
    /// - Returns: whether everything has been read.
    /// - Throws: `assetFileModified` if the file is shorter than it was; `assetNotAvailable` if it cannot be read.
    func advance() throws(CKError) -> Bool {
        let wanted = Int(min(Int64(Self.blockBytes), source.byteCount - offset))
        let piece = UnsafeMutableRawBufferPointer(rebasing: block[..<wanted])
        let (count, refusal) = AssetSource.read(descriptor, piece, at: offset)
        if let refusal { throw source.notAvailable(refusal) }
        guard count == wanted else { throw source.modified }
        hash?.update(UnsafeRawBufferPointer(piece))
        checksum?.update(UnsafeRawBufferPointer(piece))
        offset += Int64(wanted)
        return isAtEnd
    }

    /// Completes the hash, once everything has been read.
    ///
    /// - Throws: `assetFileModified` if the file changed meanwhile.
    func finish() throws(CKError) -> AssetFile {
        guard let sha256 = hash.take()?.finish() else { throw source.modified }
        try source.checkUnchanged()
        return AssetFile(source, sha256: sha256, checksum: checksum.take()?.finish())
    }
}
