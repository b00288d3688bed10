// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import TidemarkBytes
internal import TidemarkWire

/// The records that are wanted: a type, a condition, an order.
///
/// Changing the query has no effect on work that was started with it.
public class CKQuery: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    /// The type of the records.
    public let recordType: CKRecord.RecordType
    /// The condition. One that cannot be sent makes the query fail with `invalidArguments`.
    public let predicate: NSPredicate
    private let sorts: Locked<[NSSortDescriptor]?>

    /// Applied in order, ties by record name; nil: in the order of creation.
    public var sortDescriptors: [NSSortDescriptor]? {
        get { sorts.withLock { $0 } }
        set { sorts.withLock { $0 = newValue } }
    }

    /// Records of a type that meet a condition; `NSPredicate(value: true)` for all of them.
    public convenience init(recordType: CKRecord.RecordType, predicate: NSPredicate) {
        self.init(recordType, predicate, nil)
    }

    private init(_ recordType: CKRecord.RecordType, _ predicate: NSPredicate, _ sorts: [NSSortDescriptor]?) {
        self.recordType = recordType
        self.predicate = predicate
        self.sorts = Locked(sorts)
        super.init()
    }

    // MARK: The protocol

    /// - Throws: `invalidArguments` for a predicate or a sort that cannot be sent.
    func wire(in zoneID: CKRecordZone.ID?, now: Date) throws(CKError) -> WireQuery {
        do throws(PredicateMistake) {
            var query = WireQuery()
            query.recordType = recordType
            if let zoneID { query.zone = WireZoneID(zoneID) }
            query.predicate = try PredicateNode(predicate).wire(now: now)
            for descriptor in sortDescriptors ?? [] { query.sorts.append(try WireSort(descriptor)) }
            return query
        } catch {
            throw CKError(.invalidArguments, message: error.message)
        }
    }

    /// The query as the protocol carries it, for tools that have no session.
    ///
    /// - Parameter zoneName: of the current user's zones; nil: all of them.
    /// - Throws: `invalidArguments` for a predicate or a sort that cannot be sent.
    package func encoded(inZoneNamed zoneName: String?) throws(CKError) -> [UInt8] {
        let zoneID = zoneName.map { CKRecordZone.ID(unchecked: $0, ownerName: CKCurrentUserDefaultName) }
        return try wire(in: zoneID, now: Date()).encoded
    }

    /// Nil for what this version does not know.
    convenience init?(_ wire: WireQuery) {
        guard let predicate = NSPredicate.make(wire.predicate) else { return nil }
        self.init(wire.recordType, predicate, wire.sorts.isEmpty ? nil : wire.sorts.map(\.descriptor))
    }

    // MARK: NSSecureCoding, NSCopying

    /// True.
    public class var supportsSecureCoding: Bool { true }

    /// Nil when the archive does not hold a query.
    public required convenience init?(coder: NSCoder) {
        if let bytes = coder.optionalBytes(forKey: "Query") {
            guard let wire = try? WireQuery(reading: bytes) else { return nil }
            self.init(wire)
        } else {
            guard let recordType = coder.optionalString(forKey: "RecordType"),
                let format = coder.optionalString(forKey: "PredicateFormat")
            else { return nil }
            self.init(recordType: recordType, predicate: NSPredicate(format: format))
        }
    }

    /// Writes type, predicate and sorts; the word `now` in a predicate becomes the present time. If a predicate cannot
    /// be sent, only its format is kept. The decoded predicate cannot be sent either.
    public func encode(with coder: NSCoder) {
        if let bytes = try? wire(in: nil, now: Date()).encoded {
            coder.encode(bytes: bytes, forKey: "Query")
        } else {
            coder.encode(string: recordType, forKey: "RecordType")
            coder.encode(string: (predicate as? _CKPredicate)?.predicateFormat ?? "", forKey: "PredicateFormat")
        }
    }

    /// An independent query with the same type, predicate and sorts.
    public func copy(with zone: NSZone? = nil) -> Any { copied }

    var copied: CKQuery { CKQuery(recordType, predicate, sortDescriptors) }

    // MARK: NSObject

    /// For people to read.
    public override var description: String {
        let text = (try? PredicateNode(predicate).text) ?? predicate.description
        return "<CKQuery recordType=\(recordType) predicate=\(text) sortDescriptors=\(sortDescriptors ?? [])>"
    }
}
