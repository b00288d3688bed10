// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import Synchronization

/// A log: constant text plus key–value pairs, so that lines can be counted and searched.
///
/// ```swift
/// private let log = Log("listener")
/// log.info("listening", ["address": "\(address)"])
/// ```
/// It uses swift-log. An app's own backend decides what happens to the library's lines. The programs of this package
/// call ``Log/writeToStandardError(level:)``.
package struct Log: Sendable {
    /// How urgent a line is. Lines below the level that the program chose are not written.
    package enum Level: String, Sendable, CaseIterable {
        case debug, info, warning, error

        /// All levels, in words for people.
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

    /// How lines look.
    package enum Format: String, Sendable, CaseIterable {
        /// `2026-01-01T00:00:00.000Z info listening address=127.0.0.1:8443`
        case text
        /// A JSON object in each line.
        case json

        /// All formats, in words for people.
        package static let names = allCases.map(\.rawValue).joined(separator: ", ")
    }

    /// The label of what clients do before they have a session, such as a credential that is refused. Each has a line at
    /// debug. `--verbose` is that level for this label alone.
    package static let connectionsLabel = "connections"

    private let logger: Logger

    /// - Parameter label: The part of the program that writes, such as `listener`.
    package init(_ label: String) {
        logger = Logger(label: Self.fullLabel(label))
    }

    private static func fullLabel(_ label: String) -> String { "tidemark.\(label)" }

    /// Whether lines of this level are written. For work that is done for a line alone.
    package func writes(_ level: Level) -> Bool { logger.logLevel <= level.inSwiftLog }

    /// Helps to find a fault.
    package func debug(_ text: StaticString, _ pairs: @autoclosure () -> KeyValuePairs<String, String> = [:]) {
        write(.debug, text, pairs)
    }

    /// A change that an operator may want to know.
    package func info(_ text: StaticString, _ pairs: @autoclosure () -> KeyValuePairs<String, String> = [:]) {
        write(.info, text, pairs)
    }

    /// The program goes on, but the cause should be removed.
    package func warning(_ text: StaticString, _ pairs: @autoclosure () -> KeyValuePairs<String, String> = [:]) {
        write(.warning, text, pairs)
    }

    /// Somebody must act on it.
    package func error(_ text: StaticString, _ pairs: @autoclosure () -> KeyValuePairs<String, String> = [:]) {
        write(.error, text, pairs)
    }

    /// The pairs are made only if the line is written.
    private func write(_ level: Level, _ text: StaticString, _ pairs: () -> KeyValuePairs<String, String>) {
        guard writes(level) else { return }
        var metadata = Logger.Metadata()
        for (key, value) in pairs() { metadata[key] = .string(value) }
        logger.log(level: level.inSwiftLog, "\(text)", metadata: metadata)
    }

    /// Writes a line whose text is put together, for ``FailureLog``.
    @Sendable
    func write(_ level: Level, _ text: String, _ pairs: [String: String]) {
        logger.log(level: level.inSwiftLog, "\(text)", metadata: pairs.mapValues { .string($0) })
    }

    private static let isWriting = Mutex(false)

    /// Writes all logs of the process to standard error from `level` up, one line each. For programs, at start. The first
    /// call counts.
    ///
    /// - Parameters:
    ///   - failureLevel: that of ``FailureLog``; nil: `level`.
    ///   - isVerbose: whether ``connectionsLabel`` has the level debug.
    package static func writeToStandardError(
        level: Level, failureLevel: Level? = nil, format: Format = .text, isVerbose: Bool = false
    ) {
        let isFirst = isWriting.withLock { isWriting in
            defer { isWriting = true }
            return !isWriting
        }
        guard isFirst else { return }
        let swiftLogLevel = level.inSwiftLog
        let failureLevel = (failureLevel ?? level).inSwiftLog
        LoggingSystem.bootstrap { label in
            let level: Logger.Level =
                switch label {
                case Log.fullLabel(Log.connectionsLabel) where isVerbose: .debug
                case Log.fullLabel(FailureLog.label): failureLevel
                default: swiftLogLevel
                }
            return StandardErrorLogHandler(label: label, logLevel: level, format: format)
        }
    }
}
