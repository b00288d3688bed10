// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkAdmin
internal import TidemarkServer

/// Whose tokens open sessions.
struct SignInOptions: ParsableArguments {
    @Option(help: ServeSetting.help("issuers")) var issuers: String?

    func apply(to configuration: inout ServerConfiguration) throws(AdminFailure) {
        guard let path = try Setting.optional(issuers, "--issuers") else { return }
        do throws(IssuersFile.Mistake) {
            configuration.issuers = try IssuersFile.load(path)
        } catch {
            throw AdminFailure(.usage, "--issuers \(path): \(error)")
        }
    }
}
