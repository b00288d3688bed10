// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields

/// Converts the objects of a record to the values of a ``FieldMap``, and back.
enum FieldObjects {
    /// Why an object cannot be saved. The text ends a sentence that begins with the key.
    struct UnstorableObject: Error {
        let text: String
    }

    // MARK: To objects

    /// Nil for a removal.
    ///
    /// - Parameter file: returns the file of a downloaded asset; called for each place that has one.
    static func object(
        of value: FieldValue, zoneID: CKRecordZone.ID, file: (FieldAsset) -> URL? = { _ in nil }
    ) -> NSObject? {
        switch value {
        case .string(let text): NSString(string: text)
        case .int64(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .date(let date): NSDate(timeIntervalSinceReferenceDate: date.secondsSince2001)
        case .bytes(let bytes): NSData(data: Data(bytes))
        case .reference(let reference): self.reference(reference, zoneID)
        case .asset(let asset): CKAsset(fileURL: file(asset), descriptor: asset)
        case .location(let location): self.location(location)
        case .removed: nil
        case .emptyList: NSArray()
        case .strings(let list): NSArray(array: list.map { NSString(string: $0) })
        case .int64s(let list): NSArray(array: list.map { NSNumber(value: $0) })
        case .doubles(let list): NSArray(array: list.map { NSNumber(value: $0) })
        case .dates(let list): NSArray(array: list.map { NSDate(timeIntervalSinceReferenceDate: $0.secondsSince2001) })
        case .bytesList(let list): NSArray(array: list.map { NSData(data: Data($0)) })
        case .references(let list): NSArray(array: list.map { reference($0, zoneID) })
        case .assets(let list): NSArray(array: list.map { CKAsset(fileURL: file($0), descriptor: $0) })
        case .locations(let list): NSArray(array: list.map(location))
        }
    }

    private static func reference(_ value: FieldReference, _ zoneID: CKRecordZone.ID) -> CKRecord.Reference {
        let zone = value.zone.map { CKRecordZone.ID(unchecked: $0.name, ownerName: $0.ownerName) } ?? zoneID
        return CKRecord.Reference(
            recordID: CKRecord.ID(recordName: value.recordName, zoneID: zone),
            action: value.action == .deleteSelf ? .deleteSelf : .none)
    }

    private static func location(_ value: FieldLocation) -> CLLocation {
        CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: value.latitude, longitude: value.longitude),
            altitude: value.altitude, horizontalAccuracy: value.horizontalAccuracy,
            verticalAccuracy: value.verticalAccuracy, course: value.course, speed: value.speed,
            timestamp: Date(timeIntervalSinceReferenceDate: value.timestamp.secondsSince2001))
    }

    // MARK: To values

    /// The content of assets that were not fetched.
    typealias Assets = [ObjectIdentifier: FieldAsset]

    /// The value for an object, in a record of that zone.
    static func value(
        of object: NSObject, zoneID: CKRecordZone.ID, assets: Assets = [:]
    ) throws(UnstorableObject) -> FieldValue {
        if let array = object as? NSArray { return try list(of: array, zoneID: zoneID, assets: assets) }
        return try scalar(of: object, zoneID: zoneID, assets: assets)
    }

    ///
    private static func scalar(
        of object: NSObject, zoneID: CKRecordZone.ID, assets: Assets
    ) throws(UnstorableObject) -> FieldValue {
        switch object {
        case let text as NSString: return .string(String(describing: text))
        case let number as NSNumber: return try self.number(number)
        case let date as NSDate: return .date(try self.date(date.timeIntervalSinceReferenceDate))
        case let data as NSData: return .bytes(data.byteArray)
        case let reference as CKRecord.Reference: return .reference(value(of: reference, zoneID))
        case let location as CLLocation: return .location(try value(of: location))
        case let asset as CKAsset:
            guard let content = assets[ObjectIdentifier(asset)] ?? asset.descriptor else {
                throw UnstorableObject(text: "is an asset whose file was not read. Set a new asset with a file.")
            }
            return .asset(content)
        case is NSArray: throw UnstorableObject(text: "is a list of lists. A list can hold single values only.")
        default:
            throw UnstorableObject(
                text: "is of a type that cannot be saved. Use a string, number, date, data, location, reference or "
                    + "asset.")
        }
    }

    private static func number(_ number: NSNumber) throws(UnstorableObject) -> FieldValue {
        // Only objCType distinguishes 1 from 1.0.
        let type = UInt8(bitPattern: number.objCType.pointee)
        if type == UInt8(ascii: "d") || type == UInt8(ascii: "f") { return .double(number.doubleValue) }
        if type == UInt8(ascii: "Q"), Int64(exactly: number.uint64Value) == nil {
            throw UnstorableObject(text: "is an integer that does not fit into Int64. Use a smaller one, or a string.")
        }
        return .int64(number.int64Value)
    }

    /// - Parameter seconds: since 2001.
    private static func date(_ seconds: Double) throws(UnstorableObject) -> FieldDate {
        guard let date = FieldDate(secondsSince2001: seconds) else {
            throw UnstorableObject(
                text: "is a date whose number of seconds is \(seconds). Use a date with a finite number.")
        }
        return date
    }

    /// A reference within the zone is written without the zone, so that it means the same to all users of the zone.
    private static func value(of reference: CKRecord.Reference, _ zoneID: CKRecordZone.ID) -> FieldReference {
        let target = reference.recordID
        return FieldReference(
            recordName: target.recordName,
            zone: target.zoneID == zoneID
                ? nil : FieldReference.Zone(name: target.zoneID.zoneName, ownerName: target.zoneID.ownerName),
            action: reference.action == .deleteSelf ? .deleteSelf : .none)
    }

    private static func value(of location: CLLocation) throws(UnstorableObject) -> FieldLocation {
        FieldLocation(
            latitude: location.coordinate.latitude, longitude: location.coordinate.longitude,
            altitude: location.altitude, horizontalAccuracy: location.horizontalAccuracy,
            verticalAccuracy: location.verticalAccuracy, course: location.course, speed: location.speed,
            timestamp: try date(location.timestamp.timeIntervalSinceReferenceDate))
    }

    // MARK: Lists

    ///
    private static func list(
        of array: NSArray, zoneID: CKRecordZone.ID, assets: Assets
    ) throws(UnstorableObject) -> FieldValue {
        var values: [FieldValue] = []
        values.reserveCapacity(array.count)
        for element in array {
            // An NSArray returns Swift values for objects that can be bridged.
            guard let object = RecordObject.make(of: element) else {
                throw UnstorableObject(text: "is a list with elements that cannot be saved. Remove them.")
            }
            values.append(try scalar(of: object, zoneID: zoneID, assets: assets))
        }
        guard let type = values.first?.type else { return .emptyList }
        let list: FieldValue? =
            switch type {
            case .string:
                collect(values) { if case .string(let value) = $0 { value } else { nil } }.map { .strings($0) }
            case .int64: collect(values) { if case .int64(let value) = $0 { value } else { nil } }.map { .int64s($0) }
            case .double:
                collect(values) { if case .double(let value) = $0 { value } else { nil } }.map { .doubles($0) }
            case .date:
                collect(values) { if case .date(let value) = $0 { value } else { nil } }.map { .dates($0) }
            case .bytes:
                collect(values) { if case .bytes(let value) = $0 { value } else { nil } }.map { .bytesList($0) }
            case .reference:
                collect(values) { if case .reference(let value) = $0 { value } else { nil } }.map { .references($0) }
            case .asset: collect(values) { if case .asset(let value) = $0 { value } else { nil } }.map { .assets($0) }
            case .location:
                collect(values) { if case .location(let value) = $0 { value } else { nil } }.map { .locations($0) }
            default: nil
            }
        guard let list else {
            throw UnstorableObject(text: "is a list with elements of several types. Use elements of one type.")
        }
        return list
    }

    /// Nil unless every value is of the kind that `take` accepts.
    private static func collect<Element>(_ values: [FieldValue], _ take: (FieldValue) -> Element?) -> [Element]? {
        let elements = values.compactMap(take)
        return elements.count == values.count ? elements : nil
    }
}

extension FieldObjects {
    /// Whether the server would store the same for both; nil stands for no value. A file that was never saved equals
    /// only itself.
    static func areStoredAlike(_ left: NSObject?, _ right: NSObject?, _ zoneID: CKRecordZone.ID) -> Bool {
        if left == right { return true }
        guard let left, let right, let one = try? value(of: left, zoneID: zoneID),
            let other = try? value(of: right, zoneID: zoneID)
        else { return false }
        return one == other
    }
}
