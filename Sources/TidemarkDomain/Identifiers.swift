// SPDX-License-Identifier: Apache-2.0

/// Somebody who holds credentials, known to the whole server.
package struct AccountID: Hashable, Sendable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
}

/// A container in one of its two environments.
package struct ContainerID: Hashable, Sendable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
}

/// An account as one container knows it. The same person is another user in another container.
package struct UserID: Hashable, Sendable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
}

/// A database that owns rows: a user's private database, or a container's public one.
///
/// It is the first part of every key in storage. A shared database owns no rows: it is a view.
package struct DatabaseID: Hashable, Comparable, Sendable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// One incarnation of a zone. A zone that is deleted and created again is another incarnation.
///
/// Unique in the store and growing with time, so that tokens and tags can name the incarnation.
package struct ZoneID: Hashable, Comparable, Sendable {
    package let rawValue: Int64
    package init(_ rawValue: Int64) { self.rawValue = rawValue }
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A zone by its name, as a request gives it. The zone may not exist.
package struct ZoneKey: Hashable, Comparable, Sendable {
    package let database: DatabaseID
    package let name: String

    package init(database: DatabaseID, name: String) {
        self.database = database
        self.name = name
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.database == right.database ? left.name < right.name : left.database < right.database
    }
}

extension [ZoneKey] {
    /// The names in each database. Databases and names stay in the order in which they first appear.
    package var byDatabase: [(database: DatabaseID, names: [String])] {
        var groups: [(database: DatabaseID, names: [String])] = []
        var places: [DatabaseID: Int] = [:]
        for key in self {
            if let place = places[key.database] {
                groups[place].names.append(key.name)
            } else {
                places[key.database] = groups.count
                groups.append((key.database, [key.name]))
            }
        }
        return groups
    }
}

/// One incarnation of the store. A restore from a backup begins a new one, which makes all older tokens and tags void
///
package struct StoreIncarnation: Hashable, Sendable {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }

    /// The incarnation that begins with a restore. Its upper half names the one before. So clients can tell which
    /// versions both have in common.
    ///
    /// - Parameter mark: random, so that two restores of one backup begin two different incarnations.
    package func next(mark: UInt32) -> StoreIncarnation {
        StoreIncarnation(rawValue << 32 | UInt64(mark))
    }
}

/// A device of an account, or one life of a device: 128 random bits that the device chose. Two accounts may use
/// the same bits.
package struct DeviceID: Hashable, Comparable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The life of a change that no device made. Such a change is pushed to every device.
    package static let nobody = DeviceID(high: 0, low: 0)

    /// The bits mixed with the user's ID: another user with the same bits has another value. To choose bits that give
    /// another user's value, one must know that user's bits, which are secret.
    package func marked(with user: UserID) -> DeviceID {
        DeviceID(high: high ^ (UInt64(bitPattern: user.rawValue) &* 0x9E37_79B9_7F4A_7C15), low: low)
    }

    /// From 16 bytes in network order; nil for any other count.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        func number(_ slice: ArraySlice<UInt8>) -> UInt64 { slice.reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: number(bytes[..<8]), low: number(bytes[8...]))
    }

    /// 16 bytes in network order.
    package var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16) { bytes, count in
            for index in 0..<8 {
                let shift = UInt64(56 - 8 * index)
                bytes[index] = UInt8(truncatingIfNeeded: high >> shift)
                bytes[8 + index] = UInt8(truncatingIfNeeded: low >> shift)
            }
            count = 16
        }
    }

    package static func < (left: Self, right: Self) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }
}

/// The position of a change in its zone: 1 for the first, and one more with every record that changes (I-3).
package typealias ChangeNumber = Int64

extension ChangeNumber {
    /// The number from which a zone goes on after a restore. It tells versions saved after the restore from those of
    /// the backup. There is room for 2^40 versions in one incarnation of the store, and for 2^23 incarnations.
    package var inNextLife: ChangeNumber { (self >> 40 + 1) << 40 }
}

extension ZoneID {
    /// How far a restore moves on the numbers of new zones. Without the gap, a new zone could get the number of a zone
    /// that was made after the backup and is lost.
    package static let gapBetweenLives: Int64 = 1 << 32
}

/// Milliseconds since 1970-01-01 00:00 UTC: the precision of every date that the protocol carries.
package struct Timestamp: Hashable, Comparable, Sendable {
    package let milliseconds: Int64
    package init(milliseconds: Int64) { self.milliseconds = milliseconds }
    package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}
