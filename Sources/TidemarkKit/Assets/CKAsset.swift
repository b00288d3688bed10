// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import TidemarkFields

/// A field's value that is a file. Two assets are equal if they stand for the same file.
///
/// The app owns the file of an asset that it makes. The file is read when the record is saved, and never moved, changed
/// or removed. It must not change until `save` has returned, nor while the same object is saved with `allKeys`.
///
/// The app also owns the file of a fetched asset, and nobody else uses it. Each fetched record has its own files, in a
/// staging directory. Move the file, or leave it. Files that are a day old are removed from time to time. The
/// file is read again only if the database does not have its content any more. So changes to it are not saved (make a
/// new asset), and a record whose file was moved can still be saved. The article <doc:Assets> shows how to keep a file.
public class CKAsset: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// Where the file is; nil while it has not been downloaded.
    public let fileURL: URL?

    /// The asset on the server; nil for a new asset made from a file.
    let descriptor: FieldAsset?

    /// An asset for the file at that URL, which must be a file URL. The file is read when the record is saved.
    public convenience init(fileURL: URL) {
        precondition(fileURL.isFileURL, "An asset is made from a file URL: use URL(fileURLWithPath:).")
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

    /// An asset from an archive. It has no file if the archive names none.
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

    /// Writes the file's URL, not its content.
    public func encode(with coder: NSCoder) {
        coder.encode(string: fileURL?.path, forKey: "FilePath")
        if let descriptor {
            coder.encode(bytes: descriptor.sha256, forKey: "SHA256")
            coder.encode(descriptor.byteCount, forKey: "ByteCount")
        }
    }

    /// The same object, because it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: NSObject

    /// Whether both stand for the same file, or without a file for the same content.
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
