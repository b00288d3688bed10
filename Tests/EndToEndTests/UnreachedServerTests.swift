// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkKit

/// What an app hears of a server that it cannot reach: where it tried, and why that failed.
@Suite struct UnreachedServerTests {
    private func error(_ url: String, authorityFile: String? = nil) async throws -> CKError {
        let configuration = TidemarkConfiguration(
            url: URL(string: url), token: "tm_secret", certificateAuthorityFile: authorityFile,
            credentialFile: URL(fileURLWithPath: "/nonexistent/credentials.json"))
        let container = CKContainer(
            context: CloudContext(containerIdentifier: "iCloud.test", configuration: configuration))
        return try await failure { try await container.privateCloudDatabase.allRecordZones() }
    }

    private func cause(_ error: CKError) -> NSError? { error.userInfo[NSUnderlyingErrorKey] as? NSError }

    @Test func `R-373: a stopped server, a wrong port or host`() async throws {
        // Nobody listens on the first port.
        let port = 1
        var error = try await error("wss://user:password@127.0.0.1:\(port)/?token=tm_secret")
        #expect(error.code == .networkUnavailable)
        #expect(
            error.localizedDescription.hasPrefix(
                "The server wss://127.0.0.1:\(port)/ cannot be reached: nothing listens on that port (ECONNREFUSED)."))
        #expect(!"\(error)".contains("secret") && !"\(error)".contains("password"))
        #expect(cause(error)?.domain == NSPOSIXErrorDomain && cause(error)?.code == Int(ECONNREFUSED))
        error = try await self.error("wss://no-such-host.invalid:1")
        #expect(error.localizedDescription.hasPrefix("The server wss://no-such-host.invalid:1 cannot be reached: no"))
        #expect(error.localizedDescription.contains("name"), "\(error)")
    }

    @Test func `R-373: another protocol than the port's`() async throws {
        let site = try await DevServer.shared()
        let plain = try await error("ws://127.0.0.1:\(site.port)")
        #expect(plain.localizedDescription.hasPrefix("The server ws://127.0.0.1:\(site.port) cannot be reached: "))
        #expect(
            plain.localizedDescription.hasSuffix("If that port speaks TLS, the URL begins with wss://."), "\(plain)")
        let elsewhere = try await error("wss://127.0.0.1:\(site.port)/elsewhere", authorityFile: site.authorityFile)
        #expect(elsewhere.localizedDescription.contains("it answered with HTTP status 404. Is that a Tidemark server"))
        let untrusted = try await error("wss://127.0.0.1:\(site.port)")
        #expect(
            untrusted.localizedDescription.hasPrefix(
                "The certificate of the server wss://127.0.0.1:\(site.port) is not trusted"))
        #expect(
            untrusted.localizedDescription.hasSuffix("Set TIDEMARK_CA to the file of the authority that issued it."))

        try await OperatorPlace.with { place in
            let secure = try await self.error("wss://127.0.0.1:\(place.site.port)")
            #expect(secure.localizedDescription.contains("the TLS handshake failed"), "\(secure)")
        }
    }

    @Test func `R-002: a file of authorities that cannot be used is named, with what is wrong with it`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        for (name, text) in [("empty.pem", ""), ("text.pem", "hello"), ("key.pem", key), ("broken.pem", broken)] {
            try text.write(toFile: "\(directory.path)/\(name)", atomically: true, encoding: .utf8)
        }
        let cases = [
            ("none.pem", "there is no such file."), ("", "it is a directory."), ("empty.pem", "it is not PEM."),
            ("text.pem", "it is not PEM."), ("key.pem", "it has no certificate in it."), ("broken.pem", ""),
        ]
        for (name, why) in cases {
            let path = name.isEmpty ? directory.path : "\(directory.path)/\(name)"
            let text = try await error("wss://127.0.0.1:1", authorityFile: path).localizedDescription
            let start = "The certificate authority file \(path) (TIDEMARK_CA, or ca in tidemark.json) cannot be used: "
            #expect(text.hasPrefix(start) && text.hasSuffix(why) && text != start, "\(text)")
        }
    }

    @Test func `R-067, R-184: a query says that a field is unknown, or encrypted`() async throws {
        let site = try await DevServer.shared()
        let database = site.makeContainer().privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Notes"))
        let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "n", zoneID: zone.zoneID))
        record["title"] = "t"
        record.encryptedValues["diary"] = "d"
        try await database.save(record)
        func text(_ query: CKQuery) async throws -> String {
            let error = try await failure { try await database.records(matching: query) }
            #expect(error.code == .invalidArguments)
            return error.localizedDescription
        }
        let mistyped = CKQuery(recordType: "Note", predicate: NSPredicate(format: "titel == 't'"))
        #expect(try await text(mistyped).hasPrefix("Unknown field 'titel'. Did you mean 'title'?"))
        let sorted = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
        sorted.sortDescriptors = [NSSortDescriptor(key: "creationdate", ascending: true)]
        #expect(try await text(sorted).hasPrefix("Unknown field 'creationdate'. Did you mean 'creationDate'?"))
        let sealed = CKQuery(recordType: "Note", predicate: NSPredicate(format: "diary == 'd'"))
        #expect(try await text(sealed).hasPrefix("Field 'diary' is encrypted: it cannot be queried, sorted or marked."))
    }
}
