// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from Protos/Fields.proto. Change that, and run `make protocol`.

/// The tags of fields: number and wire type in one byte.
enum FieldTag {
    enum FieldMap {
        static let fields: UInt8 = 10
    }
    enum Field {
        static let key: UInt8 = 10
        static let encrypted: UInt8 = 16
        static let type: UInt8 = 24
        static let string: UInt8 = 34
        static let int64: UInt8 = 40
        static let double: UInt8 = 49
        static let date: UInt8 = 56
        static let bytes: UInt8 = 66
        static let reference: UInt8 = 74
        static let asset: UInt8 = 82
        static let location: UInt8 = 90
        static let list: UInt8 = 98
        static let exactDate: UInt8 = 105
    }
    enum Reference {
        static let recordName: UInt8 = 10
        static let zoneName: UInt8 = 18
        static let ownerName: UInt8 = 26
        static let action: UInt8 = 32
    }
    enum Asset {
        static let sha256: UInt8 = 10
        static let byteCount: UInt8 = 16
    }
    enum Location {
        static let latitude: UInt8 = 9
        static let longitude: UInt8 = 17
        static let altitude: UInt8 = 25
        static let horizontalAccuracy: UInt8 = 33
        static let verticalAccuracy: UInt8 = 41
        static let course: UInt8 = 49
        static let speed: UInt8 = 57
        static let timestamp: UInt8 = 64
        static let exactTimestamp: UInt8 = 73
    }
    enum List {
        static let strings: UInt8 = 10
        static let int64s: UInt8 = 18
        static let doubles: UInt8 = 26
        static let dates: UInt8 = 34
        static let bytes: UInt8 = 42
        static let references: UInt8 = 50
        static let assets: UInt8 = 58
        static let locations: UInt8 = 66
        static let exactDates: UInt8 = 74
    }
}
