// SPDX-License-Identifier: Apache-2.0

/// The text of a statement with its parameters in their places. Each parameter is the key path to a part of the
/// statement's input. Its type is that of the part.
///
///     let sql: SQL<ZoneKey> = "SELECT id FROM zone WHERE database_id = \(\.database) AND name = \(\.name)"
///
/// A string in the text is SQL of ours, such as a list of columns. It is never a value.
package struct SQL<Input>: ExpressibleByStringInterpolation, Sendable {
    struct Parameter: Sendable {
        let path: [any AnyKeyPath & Sendable]
        let type: PostgresType
        let value: @Sendable (Input) -> PostgresValue

        func isSame(as other: Parameter) -> Bool {
            path.elementsEqual(other.path) { ($0 as AnyKeyPath) == ($1 as AnyKeyPath) }
        }
    }

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
            let parameter = Parameter(path: [path], type: Value.postgresType) { $0[keyPath: path].postgresValue }
            pieces.append(.parameter(parameter))
        }

        /// A parameter that is a part of a part.
        package mutating func appendInterpolation<Part, Value: PostgresParameter>(
            part: any KeyPath<Input, Part> & Sendable, _ path: any KeyPath<Part, Value> & Sendable
        ) {
            let parameter = Parameter(path: [part, path], type: Value.postgresType) { input in
                input[keyPath: part][keyPath: path].postgresValue
            }
            pieces.append(.parameter(parameter))
        }

        /// An array with one part of each element of a list.
        package mutating func appendInterpolation<Element, Value: PostgresParameter>(
            _ list: any KeyPath<Input, [Element]> & Sendable, _ path: any KeyPath<Element, Value> & Sendable
        ) {
            let parameter = Parameter(path: [list, path], type: Value.postgresType.array) { input in
                var array = PostgresArray(of: Value.postgresType)
                for element in input[keyPath: list] { array.append(element[keyPath: path].postgresValue) }
                return .array(array)
            }
            pieces.append(.parameter(parameter))
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
