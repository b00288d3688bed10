// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import TidemarkFields

/// A field's value that is a file. Two are equal when they are the same file's.
///
/// The file of an asset that the app makes is the app's: it is read when the record is saved, and never moved, changed or
/// removed. It must stay as it is until `save` has returned, and as long as the same object is saved with `allKeys`.
///
/// The file of an asset that was fetched is the app's as well, and nobody else's: each fetched record has files of its own, in a
/// staging directory. Move it, or leave it; what is a day old is removed from time to time. It is not read again: what
/// is written into it is not saved (make a new asset), and a record whose file was moved can be saved as before. The article
/// <doc:Assets> shows how to keep one.
public class CKAsset: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// Where the file is; nil while it has not been downloaded.
    public let fileURL: URL?

    /// What the server has; nil for a file that was made into an asset here.
    let descriptor: FieldAsset?

    /// The file at that URL, which must be a file URL; it is read when the record is saved.
    public convenience init(fileURL: URL) {
        precondition(fileURL.isFileURL, "R-070: an asset is made from a file URL")
        self.init(fileURL: fileURL, descriptor: nil)
    }

    init(fileURL: URL?, descriptor: FieldAsset?) {
        self.fileURL = fileURL
        self.descriptor = descriptor
        super.init()
    }

    // MARK: NSSecureCoding, NSCopying

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// An asset from an archive, without a file if the archive names none.
    public required init?(coder: NSCoder) {
        fileURL = coder.optionalString(forKey: "FilePath").map { URL(fileURLWithPath: $0) }
        if let sha256 = coder.optionalBytes(forKey: "SHA256"), sha256.count == FieldAsset.sha256ByteCount,
            let byteCount = coder.optionalInt64(forKey: "ByteCount"), byteCount >= 0
        {
            descriptor = FieldAsset(sha256: sha256, byteCount: byteCount)
        } else {
            descriptor = nil
        }
        super.init()
    }

    /// Writes where the file is, not what is in it.
    public func encode(with coder: NSCoder) {
        coder.encode(string: fileURL?.path, forKey: "FilePath")
        if let descriptor {
            coder.encode(bytes: descriptor.sha256, forKey: "SHA256")
            coder.encode(descriptor.byteCount, forKey: "ByteCount")
        }
    }

    /// The same object: it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: NSObject

    /// Whether both are the same file's, or without a file the same content.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKAsset else { return false }
        guard fileURL == nil, other.fileURL == nil else { return fileURL == other.fileURL }
        return descriptor == nil ? self === other : descriptor == other.descriptor
    }

    /// Equal for equal assets.
    public override var hash: Int {
        fileURL?.hashValue ?? descriptor?.hashValue ?? ObjectIdentifier(self).hashValue
    }
}
