// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkAdmin
internal import TidemarkTelemetry

/// What a server writes to its log, and how (R-821 … R-824).
struct LogOptions: ParsableArguments {
    @Option(help: ServeSetting.help("log-level")) var logLevel: String?

    @Option(help: ServeSetting.help("log-format")) var logFormat: String?

    @Flag(help: ServeSetting.help("verbose")) var verbose = false

    @Option(help: ServeSetting.help("slow-request-ms")) var slowRequestMs: Int?

    /// Begins to write the log.
    ///
    /// - Parameter standard: the level without `--log-level`.
    func begin(standard: Log.Level) throws(AdminFailure) {
        let level = try Setting.optional(logLevel, "--log-level").flatMap(Log.Level.init) ?? standard
        let format = try Setting.optional(logFormat, "--log-format").flatMap(Log.Format.init) ?? .text
        Log.writeToStandardError(level: level, format: format, isVerbose: try isVerbose)
    }

    var isVerbose: Bool {
        get throws(AdminFailure) { try Setting.flag(verbose, "--verbose") }
    }

    /// Nil: no request is slow.
    func slowRequestTime() throws(AdminFailure) -> Duration? {
        let milliseconds = try Setting.number(slowRequestMs, "--slow-request-ms", default: 1_000)
        return milliseconds == 0 ? nil : .milliseconds(milliseconds)
    }
}
