// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The arguments of a format's %…, taken one after another.
struct PredicateArguments {
    private let values: [Any]
    private var next = 0

    init(_ values: [Any]) {
        self.values = values
    }

    var isAtEnd: Bool { next == values.count }

    mutating func take(at column: Int) throws(PredicateMistake) -> Any {
        guard next < values.count else { throw PredicateMistake("there is no argument for this %.", at: column) }
        defer { next += 1 }
        return values[next]
    }

    /// %K.
    mutating func takeKey(at column: Int) throws(PredicateMistake) -> String {
        let value = try take(at: column)
        if let key = value as? String { return key }
        if let key = value as? NSString { return String(describing: key) }
        throw PredicateMistake("the argument of %K is a string that names a field.", at: column)
    }

    /// %d, %f and their like.
    mutating func takeNumber(_ kind: Character, at column: Int) throws(PredicateMistake) -> PredicateConstant {
        let value = try take(at: column)
        guard let constant = try? PredicateConstant(value) else {
            throw PredicateMistake("the argument of %\(kind) is a number.", at: column)
        }
        let isReal = "fFgGeE".contains(kind)
        switch constant {
        case .integer(let number): return isReal ? .double(Double(number)) : constant
        case .double(let number):
            if isReal { return constant }
            guard let whole = Int64(exactly: number.rounded(.towardZero)) else { break }
            return .integer(whole)
        default: break
        }
        throw PredicateMistake("the argument of %\(kind) is a number.", at: column)
    }

    /// %@.
    mutating func takeObject(at column: Int) throws(PredicateMistake) -> PredicateOperand {
        let value = try take(at: column)
        do throws(PredicateMistake) {
            return try PredicateOperand(value)
        } catch {
            throw PredicateMistake(error.message, at: column)
        }
    }
}

/// One side of a comparison.
enum PredicateOperand {
    case key(String)
    /// `self`, `allTokens`: all words of the record.
    case words
    case constant(PredicateConstant)
    case list([PredicateConstant])
    case null
    case location(PredicateNode.Coordinates)
    case distance(String, PredicateNode.Coordinates)

    init(_ value: Any) throws(PredicateMistake) {
        switch value {
        case is NSNull: self = .null
        case let location as CLLocation: self = .location(PredicateNode.Coordinates(location))
        case let set as NSSet: self = .list(try Self.constants(set.allObjects))
        case let set as NSOrderedSet: self = .list(try Self.constants(set.array))
        case let array as NSArray: self = .list(try Self.constants(Array(array)))
        case let array as [Any]: self = .list(try Self.constants(array))
        case let set as Set<AnyHashable>: self = .list(try Self.constants(set.map(\.base)))
        default: self = .constant(try PredicateConstant(value))
        }
    }

    private static func constants(_ values: [Any]) throws(PredicateMistake) -> [PredicateConstant] {
        var constants: [PredicateConstant] = []
        for value in values { constants.append(try PredicateConstant(value)) }
        return constants
    }
}
