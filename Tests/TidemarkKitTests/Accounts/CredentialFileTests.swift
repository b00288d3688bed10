// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

/// Who signs in, for the next start (R-354).
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
        #expect(try file().token() == "" && file("wss://other:1").token() == "tm_bob")
    }

    @Test func `without a server nothing is kept`() throws {
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
        #expect(!hasCredential(token: ""), "an empty token is not that of who signed in last")
        // Also one that changes nothing is kept.
        CloudContext(containerIdentifier: name, configuration: configuration(token: "tm_bob"))
            .changeCredential("tm_bob")
        #expect(try file().token() == "tm_bob")
        CloudContext(containerIdentifier: name, configuration: configuration()).changeCredential("")
        #expect(!hasCredential())
    }

    @Test
    func `R-350, R-354: only signing out is a sign-out, also for the next start; no token is none`()
        throws
    {
        func absence(token: String? = nil) -> AccountAbsence? {
            CloudContext(containerIdentifier: name, configuration: configuration(token: token)).absence
        }
        func isUnknown(_ absence: AccountAbsence?) -> Bool {
            if case .notConfigured = absence { true } else { false }
        }
        #expect(isUnknown(absence()) && isUnknown(absence(token: "")))
        // R-354: also of an account that the configuration named, and that no file knows.
        CloudContext(containerIdentifier: name, configuration: configuration(token: "tm_alice")).changeCredential("")
        #expect(absence() == .signedOut && absence(token: "") == .signedOut)
        #expect(absence(token: "tm_alice") == nil, "what is configured comes first")
        #expect(isUnknown(absence()), "she is signed in again, and then the token is forgotten")
        CloudContext(containerIdentifier: name, configuration: configuration()).changeCredential("tm_bob")
        #expect(absence() == nil && isUnknown(absence(token: "")))
    }

    @Test func `R-350: what is missing is said: which variable, which files`() throws {
        func text(_ sources: ConfigurationSources) -> String {
            var configuration = sources.configuration(for: name)
            configuration.credentialFile = url
            let context = CloudContext(containerIdentifier: name, configuration: configuration)
            return context.absence.map { CKError.noAccount($0).localizedDescription } ?? "no absence"
        }
        func sources(
            _ variables: [String: String], _ json: String? = nil
        ) throws(ConfigurationFault) -> ConfigurationSources {
            var sources = ConfigurationSources(variables: variables, filePaths: ["/app/tidemark.json"])
            let directory = URL(fileURLWithPath: "/app", isDirectory: true)
            sources.file = .success(
                try json.map { json throws(ConfigurationFault) in
                    try ConfigurationFile(json: Data(json.utf8), in: directory)
                })
            return sources
        }
        let end = "Set TIDEMARK_TOKEN, or call CKContainer.signIn(token:)."
        let here = "nobody has signed in on this device (\(url.path))"
        let start = "It is not known who is signed in: TIDEMARK_TOKEN is"
        let server = ["TIDEMARK_URL": "wss://s:1"]
        #expect(text(try sources(server)) == "\(start) not set; there is no /app/tidemark.json; \(here). \(end)")
        let empty = server.merging(["TIDEMARK_TOKEN": ""]) { $1 }
        #expect(
            text(try sources(empty, "{}")) == "\(start) empty; /app/tidemark.json has no token; \(here). \(end)")
        #expect(
            text(try sources(server, #"{"url": "wss://t:1", "token": "t"}"#))
                == "\(start) not set; the token in /app/tidemark.json is not for the server of TIDEMARK_URL; \(here). "
                + end)
        #expect(text(try sources([:])).contains("no server is named either (TIDEMARK_URL). Set TIDEMARK_TOKEN"))
        let byHand = CloudContext(containerIdentifier: name, configuration: configuration())
        #expect(byHand.absence == .notConfigured("TidemarkConfiguration.token is not set; \(here). \(end)"))
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("no JSON".utf8).write(to: url)
        #expect(text(try sources(server)).contains("The file of credentials cannot be read: \(url.path)"))
    }

    @Test func `with a file that cannot be read nobody is signed in until somebody signs in, and it is left as it is`()
        throws
    {
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("no JSON".utf8).write(to: url)
        let context = CloudContext(containerIdentifier: name, configuration: configuration())
        #expect(context.absence != nil && context.absence != .signedOut)
        context.changeCredential("tm_alice")
        #expect(context.hasCredential)
        #expect(try Data(contentsOf: url) == Data("no JSON".utf8))
    }
}
