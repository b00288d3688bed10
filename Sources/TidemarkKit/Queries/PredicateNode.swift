// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkWire

/// A predicate as a tree: what the protocol carries (R-177).
indirect enum PredicateNode: Hashable {
    case always(Bool)
    case compare(String, WireComparisonOperator, PredicateConstant)
    case between(String, PredicateConstant, PredicateConstant)
    case beginsWith(String, String)
    case isIn(String, [PredicateConstant])
    case contains(String, PredicateConstant)
    case containsAny(String, [PredicateConstant])
    case isPresent(String, Bool)
    case isNear(String, Coordinates, metres: Double, isInclusive: Bool)
    case search(String)
    case and([PredicateNode])
    case not(PredicateNode)

    /// Degrees.
    struct Coordinates: Hashable {
        let latitude: Double
        let longitude: Double
    }

    // MARK: To the protocol

    /// - Parameter now: what the word means in the predicate.
    func wire(now: Date) -> WirePredicate {
        var predicate = WirePredicate()
        switch self {
        case .always(let result): predicate.always = result
        case .compare(let key, let comparison, let value):
            predicate.compare.key = key
            predicate.compare.operator = comparison
            predicate.compare.value = value.wire(now: now)
        case .between(let key, let low, let high):
            predicate.between.key = key
            predicate.between.low = low.wire(now: now)
            predicate.between.high = high.wire(now: now)
        case .beginsWith(let key, let prefix):
            predicate.beginsWith.key = key
            predicate.beginsWith.prefix = prefix
        case .isIn(let key, let values): predicate.isIn = Self.wire(key, values, now)
        case .contains(let key, let value):
            predicate.contains.key = key
            predicate.contains.value = value.wire(now: now)
        case .containsAny(let key, let values): predicate.containsAny = Self.wire(key, values, now)
        case .isPresent(let key, let isPresent):
            predicate.isPresent.key = key
            predicate.isPresent.isPresent = isPresent
        case .isNear(let key, let place, let metres, let isInclusive):
            predicate.isNear.key = key
            predicate.isNear.location = place.wire
            predicate.isNear.metres = metres
            predicate.isNear.isInclusive = isInclusive
        case .search(let text): predicate.search = text
        case .and(let parts): predicate.and.parts = parts.map { $0.wire(now: now) }
        case .not(let part): predicate.not = part.wire(now: now)
        }
        return predicate
    }

    private static func wire(_ key: String, _ values: [PredicateConstant], _ now: Date) -> WireKeyValues {
        var node = WireKeyValues()
        node.key = key
        node.values = values.map { $0.wire(now: now) }
        return node
    }

    // MARK: From the protocol

    /// Nil for what this version does not know.
    init?(_ wire: WirePredicate) {
        switch wire.node {
        case .always(let result): self = .always(result)
        case .compare(let node):
            guard let value = PredicateConstant(node.value) else { return nil }
            self = .compare(node.key, node.operator, value)
        case .between(let node):
            guard let low = PredicateConstant(node.low), let high = PredicateConstant(node.high) else { return nil }
            self = .between(node.key, low, high)
        case .beginsWith(let node): self = .beginsWith(node.key, node.prefix)
        case .isIn(let node):
            guard let values = Self.constants(node) else { return nil }
            self = .isIn(node.key, values)
        case .contains(let node):
            guard let value = PredicateConstant(node.value) else { return nil }
            self = .contains(node.key, value)
        case .containsAny(let node):
            guard let values = Self.constants(node) else { return nil }
            self = .containsAny(node.key, values)
        case .isPresent(let node): self = .isPresent(node.key, node.isPresent)
        case .isNear(let node):
            self = .isNear(node.key, Coordinates(node.location), metres: node.metres, isInclusive: node.isInclusive)
        case .search(let text): self = .search(text)
        case .and(let node):
            let parts = node.parts.compactMap(PredicateNode.init)
            guard parts.count == node.parts.count else { return nil }
            self = .and(parts)
        case .not(let part):
            guard let part = PredicateNode(part) else { return nil }
            self = .not(part)
        case nil: return nil
        }
    }

    private static func constants(_ node: WireKeyValues) -> [PredicateConstant]? {
        let values = node.values.compactMap(PredicateConstant.init)
        return values.count == node.values.count ? values : nil
    }
}

extension PredicateNode.Coordinates {
    init(_ location: CLLocation) {
        self.init(latitude: location.coordinate.latitude, longitude: location.coordinate.longitude)
    }

    init(_ wire: WireQueryLocation) {
        self.init(latitude: wire.latitude, longitude: wire.longitude)
    }

    var wire: WireQueryLocation {
        var location = WireQueryLocation()
        location.latitude = latitude
        location.longitude = longitude
        return location
    }
}

extension PredicateNode {
    /// As it would stand in a format, for people to read.
    var text: String {
        switch self {
        case .always(let result): return result ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .compare(let key, let comparison, let value): return "\(key) \(comparison.text) \(value.text)"
        case .between(let key, let low, let high): return "\(key) BETWEEN {\(low.text), \(high.text)}"
        case .beginsWith(let key, let prefix): return "\(key) BEGINSWITH \(PredicateConstant.quote(prefix))"
        case .isIn(let key, let values): return "\(key) IN \(Self.text(values))"
        case .contains(let key, let value): return "\(key) CONTAINS \(value.text)"
        case .containsAny(let key, let values): return "ANY \(key) IN \(Self.text(values))"
        case .isPresent(let key, let isPresent): return "\(key) \(isPresent ? "!=" : "==") nil"
        case .isNear(let key, let place, let metres, let isInclusive):
            let distance = "distanceToLocation:fromLocation:(\(key), <\(place.latitude), \(place.longitude)>)"
            return "\(distance) \(isInclusive ? "<=" : "<") \(metres)"
        case .search(let text): return "self CONTAINS \(PredicateConstant.quote(text))"
        case .and(let parts):
            if parts.isEmpty { return "TRUEPREDICATE" }
            return parts.map(\.groupedText).joined(separator: " AND ")
        case .not(let part): return "NOT \(part.groupedText)"
        }
    }

    private var groupedText: String {
        switch self {
        case .and, .not: "(\(text))"
        default: text
        }
    }

    private static func text(_ values: [PredicateConstant]) -> String {
        "{" + values.map(\.text).joined(separator: ", ") + "}"
    }
}

extension WireComparisonOperator {
    fileprivate var text: String {
        switch self {
        case .equal: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        case .unspecified, .unrecognized: "?"
        }
    }
}
