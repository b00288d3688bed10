// SPDX-License-Identifier: Apache-2.0

/// A value of a JSON text (RFC 8259) that others wrote, such as a token or a file of settings.
package enum JSONValue: Sendable, Equatable {
    case null
    case flag(Bool)
    /// Finite.
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object(JSONMembers)

    /// Nil if it is something else.
    package var text: String? { if case .text(let text) = self { text } else { nil } }
    /// Nil if it is something else.
    package var number: Double? { if case .number(let number) = self { number } else { nil } }
    /// Nil if it is something else.
    package var flag: Bool? { if case .flag(let flag) = self { flag } else { nil } }
    /// Nil if it is something else.
    package var list: [JSONValue]? { if case .list(let list) = self { list } else { nil } }
    /// Nil if it is something else.
    package var object: JSONMembers? { if case .object(let object) = self { object } else { nil } }
}

/// An object of a JSON text. It has no name twice.
package struct JSONMembers: Sendable, Equatable {
    /// A member, and in which line its name is, from 1.
    package struct Member: Sendable, Equatable {
        package let name: String
        package let value: JSONValue
        package let line: Int
    }

    /// In the order of the text.
    package private(set) var members: [Member] = []
    /// The line of its first byte, from 1.
    package let line: Int
    private var places: [[UInt8]: Int] = [:]

    init(line: Int) { self.line = line }

    /// - Returns: false if there is a member of this name.
    mutating func add(_ name: String, _ value: JSONValue, line: Int) -> Bool {
        guard places.updateValue(members.count, forKey: Array(name.utf8)) == nil else { return false }
        members.append(Member(name: name, value: value, line: line))
        return true
    }

    /// The member with exactly this name. Names are compared by their bytes, not by what looks alike.
    package func member(_ name: String) -> Member? { places[Array(name.utf8)].map { members[$0] } }

    /// Nil: there is no such member.
    package subscript(_ name: String) -> JSONValue? { member(name)?.value }
}

/// Why a text is no JSON, and in which line, from 1.
package struct JSONError: Error, Equatable, CustomStringConvertible {
    /// The kinds of errors.
    package enum Code: String, Sendable {
        case unexpected = "something is not expected here"
        case unfinished = "the text ends too early"
        case invalidText = "a text is no valid UTF-8, or has a control character or half a character"
        case invalidNumber = "a number is not valid, or too large"
        case nameRepeated = "an object has a name twice"
        case tooDeep = "it is nested too deeply"
    }

    package let code: Code
    package let line: Int

    package init(code: Code, line: Int) {
        self.code = code
        self.line = line
    }

    package var description: String { "line \(line): \(code.rawValue)" }
}
