// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkAdmin
internal import TidemarkHTTP
internal import TidemarkServer
internal import TidemarkTracing

/// Where a server sends traces of its requests, and of how many.
struct TraceOptions: ParsableArguments {
    @Option(help: ServeSetting.help("trace-endpoint")) var traceEndpoint: String?

    @Option(help: ServeSetting.help("trace-sample")) var traceSample: String?

    @Option(help: ServeSetting.help("trace-authorization-file")) var traceAuthorizationFile: String?

    private static let authorizationBytesMax = 4_096

    func apply(to configuration: inout ServerConfiguration) throws(AdminFailure) {
        let sample = try sample()
        let file = try Setting.optional(traceAuthorizationFile, "--trace-authorization-file")
        guard let url = try Setting.optional(traceEndpoint, "--trace-endpoint") else {
            guard sample == nil, file == nil else {
                throw AdminFailure(
                    .usage, "--trace-sample and --trace-authorization-file are for --trace-endpoint. Give that too.")
            }
            return
        }
        var traces = RequestTraces.Settings(endpoint: try Self.endpoint(url))
        if let sample { traces.sample = sample }
        traces.authorization = try file.map { (file) throws(AdminFailure) in try Self.authorization(file) }
        configuration.traces = traces
    }

    private func sample() throws(AdminFailure) -> Double? {
        try Setting.optional(traceSample, "--trace-sample").flatMap(Double.init)
    }

    private static func endpoint(_ url: String) throws(AdminFailure) -> TraceEndpoint {
        do {
            return try TraceEndpoint(url)
        } catch {
            throw AdminFailure(.usage, "--trace-endpoint takes the URL of a collector, such as http://127.0.0.1:4318.")
        }
    }

    /// Whoever can read the file can speak for the server to its collector.
    private static func authorization(_ file: String) throws(AdminFailure) -> String {
        let unreadable = AdminFailure(
            .usage, "The file of --trace-authorization-file cannot be read: \(file). Check who may read it.")
        guard let handle = FileHandle(forReadingAtPath: file) else { throw unreadable }
        let bytes: Data
        do { bytes = try handle.read(upToCount: authorizationBytesMax + 1) ?? Data() } catch { throw unreadable }
        let mode = (try? FileManager.default.attributesOfItem(atPath: file))?[.posixPermissions] as? Int
        if let mode, mode & 0o077 != 0 { printError("Others can read \(file): chmod 600.") }
        let line = HeaderFields.trimmed(Substring(decoding: bytes.prefix { $0 != 10 && $0 != 13 }, as: UTF8.self))
        guard !line.isEmpty, bytes.count <= authorizationBytesMax, HeaderFields.isValidValue(line) else {
            throw AdminFailure(
                .usage,
                "The first line of --trace-authorization-file must be the value of Authorization, such as: Bearer TOKEN. "
                    + "The file has at most \(authorizationBytesMax) bytes: \(file).")
        }
        return line
    }
}
