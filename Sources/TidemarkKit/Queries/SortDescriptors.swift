// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import TidemarkWire

// NB: as with NSPredicate(format:), Foundation's own initializer and `key` are marked unavailable on Linux.

/// Allows `NSSortDescriptor(key:ascending:)` to create a descriptor of this library, and `key` to read it (R-185).
public protocol _CKSortDescriptorKeys {}

extension NSSortDescriptor: _CKSortDescriptorKeys {}

extension _CKSortDescriptorKeys where Self: NSSortDescriptor {
    /// Sorts a query's results by a field, or by a system field (R-183, R-187).
    public init(key: String?, ascending: Bool) {
        // swift-format-ignore: NeverForceUnwrap
        self = _CKSortDescriptor(key ?? "", ascending: ascending) as! Self
    }

    /// The field by which results are sorted; nil for a descriptor of a key path, by which no server can sort.
    public var key: String? {
        switch self {
        case let descriptor as _CKSortDescriptor: descriptor.name
        case let descriptor as CKLocationSortDescriptor: descriptor.name
        default: nil
        }
    }
}

/// The descriptor that `NSSortDescriptor(key:ascending:)` creates: an order for queries, which a server applies
/// (R-185).
public final class _CKSortDescriptor: NSSortDescriptor {
    let name: String

    init(_ name: String, ascending: Bool) {
        self.name = name
        super.init(keyPath: \NSString.length, ascending: ascending)
    }

    /// Nil: descriptors are archived with their queries.
    public required init?(coder: NSCoder) { nil }

    /// The same object, because it cannot change.
    public override func copy(with zone: NSZone? = nil) -> Any { self }

    /// The same key in the other direction.
    public override var reversedSortDescriptor: Any { _CKSortDescriptor(name, ascending: !ascending) }

    /// The order of two records by their fields: numbers, dates and texts by their values, locations not at all. A
    /// record without the field comes first. Texts are ordered by their characters; a server ignores their case. Only
    /// for two `CKRecord`s.
    public override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        guard let first = object1 as? CKRecord, let second = object2 as? CKRecord else {
            preconditionFailure("NSSortDescriptor(key:ascending:) puts records in order, and nothing else.")
        }
        return first.order(to: second, by: name).turned(!ascending)
    }

    /// Whether both have the same key and direction.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? _CKSortDescriptor else { return false }
        return name == other.name && ascending == other.ascending
    }

    /// Equal for equal descriptors.
    public override var hash: Int { name.hashValue }

    /// For people to read.
    public override var description: String { "(\(name), \(ascending ? "ascending" : "descending"))" }
}

/// Sorts a query's results by the distance of a location field from a place, nearest first (R-187).
public class CKLocationSortDescriptor: NSSortDescriptor {
    /// The place from which distances are measured.
    public let relativeLocation: CLLocation
    let name: String

    /// Sorts by the field's distance from a place.
    public init(key: String, relativeLocation: CLLocation) {
        name = key
        self.relativeLocation = relativeLocation
        super.init(keyPath: \NSString.length, ascending: true)
    }

    private init(reversing descriptor: CKLocationSortDescriptor) {
        name = descriptor.name
        relativeLocation = descriptor.relativeLocation
        super.init(keyPath: \NSString.length, ascending: !descriptor.ascending)
    }

    /// Nil: descriptors are archived with their queries.
    public required init?(coder: NSCoder) { nil }

    /// The same object, because it cannot change.
    public override func copy(with zone: NSZone? = nil) -> Any { self }

    /// Farthest first: for records on this device, not for queries.
    public override var reversedSortDescriptor: Any { CKLocationSortDescriptor(reversing: self) }

    /// The order of two records by their distances. A record without a location comes last, as in a query. Only for two
    /// `CKRecord`s.
    public override func compare(_ object1: Any, to object2: Any) -> ComparisonResult {
        guard let first = object1 as? CKRecord, let second = object2 as? CKRecord else {
            preconditionFailure("CKLocationSortDescriptor puts records in order, and nothing else.")
        }
        let distances = [first, second].map { record in
            (record.object(forKey: name) as? CLLocation)?.distance(from: relativeLocation) ?? .infinity
        }
        return ComparisonResult.order(distances[0], distances[1]).turned(!ascending)
    }

    /// Whether both have the same key and place.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKLocationSortDescriptor else { return false }
        return name == other.name && ascending == other.ascending && relativeLocation.isEqual(other.relativeLocation)
    }

    /// Equal for equal descriptors.
    public override var hash: Int { name.hashValue }

    /// For people to read.
    public override var description: String { "(distance of \(name) from \(relativeLocation))" }
}

extension WireSort {
    init(_ descriptor: NSSortDescriptor) throws(PredicateMistake) {
        self.init()
        switch descriptor {
        case let descriptor as _CKSortDescriptor:
            key = descriptor.name
            isDescending = !descriptor.ascending
        case let descriptor as CKLocationSortDescriptor:
            guard descriptor.ascending else {
                // R-187.
                throw PredicateMistake("A query is sorted by distance with the nearest first, not the farthest.")
            }
            key = descriptor.name
            origin = PredicateNode.Coordinates(descriptor.relativeLocation).wire
        default:
            throw PredicateMistake("A query is sorted by field names: NSSortDescriptor(key:ascending:).")
        }
    }

    /// The descriptor from which it was made.
    var descriptor: NSSortDescriptor {
        guard hasOrigin else { return _CKSortDescriptor(key, ascending: !isDescending) }
        let place = CLLocation(latitude: origin.latitude, longitude: origin.longitude)
        return CKLocationSortDescriptor(key: key, relativeLocation: place)
    }
}

extension CKRecord {
    /// By a field, or by one of the record's own dates and names (R-183).
    fileprivate func order(to other: CKRecord, by key: String) -> ComparisonResult {
        switch (sortValue(key), other.sortValue(key)) {
        case (nil, nil): .orderedSame
        case (nil, _): .orderedAscending
        case (_, nil): .orderedDescending
        case (let first as NSDate, let second as NSDate):
            .order(first.timeIntervalSinceReferenceDate, second.timeIntervalSinceReferenceDate)
        case (let first as NSNumber, let second as NSNumber): first.compare(second)
        case (let first as NSString, let second as NSString): first.compare(String(describing: second))
        default: .orderedSame
        }
    }

    private func sortValue(_ key: String) -> NSObject? {
        switch key {
        case SystemFieldKey.recordID: NSString(string: recordID.recordName)
        case SystemFieldKey.creationDate: creationDate.map { $0 as NSDate }
        case SystemFieldKey.modificationDate: modificationDate.map { $0 as NSDate }
        default: object(forKey: key) as? NSObject
        }
    }
}

extension ComparisonResult {
    fileprivate static func order(_ first: Double, _ second: Double) -> ComparisonResult {
        first < second ? .orderedAscending : first > second ? .orderedDescending : .orderedSame
    }

    /// The opposite order, if that is wanted.
    fileprivate func turned(_ isTurned: Bool) -> ComparisonResult {
        isTurned ? ComparisonResult(rawValue: -rawValue) ?? self : self
    }
}
