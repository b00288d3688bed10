// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkAdmin
internal import TidemarkTelemetry

/// What a server writes to its log, and how (R-821 … R-824).
struct LogOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The lowest level that is written to standard error: \(Log.Level.names).",
            discussion:
                "Default: info; of `dev` warning. debug has a line for each request, with the operation group that the "
                + "app gave it.",
            valueName: "level"))
    var logLevel: String?

    @Option(
        help: ArgumentHelp(
            "How lines look: \(Log.Format.names).",
            discussion: "Default: text. json is one object for each line, with time, level, label and message.",
            valueName: "format"))
    var logFormat: String?

    @Flag(
        help: ArgumentHelp(
            "Tell each refused credential, failed TLS handshake and created container.",
            discussion:
                "With the address, and the name of the device. Without it these are counted, with one line of a kind "
                + "in a minute. With `dev` the log begins at info then."))
    var verbose = false

    @Option(
        help: ArgumentHelp(
            "Warn of a request that takes longer than so many milliseconds, with its UUID and the SQL of a query.",
            discussion: "One line for each kind of request in a minute. Default: 1000; 0 for never.",
            valueName: "milliseconds"))
    var slowRequestMs: Int?

    /// Begins to write the log.
    ///
    /// - Parameter standard: the level without `--log-level`.
    func begin(standard: Log.Level) throws(AdminFailure) {
        let level = try Self.choice(logLevel, "--log-level", Log.Level.names, Log.Level.init) ?? standard
        let format = try Self.choice(logFormat, "--log-format", Log.Format.names, Log.Format.init) ?? .text
        Log.writeToStandardError(level: level, format: format, isVerbose: isVerbose)
    }

    var isVerbose: Bool { Setting.flag(verbose, "--verbose") }

    /// Nil: no request is slow.
    func slowRequestTime() throws(AdminFailure) -> Duration? {
        let milliseconds = try Setting.number(slowRequestMs, "--slow-request-ms", default: 1_000, in: 0...86_400_000)
        return milliseconds == 0 ? nil : .milliseconds(milliseconds)
    }

    private static func choice<Value>(
        _ option: String?, _ flag: String, _ names: String, _ make: (String) -> Value?
    ) throws(AdminFailure) -> Value? {
        guard let name = Setting.optional(option, flag) else { return nil }
        guard let value = make(name) else {
            throw AdminFailure(.usage, "\(flag) must be one of \(names), not \(name).")
        }
        return value
    }
}
