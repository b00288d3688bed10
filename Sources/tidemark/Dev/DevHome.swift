// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkAdmin

/// The directory in which `tidemark dev` keeps everything.
///
///     DIRECTORY/postgres           the private PostgreSQL
///     DIRECTORY/assets             the content of assets
///     DIRECTORY/certificates       the development authority, which stays, and the server's certificate
///     DIRECTORY/master.key         the key that encrypts account keys, readable by its owner only
///     DIRECTORY/credentials.json   accounts and their tokens, readable by their owner only
struct DevHome {
    static let container = "iCloud.dev.tidemark"
    /// The context for operators' commands.
    static let contextName = "dev"
    static let accountNames = ["alice", "bob"]

    /// Absolute.
    let path: String

    var postgres: String { "\(path)/postgres" }
    var assets: String { "\(path)/assets" }
    var certificates: String { "\(path)/certificates" }
    var masterKeyFile: String { "\(path)/master.key" }
    var credentialsFile: String { "\(path)/credentials.json" }

    /// Creates missing directories.
    init(path: String) throws(AdminFailure) {
        self.path = URL(fileURLWithPath: path).standardizedFileURL.path
        do {
            try FileManager.default.createDirectory(
                atPath: certificates, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        } catch {
            throw AdminFailure(
                .refused,
                "Cannot create the directory \(self.path): \(error.localizedDescription). Choose another one with --data-directory."
            )
        }
    }

    // MARK: Credentials

    struct StoredAccount: Codable {
        let name: String
        let token: String
    }

    private struct Stored: Codable {
        let accounts: [StoredAccount]
    }

    /// Empty if there is no readable file: then new credentials are made.
    func readCredentials() -> [StoredAccount] {
        guard let data = FileManager.default.contents(atPath: credentialsFile),
            let stored = try? JSONDecoder().decode(Stored.self, from: data)
        else { return [] }
        return stored.accounts
    }

    func writeCredentials(_ accounts: [StoredAccount]) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try AtomicFile.write(try encoder.encode(Stored(accounts: accounts)), to: credentialsFile, mode: 0o600)
    }
}
