// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A field's value that is a file. Two are equal when they are the same file's.
public class CKAsset: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// Where the file is; nil while it has not been downloaded.
    public let fileURL: URL?

    /// The file at that URL, which must be a file URL; it is read when the record is saved.
    public init(fileURL: URL) {
        precondition(fileURL.isFileURL, "R-070: an asset is made from a file URL")
        self.fileURL = fileURL
        super.init()
    }

    // MARK: NSSecureCoding, NSCopying

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil when the archive does not hold an asset.
    public required init?(coder: NSCoder) {
        if let path = coder.optionalString(forKey: "FilePath") {
            fileURL = URL(fileURLWithPath: path)
        } else {
            fileURL = nil
        }
        super.init()
    }

    /// Writes where the file is, not what is in it.
    public func encode(with coder: NSCoder) {
        coder.encode(string: fileURL?.path, forKey: "FilePath")
    }

    /// The same object: it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: NSObject

    /// Whether both are the same file's.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKAsset else { return false }
        return fileURL == nil ? self === other : fileURL == other.fileURL
    }

    /// Equal for equal assets.
    public override var hash: Int { fileURL?.hashValue ?? ObjectIdentifier(self).hashValue }
}
