// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

/// An app, the real server and a provider's tokens.
@Suite(.timeLimit(.minutes(20))) struct SignInTokensTests {
    private let provider = TokenSigner()

    @Test func `R-923, R-927, R-928: an app signs in with tokens, and hears when an operator disables the account`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let flags = ["--create-containers", "--issuers", try provider.issuersFile(in: directory)]
        try await OperatorPlace.with(flags) { (place: OperatorPlace) async throws in
            let identifier = "iCloud.test.\(UUID().uuidString)"
            var configuration = TidemarkConfiguration(url: URL(string: place.site.url), token: "")
            configuration.credentialFile = URL(fileURLWithPath: "\(directory.path)/credentials.json")
            CKContainer.configure(configuration, for: identifier)
            let container = CKContainer(identifier: identifier)
            #expect(try await container.accountStatus() == .couldNotDetermine)
            container.signIn { [provider] in provider.token("it's 42") }
            #expect(try await container.accountStatus() == .available)
            try await container.privateCloudDatabase.save(CKRecordZone(zoneName: "Notes"))

            let accounts = try await place.admin("accounts", "list", "-o", "name")
            let name = try #require(accounts.output.split(separator: "\n").first { $0.hasPrefix("example:user-") })
            let listed = try await place.admin("identities", "list", String(name))
            #expect(listed.status == 0 && listed.output.contains("it's 42"), "\(listed.output)")

            #expect(try await place.admin("accounts", "disable", String(name)).status == 0)
            try await eventually("the app hears of it") {
                do {
                    _ = try await container.privateCloudDatabase.allRecordZones()
                    return false
                } catch let error as CKError {
                    return error.code == .accountTemporarilyUnavailable && error.signInProblem == .accountDisabled
                }
            }
            #expect(try await container.accountStatus() == .temporarilyUnavailable)
        }
    }

    @Test func `R-920: a file of providers with a mistake ends the start, and says its line`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let path = "\(directory.path)/issuers.json"
        for (text, part) in [
            ("[{\n\"issuer\": \"https://a\",\n\"audiences\": \"b\"}]", "line 3: There is no member audiences."),
            ("[", "line 1: This is no JSON"),
        ] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            let arguments = ["serve", "--listen", "127.0.0.1:0", "--database-url", "x", "--plain", "--issuers", path]
            let (status, output) = try await Program.run(
                "tidemark", arguments, environment: [:], directory: directory.path, within: .seconds(60))
            #expect(status != 0 && output.contains(part), "\(output)")
        }
    }
}
