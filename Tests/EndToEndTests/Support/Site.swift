// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkKit
import TidemarkTLS

/// A server as its clients know it.
struct Site: Sendable {
    let url: String
    let authorityFile: String
    /// By the account's name.
    let tokens: [String: String]
    /// A container of the test's own keeps it apart from others on the same server.
    var container = "iCloud.test.\(UUID().uuidString)"

    var port: Int { URL(string: url)?.port ?? 0 }

    /// What a client that is not the library trusts; nil: the server has no TLS.
    func makeTLS() throws -> TLSContext? {
        authorityFile.isEmpty
            ? nil : try TLSContext(client: .init(additionalRootsFile: authorityFile, trustsSystemRoots: false))
    }

    /// - Parameter token: nil: that of the account; empty: nobody is signed in.
    func configuration(_ account: String = "alice", token: String? = nil) -> TidemarkConfiguration {
        let token = token ?? tokens[account] ?? ""
        return TidemarkConfiguration(
            url: URL(string: url), token: token.isEmpty ? nil : token,
            certificateAuthorityFile: authorityFile.isEmpty ? nil : authorityFile,
            defaultContainerIdentifier: container,
            credentialFile: URL(fileURLWithPath: authorityFile).deletingLastPathComponent()
                .appendingPathComponent("\(container).json"))
    }

    /// Each has a connection and a device identity of its own.
    func makeContainer(_ account: String = "alice", token: String? = nil) -> CKContainer {
        CKContainer(
            context: CloudContext(
                containerIdentifier: container, configuration: configuration(account, token: token)))
    }

    /// Not signed in.
    func makeNobody() -> CKContainer { makeContainer(token: "") }

    func environment(_ account: String = "alice") -> [String: String] {
        var environment = [
            "TIDEMARK_URL": url, "TIDEMARK_CONTAINER": container, "TIDEMARK_TOKEN": tokens[account] ?? "",
        ]
        if !authorityFile.isEmpty { environment["TIDEMARK_CA"] = authorityFile }
        return environment
    }
}

extension CKContainer {
    /// The private database, with this zone in it.
    func privateDatabase(holding zoneID: CKRecordZone.ID) async throws -> CKDatabase {
        let database = privateCloudDatabase
        try await database.save(CKRecordZone(zoneID: zoneID))
        return database
    }
}
