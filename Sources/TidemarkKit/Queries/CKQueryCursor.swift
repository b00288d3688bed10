// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import TidemarkBytes
internal import TidemarkWire

extension CKQueryOperation {
    /// How far a query's results have been read.
    public typealias Cursor = CKQueryCursor
}

// NB: Not nested in CKQueryOperation. The keyed archivers of swift-corelibs-foundation stop the process when they meet
// an object whose class is nested in another (`NSStringFromClass`). Use the name `CKQueryOperation.Cursor`.

/// How far a query's results have been read. Use its name `CKQueryOperation.Cursor`.
///
/// It holds the query, its zone and a place in its order. The records after that place are found when it is used, so it
/// may be kept.
public class CKQueryCursor: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The encoded query as it was sent: a `Query` of the protocol.
    let query: [UInt8]
    /// The place as the server sent it.
    let place: [UInt8]

    init(query: [UInt8], place: [UInt8]) {
        self.query = query
        self.place = place
        super.init()
    }

    // MARK: NSSecureCoding, NSCopying

    /// The name of the class in archives, which never changes.
    public override var classForKeyedArchiver: AnyClass? { _CKQueryCursor.self }

    /// The class for objects of that name in archives.
    public override class func classForKeyedUnarchiver() -> AnyClass { CKQueryCursor.self }

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil when the archive does not hold a cursor.
    public required init?(coder: NSCoder) {
        guard let query = coder.optionalBytes(forKey: "Query"), let place = coder.optionalBytes(forKey: "Place") else {
            return nil
        }
        self.query = query
        self.place = place
        super.init()
    }

    /// Writes query and place.
    public func encode(with coder: NSCoder) {
        coder.encode(bytes: query, forKey: "Query")
        coder.encode(bytes: place, forKey: "Place")
    }

    /// The same object, because it cannot change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    // MARK: NSObject

    /// Whether both are the same place in the same query.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKQueryOperation.Cursor else { return false }
        return query == other.query && place == other.place
    }

    /// Equal for equal cursors.
    public override var hash: Int { place.hashValue }

    /// For people to read.
    public override var description: String { "<CKQueryOperation.Cursor \(Base64.encodeURLSafe(place))>" }
}
