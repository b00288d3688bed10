// SPDX-License-Identifier: Apache-2.0

/// The text of a statement with its parameters in their places. Each parameter is the key path to a part of the
/// statement's input. Its type is that of the part.
///
///     let sql: SQL<ZoneKey> = "SELECT id FROM zone WHERE database_id = \(\.database) AND name = \(\.name)"
///
/// A string in the text is SQL of ours, such as a list of columns. It is never a value.
package struct SQL<Input>: ExpressibleByStringInterpolation, Sendable {
    /// A part of the input as a parameter.
    struct Parameter: Sendable {
        let path: [any AnyKeyPath & Sendable]
        let type: PostgresType
        let value: PartReader

        func isSame(as other: Parameter) -> Bool {
            type == other.type && path.elementsEqual(other.path) { ($0 as AnyKeyPath) == ($1 as AnyKeyPath) }
        }
    }

    /// A piece of a literal.
    fileprivate enum Piece: Sendable {
        case text(String)
        case parameter(Parameter)
    }

    private let pieces: [Piece]

    package init(stringLiteral text: String) { pieces = [.text(text)] }
    package init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

    /// The parts with commas between them.
    package init(joining parts: [SQL]) {
        pieces = Array(parts.map(\.pieces).joined(separator: [.text(", ")]))
    }

    /// Collects the text and the parameters of a literal.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var pieces: [Piece] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}
        package mutating func appendLiteral(_ text: String) { pieces.append(.text(text)) }
        package mutating func appendInterpolation(_ text: String) { pieces.append(.text(text)) }
        package mutating func appendInterpolation(_ part: SQL) { pieces += part.pieces }

        /// A parameter. The same part of the input is one parameter, wherever it stands.
        package mutating func appendInterpolation<Value: PostgresParameter>(
            _ path: any KeyPath<Input, Value> & Sendable
        ) {
            append([path], Value.postgresType, PartReader(path))
        }

        /// A parameter that is a part of a part.
        package mutating func appendInterpolation<Part, Value: PostgresParameter>(
            part: any KeyPath<Input, Part> & Sendable, _ path: any KeyPath<Part, Value> & Sendable
        ) {
            append([part, path], Value.postgresType, PartReader(of: part, PartReader(path)))
        }

        /// A part of the first element of a list, which is not empty.
        package mutating func appendInterpolation<Element, Value: PostgresParameter>(
            first list: any KeyPath<Input, [Element]> & Sendable, _ path: any KeyPath<Element, Value> & Sendable
        ) {
            append([list, path], Value.postgresType, PartReader(ofFirst: list, PartReader(path)))
        }

        /// An array with one part of each element of a list.
        package mutating func appendInterpolation<Element, Value: PostgresParameter>(
            _ list: any KeyPath<Input, [Element]> & Sendable, _ path: any KeyPath<Element, Value> & Sendable
        ) {
            append(
                [list, path], Value.postgresType.array,
                PartReader(ofEach: list, PartReader(path), type: Value.postgresType))
        }

        mutating func append(
            _ path: [any AnyKeyPath & Sendable], _ type: PostgresType, _ value: PartReader
        ) {
            pieces.append(.parameter(Parameter(path: path, type: type, value: value)))
        }
    }

    /// The text with `$1`, `$2`, … and the parameters in that order.
    var numbered: (text: String, parameters: [Parameter]) {
        var (text, parameters) = ("", [Parameter]())
        for piece in pieces {
            switch piece {
            case .text(let part): text += part
            case .parameter(let parameter):
                let index = parameters.firstIndex(where: parameter.isSame) ?? parameters.count
                if index == parameters.count { parameters.append(parameter) }
                text += "$\(index + 1)"
            }
        }
        return (text, parameters)
    }
}
