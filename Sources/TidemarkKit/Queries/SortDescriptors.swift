// SPDX-License-Identifier: Apache-2.0

public import Foundation
internal import TidemarkWire

// NB: as with NSPredicate(format:), Foundation's own initializer is marked unavailable on Linux, and so is `key`.

/// What `NSSortDescriptor(key:ascending:)` needs to give a descriptor of this library, and `key` to tell of it (R-185).
public protocol _CKSortDescriptorKeys {}

extension NSSortDescriptor: _CKSortDescriptorKeys {}

extension _CKSortDescriptorKeys where Self: NSSortDescriptor {
    /// Sorts a query's results by a field, or by a system field (R-183, R-187).
    public init(key: String?, ascending: Bool) {
        // swift-format-ignore: NeverForceUnwrap
        self = _CKSortDescriptor(key ?? "", ascending: ascending) as! Self
    }

    /// The field by which results are sorted; nil for a descriptor of a key path, with which no server can sort.
    public var key: String? {
        switch self {
        case let descriptor as _CKSortDescriptor: descriptor.name
        case let descriptor as CKLocationSortDescriptor: descriptor.name
        default: nil
        }
    }
}

/// What `NSSortDescriptor(key:ascending:)` gives: an order for queries, which a server applies (R-185).
public final class _CKSortDescriptor: NSSortDescriptor {
    let name: String

    init(_ name: String, ascending: Bool) {
        self.name = name
        super.init(keyPath: \NSString.length, ascending: ascending)
    }

    /// Nil: descriptors are archived with their queries.
    public required init?(coder: NSCoder) { nil }

    /// The same object: it cannot change.
    public override func copy(with zone: NSZone? = nil) -> Any { self }

    /// The same key in the other direction.
    public override var reversedSortDescriptor: Any { _CKSortDescriptor(name, ascending: !ascending) }

    /// For people to read.
    public override var description: String { "(\(name), \(ascending ? "ascending" : "descending"))" }
}

/// Sorts a query's results by the distance of a location field from a place, the nearest first (R-187).
public class CKLocationSortDescriptor: NSSortDescriptor {
    /// From where distances are measured.
    public let relativeLocation: CLLocation
    let name: String

    /// Sorts by the field's distance from a place.
    public init(key: String, relativeLocation: CLLocation) {
        name = key
        self.relativeLocation = relativeLocation
        super.init(keyPath: \NSString.length, ascending: true)
    }

    /// Nil: descriptors are archived with their queries.
    public required init?(coder: NSCoder) { nil }

    /// The same object: it cannot change.
    public override func copy(with zone: NSZone? = nil) -> Any { self }

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
            key = descriptor.name
            origin = PredicateNode.Place(descriptor.relativeLocation).wire
        default:
            throw PredicateMistake("A query is sorted by field names: NSSortDescriptor(key:ascending:).")
        }
    }

    /// The descriptor that it was made of.
    var descriptor: NSSortDescriptor {
        guard hasOrigin else { return _CKSortDescriptor(key, ascending: !isDescending) }
        let place = CLLocation(latitude: origin.latitude, longitude: origin.longitude)
        return CKLocationSortDescriptor(key: key, relativeLocation: place)
    }
}
