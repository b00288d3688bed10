// SPDX-License-Identifier: Apache-2.0

internal import TidemarkCrypto
package import TidemarkFields
package import TidemarkService

/// Copies the file of an asset, or only reads it, and checks that it has the content which its name says.
///
/// It goes step by step, so that the caller can do something else between them. A copy appears under its name when it is
/// whole and on the disk, or not at all. All calls block.
package final class AssetCopying {
    private let source: Int32
    private let target: (path: String, draft: String, descriptor: Int32)?
    private let content: FieldAsset
    /// Whether the copy has the content already, because it shares the blocks of the source.
    private let isClone: Bool
    private var hash: ContentHash? = ContentHash()
    private var offset: Int64 = 0
    private var isFinished = false
    private var buffer = [UInt8](repeating: 0, count: AssetCopying.stepBytes)

    /// The bytes that one step reads. On a slow disk it takes a tenth of a second.
    private static let stepBytes = 8 * ContentHash.pieceByteCount

    /// - Parameters:
    ///   - path: of a file of the asset.
    ///   - other: where the copy will be; nil: the file is only read. Directories above it are made.
    /// - Throws: `missing` if there is no such file.
    package init(_ path: String, to other: String?, _ content: FieldAsset) throws(AssetStoreError) {
        self.content = content
        source = try FileCalls.openReading(path)
        guard let other else {
            (target, isClone) = (nil, false)
            return
        }
        let draft = "\(other).new"
        do throws(AssetStoreError) {
            // The remains of a copy that was cut off.
            try FileCalls.remove(draft)
            let descriptor = try FileCalls.openNew(draft)
            target = (other, draft, descriptor)
            isClone = FileCalls.clone(source, into: descriptor)
        } catch {
            FileCalls.close(source)
            throw error
        }
    }

    deinit {
        FileCalls.close(source)
        guard let target else { return }
        FileCalls.close(target.descriptor)
        if !isFinished { try? FileCalls.remove(target.draft) }
    }

    /// Copies a piece.
    ///
    /// - Returns: how many bytes; 0 at the end, when ``finish()`` is to be called.
    package func step() throws(AssetStoreError) -> Int {
        // The bytes that are read back from a clone are those that its reader gets.
        let from = isClone ? target?.descriptor ?? source : source
        var failure: AssetStoreError?
        let count = buffer.withUnsafeMutableBytes { bytes -> Int in
            do throws(AssetStoreError) {
                let count = try read(from, into: bytes)
                let piece = UnsafeRawBufferPointer(rebasing: bytes[..<count])
                hash?.update(piece)
                if let target, !isClone { try FileCalls.write(target.descriptor, piece, at: offset) }
                return count
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        offset += Int64(count)
        guard offset <= content.byteCount else { throw damaged }
        return count
    }

    /// Bytes that a disk does not give back are damaged, whoever reads them. A full disk is another case.
    private func read(
        _ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer
    ) throws(AssetStoreError) -> Int {
        do {
            return try FileCalls.read(descriptor, into: bytes, at: offset)
        } catch {
            throw AssetStoreError(.modified, detail: "it cannot be read (\(error.detail))")
        }
    }

    /// Checks the copied bytes, and gives the copy its name.
    ///
    /// - Throws: `modified` if the content is not the asset's.
    package func finish() throws(AssetStoreError) {
        guard offset == content.byteCount, hash.take()?.finish() == content.sha256 else { throw damaged }
        guard let target else { return }
        if let checksum = FileLayout.checksum(keptWith: source) {
            FileLayout.keep(checksum, with: target.descriptor)
        }
        try FileCalls.synchronize(target.descriptor)
        try FileCalls.rename(target.draft, to: target.path)
        isFinished = true
    }

    private var damaged: AssetStoreError {
        AssetStoreError(.modified, detail: "its content is not what its name says")
    }
}
