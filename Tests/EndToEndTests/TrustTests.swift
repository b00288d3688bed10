// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTLS
import TidemarkTestSupport

/// Who talks to whom.
@Suite struct TrustTests {
    private func database(
        of site: Site, authorityFile: String? = nil, token: String? = nil
    ) -> CKDatabase {
        let site = Site(
            url: site.url, authorityFile: authorityFile ?? site.authorityFile, tokens: site.tokens,
            container: site.container)
        return site.makeContainer(token: token).privateCloudDatabase
    }

    @Test func `R-005: without a credential private data gives notAuthenticated`() async throws {
        let site = try await DevServer.shared()
        let error = try await failure { try await self.database(of: site, token: "").allRecordZones() }
        #expect(error.code == .notAuthenticated)
        #expect(try await site.makeContainer(token: "").accountStatus() == .couldNotDetermine)
    }

    @Test func `R-352: a credential that the server does not know gives accountTemporarilyUnavailable`() async throws {
        let site = try await DevServer.shared()
        let error = try await failure { try await self.database(of: site, token: "tidemark_wrong").allRecordZones() }
        #expect(error.code == .accountTemporarilyUnavailable)
    }

    @Test func `a server whose authority is not trusted is not talked to`() async throws {
        let site = try await DevServer.shared()
        let directory = try TestDirectory()
        defer { directory.remove() }
        let others = try DevelopmentCertificates(
            directory: directory.path, hosts: ["127.0.0.1"], now: Int64(Date().timeIntervalSince1970))
        let error = try await failure {
            try await self.database(of: site, authorityFile: others.authorityFile).allRecordZones()
        }
        #expect([.networkUnavailable, .networkFailure, .internalError].contains(error.code))
        #expect(error.localizedDescription.contains("not trusted"))
    }
}
