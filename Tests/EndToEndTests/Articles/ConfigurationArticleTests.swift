// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import TidemarkKit

/// What the article *tidemark.json* says of the file.
@Suite struct ConfigurationArticleTests {
    private let article: String
    private let directory = URL(fileURLWithPath: "/app", isDirectory: true)

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        article = try String(
            contentsOf: root.appendingPathComponent("Sources/TidemarkKit/TidemarkKit.docc/Configuration.md"),
            encoding: .utf8)
    }

    private func configuration(
        _ json: String, _ variables: [String: String] = [:], for container: String? = nil
    ) throws -> TidemarkConfiguration {
        var sources = ConfigurationSources(variables: variables)
        do throws(ConfigurationFault) {
            sources.file = .success(try ConfigurationFile(json: Data(json.utf8), in: directory))
        } catch {
            sources.file = .failure(error)
        }
        return sources.configuration(for: container)
    }

    @Test func `R-002: the files of the article are read as it says`() throws {
        let files = article.matches(of: /```json\n([\s\S]*?)```/).map { String($0.1) }
        try #require(files.count == 2)
        let one = try configuration(files[0])
        #expect(one.fault == nil && one.url?.absoluteString == "wss://sync.example.org" && one.token == "tm_…")
        #expect(one.certificateAuthorityFile == "/app/ca.pem")
        #expect(one.defaultContainerIdentifier == "iCloud.org.example.notes")

        let archive = try configuration(files[1], for: "iCloud.org.example.archive")
        #expect(archive.fault == nil && archive.url?.host == "sync.example.org")
        #expect(archive.environment == .production && archive.token == "tm_…")
        let home = try configuration(files[1], for: "iCloud.org.example.home")
        #expect(home.url?.absoluteString == "wss://192.168.1.5:8443")
        #expect(home.certificateAuthorityFile == "/app/home.pem")

        // What wins, and to whom a token goes.
        let variable = try configuration(files[0], ["TIDEMARK_CONTAINER": "iCloud.other", "TIDEMARK_TOKEN": ""])
        #expect(variable.defaultContainerIdentifier == "iCloud.other" && variable.token == "tm_…")
        let elsewhere = try configuration(files[0], ["TIDEMARK_URL": "wss://other.example.org"])
        #expect(elsewhere.token == nil && elsewhere.certificateAuthorityFile == nil)
    }

    @Test func `R-002: the table has each key, with its variable`() throws {
        let fault = try #require(try configuration(#"{ "ulr": "x" }"#).fault)
        let known = try #require(fault.firstMatch(of: /Known are ([\w, ]+)\./)?.1).split(separator: ", ").map(
            String.init)
        let rows = article.matches(of: /\n\| `(\w+)` \| (?:`(TIDEMARK_\w+)`)? ?\|/)
        #expect(Set(rows.map { String($0.1) }) == Set(known))
        #expect(known.count == 10)
        // A variable that is read changes something.
        let values = [
            "TIDEMARK_URL": "wss://a.example", "TIDEMARK_TOKEN": "tm_1", "TIDEMARK_CA": "/ca",
            "TIDEMARK_CONTAINER": "c",
            "TIDEMARK_ENVIRONMENT": "production", "TIDEMARK_ASSETS": "/assets",
            "TIDEMARK_CREDENTIAL_FILE": "/credentials",
            "TIDEMARK_KEY_FILE": "/keys", "TIDEMARK_END_TO_END": "1",
        ]
        #expect(Set(rows.compactMap { $0.2.map(String.init) }) == Set(values.keys))
        let unset = "\(TidemarkConfiguration(environmentVariables: [:]))"
        for (name, value) in values {
            #expect("\(TidemarkConfiguration(environmentVariables: [name: value]))" != unset, "\(name)")
        }
    }

    @Test func `R-002: what a mistake says is what the article says`() throws {
        let files = [
            #"{ "ulr": "x" }"#: "tidemark.json: the key ulr is not known. Known are ",
            "{": "tidemark.json is not JSON: ",
            #"{ "url": "host" }"#: "tidemark.json: url must be a URL such as wss://host:port.",
            #"{ "environment": "test" }"#:
                #"tidemark.json: environment must be "development" or "production"."#,
        ]
        for (json, text) in files {
            let fault = try #require(try configuration(json).fault)
            #expect(fault.hasPrefix(text), "\(fault)")
            #expect(article.contains("| \"\(text)"), "\(text)")
        }
        let variable = "TIDEMARK_URL must be a URL such as wss://host:port, not "
        #expect(
            TidemarkConfiguration(environmentVariables: ["TIDEMARK_URL": "host"]).fault?.hasPrefix(variable) == true)
        #expect(article.contains("| \"\(variable)"))
    }
}
