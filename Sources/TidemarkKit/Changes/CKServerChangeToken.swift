// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import TidemarkBytes

/// How far a feed of changes has been read. Opaque, and valid for that feed alone.
public class CKServerChangeToken: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The bytes from the server.
    package let bytes: [UInt8]

    /// Stands for a token that has expired and is unknown.
    static var unknown: CKServerChangeToken { CKServerChangeToken(bytes: []) }

    package init(bytes: [UInt8]) {
        self.bytes = bytes
        super.init()
    }

    // MARK: NSSecureCoding, NSCopying

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil when the archive does not hold a token.
    public required init?(coder: NSCoder) {
        guard let bytes = coder.optionalBytes(forKey: "Token") else { return nil }
        self.bytes = bytes
        super.init()
    }

    /// Writes the token.
    public func encode(with coder: NSCoder) {
        coder.encode(bytes: bytes, forKey: "Token")
    }

    /// The same object, because it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: NSObject

    /// Whether both are the same place in the same feed.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKServerChangeToken)?.bytes == bytes
    }

    /// Equal for equal tokens.
    public override var hash: Int { bytes.hashValue }

    /// For people to read.
    public override var description: String { "<CKServerChangeToken \(Base64.encodeURLSafe(bytes))>" }
}
