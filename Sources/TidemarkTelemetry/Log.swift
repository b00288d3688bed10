// SPDX-License-Identifier: Apache-2.0

internal import Logging

/// A log: constant text plus key–value pairs, so that lines can be counted and searched.
///
/// ```swift
/// private let log = Log("listener")
/// log.info("listening", ["address": "\(address)"])
/// ```
/// It goes through swift-log: an app decides with its own backend what becomes of the library's lines; the programs of
/// this package call ``Log/writeToStandardError(level:)``.
package struct Log: Sendable {
    /// How urgent a line is. Lines below the level that the program chose are not written.
    package enum Level: String, Sendable, CaseIterable {
        case debug, info, warning, error

        /// All, for people.
        package static let names = allCases.map(\.rawValue).joined(separator: ", ")

        var inSwiftLog: Logger.Level {
            switch self {
            case .debug: .debug
            case .info: .info
            case .warning: .warning
            case .error: .error
            }
        }
    }

    private let logger: Logger

    /// - Parameter label: The part of the program that speaks, such as `listener`.
    package init(_ label: String) {
        logger = Logger(label: "tidemark.\(label)")
    }

    /// Of use to whoever looks for a fault.
    package func debug(_ text: StaticString, _ pairs: @autoclosure () -> KeyValuePairs<String, String> = [:]) {
        write(.debug, text, pairs)
    }

    /// A change that an operator may want to know of.
    package func info(_ text: StaticString, _ pairs: @autoclosure () -> KeyValuePairs<String, String> = [:]) {
        write(.info, text, pairs)
    }

    /// Something that was survived, but should not go on.
    package func warning(_ text: StaticString, _ pairs: @autoclosure () -> KeyValuePairs<String, String> = [:]) {
        write(.warning, text, pairs)
    }

    /// Something that somebody must see to.
    package func error(_ text: StaticString, _ pairs: @autoclosure () -> KeyValuePairs<String, String> = [:]) {
        write(.error, text, pairs)
    }

    /// The pairs are made only if the line is written.
    private func write(_ level: Level, _ text: StaticString, _ pairs: () -> KeyValuePairs<String, String>) {
        guard logger.logLevel <= level.inSwiftLog else { return }
        var metadata = Logger.Metadata()
        for (key, value) in pairs() { metadata[key] = .string(value) }
        logger.log(level: level.inSwiftLog, "\(text)", metadata: metadata)
    }

    /// Has all logs of the process written to standard error, a line each, from `level` up. For programs; once, at start.
    package static func writeToStandardError(level: Level) {
        let swiftLogLevel = level.inSwiftLog
        LoggingSystem.bootstrap { _ in StandardErrorLogHandler(logLevel: swiftLogLevel) }
    }
}
