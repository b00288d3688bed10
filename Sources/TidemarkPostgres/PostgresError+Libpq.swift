// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkLibpq

extension PostgresError {
    /// The error in a result.
    init(result: OpaquePointer) {
        // Some results are made by libpq itself and have no SQLSTATE: the connection ended.
        guard let state = Self.field(result, "C") else {
            self.init(.connectionLost, detail: Self.trimmed(PQresultErrorMessage(result)))
            return
        }
        let parts = [Self.field(result, "M"), Self.field(result, "D"), Self.field(result, "W")]
        self.init(.statement(SQLState(state)), detail: parts.compactMap { $0 }.joined(separator: " | "))
        constraint = Self.field(result, "n")
    }

    /// libpq's last message about a connection.
    static func text(of connection: OpaquePointer?) -> String {
        trimmed(PQerrorMessage(connection))
    }

    /// A field of an error by its letter (postgres_ext.h, PG_DIAG_…).
    private static func field(_ result: OpaquePointer, _ letter: Unicode.Scalar) -> String? {
        PQresultErrorField(result, Int32(letter.value)).map { String(cString: $0) }
    }

    private static func trimmed(_ text: UnsafePointer<CChar>?) -> String {
        guard let text else { return "" }
        var result = String(cString: text)
        while result.last?.isNewline == true { result.removeLast() }
        return result
    }
}
