// SPDX-License-Identifier: Apache-2.0

/// PostgreSQL's code of an error, five characters (appendix *PostgreSQL Error Codes* of its manual).
package struct SQLState: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init(_ code: String) {
        description = code
    }

    package static let uniqueViolation = SQLState("23505")
    package static let inFailedTransaction = SQLState("25P02")
    package static let idleInTransactionTimeout = SQLState("25P03")
    package static let undefinedStatement = SQLState("26000")
    package static let serializationFailure = SQLState("40001")
    package static let deadlockDetected = SQLState("40P01")
    package static let insufficientPrivilege = SQLState("42501")
    package static let duplicateObject = SQLState("42710")
    package static let duplicateDatabase = SQLState("42P04")
    package static let tooManyConnections = SQLState("53300")
    package static let lockNotAvailable = SQLState("55P03")
    package static let queryCancelled = SQLState("57014")
    package static let adminShutdown = SQLState("57P01")
    package static let crashShutdown = SQLState("57P02")
    package static let cannotConnectNow = SQLState("57P03")

    /// Whether the server's message may quote values: classes 22 (data exception) and 23 (violation of a constraint).
    var mayQuoteData: Bool { description.hasPrefix("22") || description.hasPrefix("23") }

    /// Whether the server ends the connection after it: class 57P (operator intervention) and the time-out of idle
    /// transactions.
    var endsConnection: Bool {
        [.adminShutdown, .crashShutdown, .cannotConnectNow, .idleInTransactionTimeout].contains(self)
    }
}
