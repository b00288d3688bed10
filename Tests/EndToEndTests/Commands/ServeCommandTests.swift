// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTLS
import TidemarkTestSupport

/// `tidemark serve` as a container of processes starts it: without a command line.
@Suite struct ServeCommandTests {
    @Test func `serve is started by its environment alone, and says which variable is missing`() async throws {
        try await OperatorPlace.with { place in
            let certificates = try DevelopmentCertificates(
                directory: place.directory.path, hosts: ["127.0.0.1"], now: Int64(Date().timeIntervalSince1970))
            let environment = [
                "TIDEMARK_DATABASE_URL": place.database.url, "TIDEMARK_LISTEN": "127.0.0.1:0",
                "TIDEMARK_CERTIFICATE": certificates.certificateFile,
                "TIDEMARK_PRIVATE_KEY": certificates.privateKeyFile, "TIDEMARK_CREATE_CONTAINERS": "1",
            ]
            for name in environment.keys where name != "TIDEMARK_CREATE_CONTAINERS" {
                let result = try await Program.run(
                    "tidemark", ["serve"], environment: environment.filter { $0.key != name },
                    directory: place.directory.path)
                let option = name.dropFirst("TIDEMARK_".count).lowercased().replacing("_", with: "-")
                #expect(result.status != 0 && result.output.contains("--\(option)"), "\(result.output)")
            }
            let server = try Program("tidemark", ["serve"], environment: environment, directory: place.directory.path)
            var port = ""
            try await eventually("tidemark serve serves") {
                guard server.isRunning else { throw NeverHappened(description: server.output) }
                port = server.output.firstMatch(of: /serving address=127\.0\.0\.1:(\d+)/).map { String($0.1) } ?? ""
                return !port.isEmpty
            }
            let site = Site(
                url: "wss://127.0.0.1:\(port)", authorityFile: certificates.authorityFile, tokens: place.site.tokens)
            let zone = CKRecordZone(zoneName: "Notes")
            let saved = try await site.makeContainer().privateCloudDatabase.save(zone)
            #expect(saved.zoneID == zone.zoneID)
            #expect(try await server.stop() == 0)
        }
    }
}
