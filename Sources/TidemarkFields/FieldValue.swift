// SPDX-License-Identifier: Apache-2.0

/// A field's value.
package enum FieldValue: Sendable, Hashable {
    case string(String)
    /// All integers, and truth values as 0 and 1.
    case int64(Int64)
    case double(Double)
    case date(FieldDate)
    case bytes([UInt8])
    case reference(FieldReference)
    case asset(FieldAsset)
    case location(FieldLocation)
    /// The key is removed.
    case removed
    case emptyList
    case strings([String])
    case int64s([Int64])
    case doubles([Double])
    case dates([FieldDate])
    case bytesList([[UInt8]])
    case references([FieldReference])
    case assets([FieldAsset])
    case locations([FieldLocation])

    package var type: FieldType {
        switch self {
        case .string: .string
        case .int64: .int64
        case .double: .double
        case .date: .date
        case .bytes: .bytes
        case .reference: .reference
        case .asset: .asset
        case .location: .location
        case .removed: .removed
        case .emptyList: .emptyList
        case .strings(let list): list.isEmpty ? .emptyList : .stringList
        case .int64s(let list): list.isEmpty ? .emptyList : .int64List
        case .doubles(let list): list.isEmpty ? .emptyList : .doubleList
        case .dates(let list): list.isEmpty ? .emptyList : .dateList
        case .bytesList(let list): list.isEmpty ? .emptyList : .bytesList
        case .references(let list): list.isEmpty ? .emptyList : .referenceList
        case .assets(let list): list.isEmpty ? .emptyList : .assetList
        case .locations(let list): list.isEmpty ? .emptyList : .locationList
        }
    }

    /// - Parameter milliseconds: since 1970-01-01T00:00:00Z.
    package static func date(milliseconds: Int64) -> FieldValue { .date(FieldDate(milliseconds: milliseconds)) }

    /// - Parameter milliseconds: since 1970-01-01T00:00:00Z.
    package static func dates(milliseconds: [Int64]) -> FieldValue {
        .dates(milliseconds.map(FieldDate.init(milliseconds:)))
    }
}

/// A reference to another record.
package struct FieldReference: Sendable, Hashable {
    /// The zone of the target, if it is not the zone of the record that holds the reference.
    package struct Zone: Sendable, Hashable {
        package var name: String
        package var ownerName: String

        package init(name: String, ownerName: String) {
            self.name = name
            self.ownerName = ownerName
        }
    }

    /// The effect on the holder when the target is deleted.
    package enum Action: UInt8, Sendable {
        case none = 0
        case deleteSelf = 1
    }

    package var recordName: String
    /// Nil for the holder's own zone. A server accepts no other zone.
    package var zone: Zone?
    package var action: Action

    package init(recordName: String, zone: Zone? = nil, action: Action = .none) {
        self.recordName = recordName
        self.zone = zone
        self.action = action
    }
}

/// A place, and how it was measured. Units are degrees, metres and metres per second.
package struct FieldLocation: Sendable, Hashable {
    package var latitude: Double
    package var longitude: Double
    package var altitude: Double
    package var horizontalAccuracy: Double
    package var verticalAccuracy: Double
    package var course: Double
    package var speed: Double
    package var timestamp: FieldDate

    package init(
        latitude: Double, longitude: Double, altitude: Double, horizontalAccuracy: Double, verticalAccuracy: Double,
        course: Double, speed: Double, timestamp: FieldDate
    ) {
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.course = course
        self.speed = speed
        self.timestamp = timestamp
    }

    package init(
        latitude: Double, longitude: Double, altitude: Double, horizontalAccuracy: Double, verticalAccuracy: Double,
        course: Double, speed: Double, timestampMilliseconds: Int64
    ) {
        self.init(
            latitude: latitude, longitude: longitude, altitude: altitude, horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy, course: course, speed: speed,
            timestamp: FieldDate(milliseconds: timestampMilliseconds))
    }
}
