// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Remembers for the next start who has signed in on this device: one credential for each server, environment
/// and container.
package struct CredentialFile: Sendable {
    private let file: SecretFile
    /// The name includes the server: a credential is sent only to the server for which it was given.
    private let name: String

    /// - Returns: nil if the configuration names no server.
    init?(_ configuration: TidemarkConfiguration, containerIdentifier: String) {
        guard let server = configuration.url?.absoluteString else { return nil }
        file = SecretFile(
            configuration.credentialFile ?? SecretFile.standardURL("credentials.json"), of: "credentials")
        name = "\(server) \(configuration.environment.rawValue) \(containerIdentifier)"
    }

    /// The file's path, for error texts.
    var path: String { file.path }

    /// - Returns: an empty string if somebody has signed out; nil if nobody has signed in or out.
    /// - Throws: `internalError` if the file exists and cannot be read.
    func token() throws(CKError) -> String? {
        try file.read()[name].map { String(decoding: $0, as: UTF8.self) }
    }

    /// - Parameter token: empty if somebody has signed out, which is not the same as never having signed in.
    /// - Throws: `internalError` if the file cannot be read or written.
    func store(_ token: String) throws(CKError) {
        try file.changing { $0[name] = Array(token.utf8) }
    }

    /// As if nobody had ever signed in or out on this device.
    ///
    /// - Throws: as ``store(_:)``.
    func forget() throws(CKError) {
        guard try token() != nil else { return }
        try file.changing { $0[name] = nil }
    }

    /// The configuration has a credential again. If it is missing at a later start, that must not count as a sign-out.
    func forgetSignOut() {
        guard (try? token()) == "" else { return }
        // If that fails, the next start tries again.
        try? file.changing { $0[name] = nil }
    }
}
