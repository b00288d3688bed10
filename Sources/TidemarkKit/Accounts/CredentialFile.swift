// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Who has signed in on this device, for its next start: one credential a server, environment and container.
package struct CredentialFile: Sendable {
    private let file: SecretFile
    /// Names the server too: a credential is shown only to the one that it was given for.
    private let name: String

    /// - Returns: nil if the configuration names no server.
    init?(_ configuration: TidemarkConfiguration, containerIdentifier: String) {
        guard let server = configuration.url?.absoluteString else { return nil }
        file = SecretFile(
            configuration.credentialFile ?? SecretFile.standardURL("credentials.json"), of: "credentials")
        name = "\(server) \(configuration.environment.rawValue) \(containerIdentifier)"
    }

    /// For errors.
    var path: String { file.path }

    /// - Returns: empty: somebody has signed out; nil: nobody has signed in or out.
    /// - Throws: `internalError` if there is a file and it cannot be read.
    func token() throws(CKError) -> String? {
        try file.read()[name].map { String(decoding: $0, as: UTF8.self) }
    }

    /// - Parameter token: empty: somebody has signed out, which is not the same as never having signed in.
    /// - Throws: `internalError` if the file cannot be read or written.
    func store(_ token: String) throws(CKError) {
        try file.changing { $0[name] = Array(token.utf8) }
    }

    /// A configuration names a credential again: if that is forgotten some day, nobody will have signed out.
    func forgetSignOut() {
        guard (try? token()) == "" else { return }
        // If that fails, the next start tries again.
        try? file.changing { $0[name] = nil }
    }
}
