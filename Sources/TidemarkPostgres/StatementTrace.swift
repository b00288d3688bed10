// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Hears of each statement that a task sends, for `tidemark admin --debug`. Values are not told: they may be secrets of
/// users.
package enum StatementTrace {
    /// Is told a statement's text, on the thread that sends it.
    package typealias Hearer = @Sendable (_ text: String) -> Void

    @TaskLocal private static var listener: Hearer?
    /// Whether anybody has ever listened. Servers that nobody debugs pay for one load of this.
    private static let isUsed = Atomic<Bool>(false)

    /// Runs `body`, and tells `listener` what it sends, also in the tasks that it starts.
    package static func with<Value>(_ listener: @escaping Hearer, _ body: () async throws -> Value) async rethrows
        -> Value
    {
        isUsed.store(true, ordering: .relaxed)
        return try await $listener.withValue(listener, operation: body)
    }

    static func note(_ batch: [BoundStatement]) {
        guard isUsed.load(ordering: .relaxed), let listener else { return }
        for bound in batch { listener(bound.statement.traceText) }
    }

    static func note(script: String) {
        guard isUsed.load(ordering: .relaxed), let listener else { return }
        listener(script + ";")
    }
}

extension Statement {
    /// A form that psql can run, once its variables are set: the name, the variables with their types, and the SQL with a
    /// variable in the place of each parameter.
    var traceText: String {
        let types = parameterTypes.map(\.name)
        let names = ParameterName.unique(parameterNames(), count: types.count)
        let list = zip(names, types).map { "\($0) \($1)" }.joined(separator: ", ")
        let text = ParameterName.naming(sql, names, types: types)
        return "-- \(serverName)\(list.isEmpty ? "" : ": \(list)")\n\(text);"
    }
}

/// What parameters are called where people read SQL.
enum ParameterName {
    /// The last word of a path to a part of a statement's input: `name` of `\.zone.name`. Empty: it has none, as a part that
    /// is computed.
    static func word(of path: [any AnyKeyPath & Sendable]) -> String {
        path.last.map { word(of: ($0 as AnyKeyPath).debugDescription) } ?? ""
    }

    /// - Parameter description: of a path, as Swift writes it.
    static func word(of description: String) -> String {
        let last = description.split(separator: ".", omittingEmptySubsequences: false).last ?? ""
        let word = last.last == "?" || last.last == "!" ? last.dropLast() : last
        guard let first = word.utf8.first, !isDigit(first), word.utf8.allSatisfy({ isLetter($0) || isDigit($0) }) else {
            return ""
        }
        return word == "self" ? "value" : String(word)
    }

    /// A name for each of `count` parameters, and none twice.
    static func unique(_ names: [String], count: Int) -> [String] {
        var (taken, result) = (Set<String>(), [String]())
        for index in 0..<count {
            let name = names.indices.contains(index) && !names[index].isEmpty ? names[index] : "p\(index + 1)"
            var other = name
            var number = 2
            while !taken.insert(other).inserted {
                other = "\(name)_\(number)"
                number += 1
            }
            result.append(other)
        }
        return result
    }

    /// SQL with variables of psql in the place of `$1`, `$2`, …
    static func naming(_ sql: String, _ names: [String], types: [String]) -> String {
        var (result, rest) = ("", sql[...])
        while let mark = rest.firstIndex(of: "$") {
            result += rest[..<mark]
            rest = rest[rest.index(after: mark)...]
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard let number = Int(digits), names.indices.contains(number - 1) else {
                result += "$"
                continue
            }
            // In parentheses: an index may follow.
            result += "(:'\(names[number - 1])'::\(types[number - 1]))"
            rest = rest[digits.endIndex...]
        }
        return result + rest
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension PostgresType {
    /// As SQL names it.
    fileprivate var name: String { Self.names[self] ?? "oid \(rawValue)" }

    private static let names: [PostgresType: String] = [
        .bool: "boolean", .bytea: "bytea", .int8: "bigint", .int2: "smallint", .int4: "integer", .text: "text",
        .float8: "double precision", .timestamptz: "timestamptz", .uuid: "uuid", .boolArray: "boolean[]",
        .byteaArray: "bytea[]", .int4Array: "integer[]", .textArray: "text[]", .int8Array: "bigint[]",
        .timestamptzArray: "timestamptz[]", .uuidArray: "uuid[]", .float8Array: "double precision[]",
    ]
}
