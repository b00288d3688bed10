// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkAdmin
internal import TidemarkHTTP
internal import TidemarkServer

/// The bus by which servers tell each other of changes, if it is not the database.
struct NoticeBusOptions: ParsableArguments {
    @Option(name: .customLong("notice-bus-url"), help: ServeSetting.help("notice-bus-url")) var noticeBusURL: String?

    @Option(help: ServeSetting.help("notice-bus-credentials")) var noticeBusCredentials: String?

    @Option(name: .customLong("notice-bus-ca"), help: ServeSetting.help("notice-bus-ca")) var noticeBusAuthority:
        String?

    private static let credentialBytesMax = 4_096

    func apply(to configuration: inout ServerConfiguration) throws(AdminFailure) {
        let file = try Setting.optional(noticeBusCredentials, "--notice-bus-credentials")
        let authority = try Setting.optional(noticeBusAuthority, "--notice-bus-ca")
        guard let text = try Setting.optional(noticeBusURL, "--notice-bus-url") else {
            guard file == nil, authority == nil else {
                throw AdminFailure(
                    .usage, "--notice-bus-credentials and --notice-bus-ca are for --notice-bus-url. Give that too.")
            }
            return
        }
        // `Setting` has looked at it, and says what is wrong.
        guard var settings = try? NoticeBusSettings(text) else {
            throw AdminFailure(.usage, "--notice-bus-url takes URLs such as tls://nats.example.org:4222.")
        }
        settings.authorityFile = authority
        if let file { try authenticate(&settings, with: file) }
        configuration.noticeBus = settings
    }

    private func authenticate(_ settings: inout NoticeBusSettings, with file: String) throws(AdminFailure) {
        let unreadable = AdminFailure(
            .usage, "The file of --notice-bus-credentials cannot be read: \(file). Check who may read it.")
        guard let handle = FileHandle(forReadingAtPath: file) else { throw unreadable }
        let bytes: Data
        do { bytes = try handle.read(upToCount: Self.credentialBytesMax + 1) ?? Data() } catch { throw unreadable }
        let mode = (try? FileManager.default.attributesOfItem(atPath: file))?[.posixPermissions] as? Int
        if let mode, mode & 0o077 != 0 { printError("Others can read \(file): chmod 600.") }
        let line = HeaderFields.trimmed(Substring(decoding: bytes.prefix { $0 != 10 && $0 != 13 }, as: UTF8.self))
        guard bytes.count <= Self.credentialBytesMax, settings.authenticate(with: String(line)) else {
            throw AdminFailure(
                .usage,
                "The first line of --notice-bus-credentials must be USER:PASSWORD, or a token without a colon, in printable "
                    + "ASCII. The file has at most \(Self.credentialBytesMax) bytes: \(file).")
        }
    }
}
