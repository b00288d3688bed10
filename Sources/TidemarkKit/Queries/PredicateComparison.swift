// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// Two operands and the operator between them, and which condition of the protocol they are, if any (R-177, R-179,
///
struct PredicateComparison {
    enum Sign {
        case comparison(WireComparisonOperator)
        case between, beginsWith, isIn, contains, tokenMatches

        init?(named name: String) {
            switch name {
            case "=", "==": self = .comparison(.equal)
            case "!=", "<>": self = .comparison(.notEqual)
            case "<": self = .comparison(.less)
            case "<=", "=<": self = .comparison(.lessOrEqual)
            case ">": self = .comparison(.greater)
            case ">=", "=>": self = .comparison(.greaterOrEqual)
            case "BETWEEN": self = .between
            case "BEGINSWITH": self = .beginsWith
            case "IN": self = .isIn
            case "CONTAINS": self = .contains
            case "TOKENMATCHES": self = .tokenMatches
            default: return nil
            }
        }

        /// `c` ignores case, which equality does anyway. The search for words accepts every option.
        func allows(options: String) -> Bool {
            switch self {
            case .comparison(.equal), .comparison(.notEqual), .isIn: options == "c"
            // Whether it applies to a list or to words is known later.
            case .contains, .tokenMatches: true
            case .comparison, .between, .beginsWith: false
            }
        }

        var caseText: String {
            switch self {
            case .comparison(.equal), .comparison(.notEqual), .isIn: "equality is blind to case, not to accents"
            default: "order and BEGINSWITH are case-sensitive"
            }
        }

        /// The operator for swapped operands.
        var flipped: Sign? {
            switch self {
            case .comparison(.less): .comparison(.greater)
            case .comparison(.lessOrEqual): .comparison(.greaterOrEqual)
            case .comparison(.greater): .comparison(.less)
            case .comparison(.greaterOrEqual): .comparison(.lessOrEqual)
            case .comparison: self
            case .isIn: .contains
            case .contains: .isIn
            case .between, .beginsWith, .tokenMatches: nil
            }
        }
    }

    let left: PredicateOperand
    let sign: Sign
    let right: PredicateOperand
    /// Whether ANY or SOME precedes it.
    let isAny: Bool

    var node: PredicateNode {
        get throws(PredicateMistake) {
            switch (left, right) {
            case (.key(let key), _): return try node(key, sign, right)
            case (.words, .constant(.string(let text))):
                switch sign {
                case .contains, .tokenMatches: return .search(text)
                default: throw PredicateMistake("self is searched with CONTAINS only: self CONTAINS 'words'.")
                }
            case (.words, _): throw PredicateMistake("self CONTAINS is followed by a string of words.")
            case (.distance(let key, let place), _): return try near(key, place, sign, right)
            case (_, .distance(let key, let place)): return try near(key, place, sign.flipped, left)
            case (_, .key(let key)):
                guard let flipped = sign.flipped else { throw PredicateMistake("the field's name comes first here.") }
                return try node(key, flipped, left)
            default: throw PredicateMistake("a field is compared with a value. Two values or two fields are not.")
            }
        }
    }

    private func near(
        _ key: String, _ place: PredicateNode.Coordinates, _ sign: Sign?, _ radius: PredicateOperand
    ) throws(PredicateMistake) -> PredicateNode {
        let isInclusive: Bool
        switch sign {
        case .comparison(.less)?: isInclusive = false
        case .comparison(.lessOrEqual)?: isInclusive = true
        default: throw PredicateMistake("a distance is compared with < or <= and a radius in metres.")
        }
        switch radius {
        case .constant(.integer(let metres)):
            return .isNear(key, place, metres: Double(metres), isInclusive: isInclusive)
        case .constant(.double(let metres)): return .isNear(key, place, metres: metres, isInclusive: isInclusive)
        default: throw PredicateMistake("a distance is compared with a radius in metres.")
        }
    }

    private func node(_ key: String, _ sign: Sign, _ operand: PredicateOperand) throws(PredicateMistake)
        -> PredicateNode
    {
        switch (sign, operand) {
        case (.comparison(.equal), .null): return .isPresent(key, false)
        case (.comparison(.notEqual), .null): return .isPresent(key, true)
        case (.comparison(.equal), .constant(let value)) where isAny: return .contains(key, value)
        case (.comparison(let comparison), .constant(let value)) where !isAny: return .compare(key, comparison, value)
        case (.between, .list(let values)) where values.count == 2 && !isAny: return .between(key, values[0], values[1])
        case (.beginsWith, .constant(.string(let prefix))) where !isAny: return .beginsWith(key, prefix)
        case (.isIn, .list(let values)): return isAny ? .containsAny(key, values) : .isIn(key, values)
        case (.contains, .constant(let value)): return .contains(key, value)
        case (.contains, .list(let values)) where isAny: return .containsAny(key, values)
        case (.tokenMatches, _): throw PredicateMistake("TOKENMATCHES goes with self or allTokens only.")
        case (.between, _): throw PredicateMistake("BETWEEN is followed by a list of two values.")
        case (.beginsWith, _): throw PredicateMistake("BEGINSWITH is followed by a string, without ANY.")
        case (.isIn, _): throw PredicateMistake("IN is followed by a list of values.")
        case (.contains, _): throw PredicateMistake("CONTAINS is followed by one value. For several use ANY … IN.")
        case (.comparison, .location):
            throw PredicateMistake("a location is compared by distanceToLocation:fromLocation: only.")
        case (.comparison, _):
            throw PredicateMistake(
                isAny ? "ANY goes with =, IN and CONTAINS only." : "one value is expected here.")
        }
    }
}
