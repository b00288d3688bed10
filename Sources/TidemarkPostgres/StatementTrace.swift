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
    /// A form that psql can run, once each parameter has a value: the name, the types of the parameters, the SQL.
    var traceText: String {
        let types = parameterTypes.enumerated().map { "$\($0.offset + 1) \($0.element.name)" }
        return "-- \(serverName)\(types.isEmpty ? "" : ": " + types.joined(separator: ", "))\n\(sql);"
    }
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
