// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

@Suite struct TidemarkConfigurationTests {
    private let directory = URL(fileURLWithPath: "/srv/app", isDirectory: true)

    private func sources(_ json: String, _ variables: [String: String] = [:]) -> ConfigurationSources {
        var sources = ConfigurationSources(variables: variables)
        do throws(ConfigurationFault) {
            sources.file = .success(try ConfigurationFile(json: Data(json.utf8), in: directory))
        } catch {
            sources.file = .failure(error)
        }
        return sources
    }

    @Test func `R-002: without a word there is no server, and the container has a name`() {
        let configuration = ConfigurationSources(variables: [:]).configuration()
        #expect(configuration.url == nil && configuration.token == nil && configuration.fault == nil)
        #expect(configuration.defaultContainerIdentifier == "iCloud.dev.tidemark")
        #expect(configuration.environment == .development && !configuration.requiresEndToEndEncryption)
    }

    @Test func `R-002: the file says everything that the environment can say`() {
        let configuration = sources(
            """
            {"url": "wss://s:1", "token": "t", "ca": "tls/ca.pem", "container": "iCloud.c", "environment": "production",
             "assets": "/var/assets", "credentialFile": "who.json", "keyFile": "keys.json", "endToEnd": true}
            """
        ).configuration()
        #expect(configuration.fault == nil)
        #expect(configuration.url?.absoluteString == "wss://s:1" && configuration.token == "t")
        #expect(configuration.certificateAuthorityFile == "/srv/app/tls/ca.pem")
        #expect(configuration.defaultContainerIdentifier == "iCloud.c" && configuration.environment == .production)
        #expect(configuration.assetDirectory?.path == "/var/assets")
        #expect(configuration.credentialFile?.path == "/srv/app/who.json")
        #expect(configuration.keyFile?.path == "/srv/app/keys.json" && configuration.requiresEndToEndEncryption)
    }

    @Test func `R-002: the environment wins over the file, value by value; an empty variable says nothing`() {
        let configuration = sources(
            #"{"url": "wss://file:1", "token": "file", "ca": "/ca", "container": "iCloud.file", "endToEnd": true}"#,
            [
                "TIDEMARK_URL": "", "TIDEMARK_TOKEN": "variable", "TIDEMARK_CONTAINER": "iCloud.variable",
                "TIDEMARK_END_TO_END": "0",
            ]
        ).configuration()
        #expect(configuration.url?.host == "file" && configuration.token == "variable")
        #expect(configuration.defaultContainerIdentifier == "iCloud.variable")
        #expect(configuration.certificateAuthorityFile == "/ca" && !configuration.requiresEndToEndEncryption)
    }

    @Test func `R-002: a container may have a server and an account of its own`() {
        let sources = sources(
            """
            {"url": "wss://all:1", "token": "all", "container": "iCloud.a",
             "containers": {"iCloud.b": {"token": "b"},
                            "iCloud.c": {"url": "wss://c:1", "token": "c", "environment": "production"}}}
            """)
        let found = ["iCloud.a", "iCloud.b", "iCloud.c", "iCloud.d"].map { name in
            let configuration = sources.configuration(for: name)
            return "\(configuration.url?.host ?? "") \(configuration.token ?? "") \(configuration.environment)"
        }
        #expect(
            found == ["all all development", "all b development", "c c production", "all all development"])
        #expect(sources.configuration().token == "all")
    }

    @Test func `R-002: a token goes to no server that somebody else has named`() {
        let file = """
            {"url": "wss://all:1", "token": "all", "ca": "/all",
             "containers": {"iCloud.b": {"url": "wss://b:1"}, "iCloud.c": {"token": "c", "ca": "/c"}}}
            """
        let cases: [([String: String], String, expected: [String?])] = [
            ([:], "iCloud.b", ["b", nil, nil]),
            (["TIDEMARK_TOKEN": "variable"], "iCloud.b", ["b", "variable", nil]),
            ([:], "iCloud.c", ["all", "c", "/c"]),
            (["TIDEMARK_CA": "/variable"], "iCloud.c", ["all", "c", "/variable"]),
            (["TIDEMARK_URL": "wss://variable:1"], "iCloud.a", ["variable", nil, nil]),
            (["TIDEMARK_URL": "wss://variable:1"], "iCloud.c", ["variable", nil, nil]),
            (
                ["TIDEMARK_URL": "wss://variable:1", "TIDEMARK_TOKEN": "variable"], "iCloud.c",
                ["variable", "variable", nil]
            ),
        ]
        for (variables, container, expected) in cases {
            let found = sources(file, variables).configuration(for: container)
            #expect(
                [found.url?.host, found.token, found.certificateAuthorityFile] == expected,
                "\(variables) \(container)")
        }
    }

    @Test func `R-002: a server that code names is reached, whatever is wrong with file and environment`() {
        var configuration = sources(#"{"tokn": "t"}"#).configuration()
        configuration.token = "code"
        configuration.url = nil
        #expect(configuration.fault != nil)
        configuration.url = URL(string: "wss://code:1")
        #expect(configuration.fault == nil)
    }

    @Test(
        arguments: [
            (#"{"url": "wss://s:1""#, "tidemark.json is not JSON"),
            (#"["url"]"#, "tidemark.json is not a JSON object."),
            (
                #"{"ulr": "wss://s:1"}"#,
                "tidemark.json: the key ulr is not known. Known are assets, ca, container, containers, "
                    + "credentialFile, endToEnd, environment, keyFile, token, url."
            ),
            (
                #"{"containers": {"iCloud.a": {"container": "x"}}}"#,
                "the key containers.iCloud.a.container is not known. Known are assets, ca, credentialFile,"
            ),
            (#"{"containers": ["iCloud.a"]}"#, "containers must be an object."),
            (#"{"containers": {"iCloud.a": "x"}}"#, "containers.iCloud.a must be an object."),
            (#"{"token": 5}"#, "token must be a string that is not empty."),
            (#"{"token": ""}"#, "token must be a string that is not empty."),
            (#"{"url": "nowhere"}"#, "url must be a URL such as wss://host:port."),
            (#"{"environment": "test"}"#, #"environment must be "development" or "production"."#),
            (#"{"endToEnd": "yes"}"#, "endToEnd must be true or false."),
        ])
    func `R-002: a mistake in the file is told, and nothing goes to another server`(json: String, text: String) {
        let configuration = sources(json, ["TIDEMARK_URL": "wss://variable:1"]).configuration()
        #expect(configuration.fault?.contains(text) == true, "\(configuration.fault ?? "no fault")")
        #expect(configuration.url == nil)
    }

    @Test(
        arguments: [
            ("TIDEMARK_URL", "server", "TIDEMARK_URL must be a URL such as wss://host:port, not server."),
            ("TIDEMARK_ENVIRONMENT", "prod", "TIDEMARK_ENVIRONMENT must be development or production, not prod."),
            ("TIDEMARK_END_TO_END", "yes", "TIDEMARK_END_TO_END must be 1 or 0, not yes."),
        ])
    func `R-002: a mistake in the environment is told`(name: String, value: String, text: String) {
        #expect(TidemarkConfiguration(environmentVariables: [name: value]).fault == text)
    }

    @Test(arguments: [("1", true), ("true", true), ("0", false), ("false", false)])
    func `R-002: end-to-end encryption is wanted or not, as the variable says`(value: String, isWanted: Bool) {
        let configuration = sources(#"{"endToEnd": \#(!isWanted)}"#, ["TIDEMARK_END_TO_END": value]).configuration()
        #expect(configuration.fault == nil && configuration.requiresEndToEndEncryption == isWanted)
    }

    @Test func `R-002: requests say what is to be mended, and nobody counts as signed out`() async throws {
        let configuration = sources(#"{"tokn": "t"}"#).configuration()
        let container = CKContainer(
            context: CloudContext(containerIdentifier: "iCloud.test", configuration: configuration))
        let error = await #expect(throws: CKError.self) {
            _ = try await container.privateCloudDatabase.allRecordZones()
        }
        #expect(error?.code == .networkUnavailable)
        #expect(error?.localizedDescription.contains("the key tokn is not known") == true)
        #expect(try await container.accountStatus() == .couldNotDetermine)
    }

    @Test func `R-002: the first directory that has a file counts`() throws {
        let (one, two) = (try TestDirectory(), try TestDirectory())
        defer {
            one.remove()
            two.remove()
        }
        let urls = [one, two].map { URL(fileURLWithPath: $0.path, isDirectory: true) }
        #expect(try ConfigurationFile.first(in: urls) == nil)
        try Data(#"{"token": "two", "ca": "ca.pem"}"#.utf8).write(to: urls[1].appendingPathComponent("tidemark.json"))
        #expect(try ConfigurationFile.first(in: urls)?.settings.token == "two")
        #expect(try ConfigurationFile.first(in: urls)?.settings.ca == "\(two.path)/ca.pem")
        try Data(#"{"token": "one"}"#.utf8).write(to: urls[0].appendingPathComponent("tidemark.json"))
        #expect(try ConfigurationFile.first(in: urls)?.settings.token == "one")
    }

    @Test func `R-002: code wins over everything, for one container or for all`() {
        let name = "iCloud.test.\(UUID().uuidString)"
        CKContainer.configure(TidemarkConfiguration(url: nil, token: "code"), for: name)
        #expect(TidemarkConfiguration.current(for: name).token == "code")
        #expect(TidemarkConfiguration.current(for: name + ".other").token != "code")
    }
}
