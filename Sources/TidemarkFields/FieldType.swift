// SPDX-License-Identifier: Apache-2.0

/// The type codes of fields in the bytes of a ``FieldMap``.
package enum FieldType: UInt8, Sendable, Hashable, CaseIterable {
    case string = 1
    case int64 = 2
    case double = 3
    case date = 4
    case bytes = 5
    case reference = 6
    case asset = 7
    case location = 8

    /// The key is removed. Only in changes that are sent to the server.
    case removed = 15

    /// A list without elements. It has no element type.
    case emptyList = 16
    case stringList = 17
    case int64List = 18
    case doubleList = 19
    case dateList = 20
    case bytesList = 21
    case referenceList = 22
    case assetList = 23
    case locationList = 24

    package var isList: Bool { rawValue >= FieldType.emptyList.rawValue }

    /// The type of the elements of a list type. Nil for other types and for the empty list.
    package var element: FieldType? {
        rawValue > FieldType.emptyList.rawValue ? FieldType(rawValue: rawValue - FieldType.emptyList.rawValue) : nil
    }
}
