// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkAdmin
internal import TidemarkPostgres

/// Where the database is.
struct DatabaseOption: ParsableArguments {
    @Option(name: .customLong("database-url"), help: ServeSetting.help("database-url")) var url: String?

    @Option(name: .customLong("database-password-file"), help: ServeSetting.help("database-password-file"))
    var passwordFile: String?

    private static let passwordBytesMax = 1_000

    /// Warns of a password in the option: whoever may list processes sees it. Call it before there are threads that read
    /// variables: libpq reads the password from one.
    func value() throws(AdminFailure) -> String {
        if let url, PostgresURL.hasPassword(url) { printError(AdminTarget.passwordWarning) }
        let url = try Setting.required(url, "--database-url")
        if let file = try Setting.optional(passwordFile, "--database-password-file"),
            let password = try Self.password(in: file)
        {
            setenv("PGPASSWORD", password, 1)
        }
        return url
    }

    /// Nil for an empty file.
    static func password(in file: String) throws(AdminFailure) -> String? {
        guard let handle = FileHandle(forReadingAtPath: file),
            let bytes = try? handle.read(upToCount: passwordBytesMax + 1) ?? Data()
        else {
            throw AdminFailure(
                .usage, "The file of --database-password-file cannot be read: \(file). Check who may read it.")
        }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard line.count <= passwordBytesMax, !line.contains(0), let text = String(validating: line, as: UTF8.self)
        else {
            throw AdminFailure(
                .usage,
                "The first line of --database-password-file must be a password of at most \(passwordBytesMax) bytes: "
                    + "\(file).")
        }
        return text.isEmpty ? nil : text
    }
}
