// SPDX-License-Identifier: Apache-2.0

import Foundation
import StorageConformance
import Testing
import TidemarkBytes
import TidemarkDomain
import TidemarkFields
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkTranslation
import TidemarkWire

@testable import TidemarkKit

/// Random trees as formats that apps might write, through parser and protocol, to the server's tree.
@Suite struct PredicateNodeTests {
    static let viewpoint = Viewpoint(
        user: UserID(11), userRecordName: "_me", database: DatabaseID(1), device: DeviceID(high: 1, low: 1),
        store: StoreIncarnation(1))

    @Test func `R-177 … R-183, R-185: what a format says is what the server evaluates`() throws {
        var chance = RandomQueries(SeededRandom())
        let seed = chance.random.seed
        for _ in 0..<250 {
            var query = chance.query()
            query.predicate = query.predicate.sayable
            var writer = FormatWriter(random: chance.random)
            let format = writer.text(of: query.predicate)
            chance.random = writer.random
            let client = CKQuery(
                recordType: query.recordType, predicate: NSPredicate(format: format, argumentArray: writer.arguments))
            client.sortDescriptors = query.sorts.compactMap(\.descriptor)
            query.sorts = query.sorts.filter { $0.descriptor != nil }
            let zoneID = query.zoneName.map { CKRecordZone.ID(zoneName: $0) }
            let bytes: [UInt8] = try client.wire(in: zoneID, now: Date()).encoded
            let server = try Query(WireQuery(reading: bytes), by: Self.viewpoint, limits: Limits())
            #expect(server.digest == query.digest, "seed \(seed): \(format)\n\(server)\n\(query)")
            #expect(
                server.refusal(fields: .unknown, scope: .private, limits: Limits()) == nil, "seed \(seed): \(format)")
            let copy = try archived(client)
            #expect(try copy.wire(in: zoneID, now: Date()).encoded == bytes, "seed \(seed): \(format)")
        }
    }
}

extension QuerySort {
    /// Nil: CKLocationSortDescriptor has no descending order.
    fileprivate var descriptor: NSSortDescriptor? {
        guard let origin else { return NSSortDescriptor(key: key.description, ascending: isAscending) }
        let place = CLLocation(latitude: origin.latitude, longitude: origin.longitude)
        return isAscending ? CKLocationSortDescriptor(key: key.description, relativeLocation: place) : nil
    }
}

extension QueryPredicate {
    /// The same as a format can say it: ANDs have two parts, a record has a zone, a user is the caller or a stranger.
    fileprivate var sayable: QueryPredicate {
        switch self {
        case .compare(let key, let comparison, let value): .compare(key, comparison, value.sayable)
        case .between(let key, let low, let high): .between(key, low.sayable, high.sayable)
        case .isIn(let key, let values): .isIn(key, values.map(\.sayable))
        case .contains(let key, let value): .contains(key, value.sayable)
        case .containsAny(let key, let values): .containsAny(key, values.map(\.sayable))
        case .and(let parts):
            parts.isEmpty ? .always(true) : parts.count == 1 ? parts[0].sayable : .and(parts.map(\.sayable))
        case .not(let part): .not(part.sayable)
        default: self
        }
    }
}

extension QueryValue {
    fileprivate var sayable: QueryValue {
        switch self {
        case .reference(var reference):
            if reference.zone == .holder { reference.zone = .named("A") }
            return .reference(reference)
        case .user(let user): return .user(user == UserID(11) ? user : nil)
        default: return self
        }
    }
}

/// Writes a tree as one of the many formats that mean it.
private struct FormatWriter {
    var random: SeededRandom
    var arguments: [Any] = []

    private mutating func pick(_ words: String...) -> String { words.randomElement(using: &random) ?? "" }
    private mutating func chance() -> Bool { Bool.random(using: &random) }

    mutating func text(of predicate: QueryPredicate) -> String {
        switch predicate {
        case .always(let result): return result ? pick("TRUEPREDICATE", "truepredicate") : "FALSEPREDICATE"
        case .compare(let key, let comparison, let value):
            let sign = sign(comparison)
            if chance() { return "\(text(of: key)) \(sign.0)\(pick("", " "))\(text(of: value))" }
            let constant = text(of: value)
            return "\(constant) \(sign.1) \(text(of: key))"
        case .between(let key, let low, let high): return "\(text(of: key)) BETWEEN \(list([low, high]))"
        case .beginsWith(let key, let prefix): return "\(text(of: key)) beginswith \(text(of: .string(prefix)))"
        case .isIn(let key, let values): return "\(text(of: key)) IN \(list(values))"
        case .contains(let key, let value):
            if chance() {
                return "\(pick("", "ANY ", "some "))\(text(of: key)) \(pick("CONTAINS", "Contains")) \(text(of: value))"
            }
            let constant = text(of: value)
            return "\(constant) in \(text(of: key))"
        case .containsAny(let key, let values): return "ANY \(text(of: key)) IN \(list(values))"
        case .isPresent(let key, let isPresent):
            return "\(text(of: key)) \(isPresent ? pick("!=", "<>") : pick("=", "==")) \(pick("nil", "NULL"))"
        case .isNear(let key, let place, let metres, let isInclusive):
            let name = text(of: key)
            arguments.append(CLLocation(latitude: place.latitude, longitude: place.longitude))
            let radius = text(of: .double(metres))
            return "distanceToLocation:fromLocation:(\(name), %@) \(isInclusive ? "<=" : "<") \(radius)"
        case .search(let text):
            return
                "\(pick("self CONTAINS[cd]", "SELF contains", "allTokens TOKENMATCHES[cdl]")) \(self.text(of: .string(text)))"
        case .and(let parts): return parts.map { grouped($0) }.joined(separator: pick(" AND ", " && ", " and "))
        case .not(let part): return pick("NOT ", "!", "not ") + grouped(part)
        }
    }

    private mutating func grouped(_ predicate: QueryPredicate) -> String {
        if case .and = predicate { return "(\(text(of: predicate)))" }
        return chance() ? "(\(text(of: predicate)))" : text(of: predicate)
    }

    private mutating func text(of key: QueryKey) -> String {
        if chance() { return key.description }
        arguments.append(key.description)
        return "%K"
    }

    private mutating func list(_ values: [QueryValue]) -> String {
        if chance() { return "{" + values.map { text(of: $0) }.joined(separator: ", ") + "}" }
        arguments.append(values.map(object))
        return "%@"
    }

    private mutating func text(of value: QueryValue) -> String {
        switch value {
        case .string(let text) where chance():
            return "'" + text.replacingOccurrences(of: "'", with: "\\'") + "'"
        case .int64(let number) where chance(): return "\(number)"
        case .double(let number) where number.isFinite && chance(): return "\(number)"
        case .int64, .double:
            arguments.append(object(value))
            if case .int64 = value { return pick("%@", "%ld", "%d") }
            return pick("%@", "%f", "%g")
        default:
            arguments.append(object(value))
            return "%@"
        }
    }

    private func object(_ value: QueryValue) -> Any {
        switch value {
        case .string(let text): return text
        case .int64(let number): return number
        case .double(let number): return number
        case .date(let milliseconds): return Date(timeIntervalSince1970: Double(milliseconds) / 1_000)
        case .reference(let reference):
            let zoneID =
                switch reference.zone {
                case .named(let name): CKRecordZone.ID(zoneName: name)
                case .holder: CKRecordZone.ID.default
                case .elsewhere: CKRecordZone.ID(zoneName: "A", ownerName: "_stranger")
                }
            return CKRecord.ID(recordName: reference.recordName, zoneID: zoneID)
        case .user(let user): return CKRecord.ID(recordName: user == nil ? "_stranger" : CKCurrentUserDefaultName)
        }
    }

    /// As it stands between key and value, and between value and key.
    private mutating func sign(_ comparison: QueryComparison) -> (String, String) {
        switch comparison {
        case .equal: (pick("=", "=="), "=")
        case .notEqual: (pick("!=", "<>"), "!=")
        case .less: ("<", ">")
        case .lessOrEqual: (pick("<=", "=<"), ">=")
        case .greater: (">", "<")
        case .greaterOrEqual: (pick(">=", "=>"), "<=")
        }
    }
}
