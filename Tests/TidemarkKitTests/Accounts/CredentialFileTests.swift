// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

/// Who signs in, for the next start.
@Suite struct CredentialFileTests {
    private let directory: TestDirectory
    private let name = "iCloud.test.credentials"

    init() throws {
        directory = try TestDirectory()
    }

    private var url: URL { URL(fileURLWithPath: "\(directory.path)/a/credentials.json") }

    private func configuration(_ server: String = "wss://s:1", token: String? = nil) -> TidemarkConfiguration {
        TidemarkConfiguration(url: URL(string: server), token: token, credentialFile: url)
    }

    private func file(_ server: String = "wss://s:1", _ container: String? = nil) throws -> CredentialFile {
        try #require(CredentialFile(configuration(server), containerIdentifier: container ?? name))
    }

    @Test func `R-354: a credential is kept for its server, environment and container, and for its owner alone`() throws
    {
        try file().store("tm_alice")
        #expect(try file().token() == "tm_alice")
        #expect(try file("wss://other:1").token() == nil && file("wss://s:1", "iCloud.other").token() == nil)
        var production = configuration()
        production.environment = .production
        #expect(try CredentialFile(production, containerIdentifier: name)?.token() == nil)
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        try file("wss://other:1").store("tm_bob")
        try file().store("")
        #expect(try file().token() == nil && file("wss://other:1").token() == "tm_bob")
    }

    @Test func `signing out leaves no file where nobody signed in, and without a server nothing is kept`() throws {
        try file().store("")
        #expect(!FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path))
        let nowhere = TidemarkConfiguration(url: nil, credentialFile: url)
        #expect(CredentialFile(nowhere, containerIdentifier: name) == nil)
    }

    @Test func `R-354: a container begins as who signed in last, unless its configuration names a credential`() throws {
        func hasCredential(token: String? = nil) -> Bool {
            CloudContext(containerIdentifier: name, configuration: configuration(token: token)).hasCredential
        }
        #expect(!hasCredential())
        CloudContext(containerIdentifier: name, configuration: configuration()).changeCredential("tm_alice")
        #expect(hasCredential())
        #expect(!hasCredential(token: ""), "nobody, said aloud")
        // Also one that changes nothing is kept.
        CloudContext(containerIdentifier: name, configuration: configuration(token: "tm_bob"))
            .changeCredential("tm_bob")
        #expect(try file().token() == "tm_bob")
        CloudContext(containerIdentifier: name, configuration: configuration()).changeCredential("")
        #expect(!hasCredential())
    }

    @Test func `with a file that cannot be read nobody is signed in until somebody signs in, and it is left as it is`()
        throws
    {
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("no JSON".utf8).write(to: url)
        let context = CloudContext(containerIdentifier: name, configuration: configuration())
        #expect(!context.hasCredential)
        context.changeCredential("tm_alice")
        #expect(context.hasCredential)
        #expect(try Data(contentsOf: url) == Data("no JSON".utf8))
    }
}
