// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields
internal import TidemarkWire

/// A value in a predicate (R-176, R-181).
enum PredicateConstant: Hashable {
    case string(String)
    case integer(Int64)
    case double(Double)
    /// Milliseconds since 1970.
    case date(Int64)
    /// The time when the query is sent.
    case now
    /// A record, or a user, compared by its ID alone (R-182). Without a zone: in the zone that is searched.
    case reference(String, ReferenceZone?)

    /// A zone in the protocol's form: an empty owner is the caller.
    struct ReferenceZone: Hashable {
        let name: String
        let owner: String
    }

    /// - Throws: ``PredicateMistake`` for objects that predicates cannot contain.
    init(_ value: Any) throws(PredicateMistake) {
        switch value {
        case let id as CKRecord.ID: self = .reference(id)
        case let record as CKRecord: self = .reference(record.recordID)
        default:
            guard let object = RecordObject.make(of: value) else {
                throw PredicateMistake("a value of type \(type(of: value)) cannot be compared.")
            }
            self = try Self.make(object)
        }
    }

    private static func make(_ object: NSObject) throws(PredicateMistake) -> PredicateConstant {
        if let reference = object as? CKRecord.Reference { return .reference(reference.recordID) }
        let value: FieldValue
        do throws(FieldObjects.UnstorableObject) {
            value = try FieldObjects.value(of: object, zoneID: .default)
        } catch {
            throw PredicateMistake("the value \(error.text)")
        }
        switch value {
        case .string(let text): return .string(text)
        case .int64(let number): return .integer(number)
        case .double(let number): return .double(number)
        case .date(let date): return .date(date.milliseconds)
        case .location:
            throw PredicateMistake("a location is compared by distanceToLocation:fromLocation: only.")
        default:
            throw PredicateMistake("data, assets and lists cannot be compared. Leave the field out of the predicate.")
        }
    }

    static func reference(_ id: CKRecord.ID) -> PredicateConstant {
        let zone = WireZoneID(id.zoneID)
        return .reference(id.recordName, ReferenceZone(name: zone.name, owner: zone.owner))
    }

    // MARK: The protocol

    func wire(now: Date) -> WireQueryValue {
        var value = WireQueryValue()
        switch self {
        case .string(let text): value.string = text
        case .integer(let number): value.int64 = number
        case .double(let number): value.double = number
        case .date(let milliseconds): value.date = milliseconds
        case .now: value.date = Int64(clamping: Int((now.timeIntervalSince1970 * 1000).rounded()))
        case .reference(let name, let zone):
            value.reference.recordName = name
            if let zone {
                value.reference.zone.name = zone.name
                value.reference.zone.owner = zone.owner
            }
        }
        return value
    }

    init?(_ wire: WireQueryValue) {
        switch wire.value {
        case .string(let text): self = .string(text)
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .date(let milliseconds): self = .date(milliseconds)
        case .reference(let reference):
            let zone = ReferenceZone(name: reference.zone.name, owner: reference.zone.owner)
            self = .reference(reference.recordName, reference.hasZone ? zone : nil)
        case nil: return nil
        }
    }

    /// The constant in the form of a format.
    var text: String {
        switch self {
        case .string(let text): Self.quote(text)
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .date(let milliseconds): "CAST(\(Double(milliseconds) / 1000), 'NSDate')"
        case .now: "now()"
        case .reference(let name, let zone): "<\(zone.map { "\($0.name)/" } ?? "")\(name)>"
        }
    }

    /// By code points, as ``PredicateLexer`` reads them: a quotation mark before an accent is still a quotation mark.
    static func quote(_ text: String) -> String {
        var quoted: [Unicode.Scalar] = ["'"]
        for scalar in text.unicodeScalars {
            if scalar == "'" || scalar == "\\" { quoted.append("\\") }
            quoted.append(scalar)
        }
        return String(String.UnicodeScalarView(quoted + ["'"]))
    }
}
