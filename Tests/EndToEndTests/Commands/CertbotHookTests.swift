// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// `deploy/certbot-hook`, as certbot calls it after a renewal.
@Suite struct CertbotHookTests {
    @Test func `R-949: the hook for certbot copies both files for the server's group, or none`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let (from, to) = ("\(directory.path)/live", "\(directory.path)/certificates")
        try FileManager.default.createDirectory(atPath: from, withIntermediateDirectories: true)
        let hook = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../../deploy/certbot-hook"
        ).standardized.path
        func run() async throws -> Int32 {
            // Of whoever runs the tests: nobody else may give files to another group.
            let environment = [
                "RENEWED_LINEAGE": from, "TIDEMARK_CERTIFICATES": to, "TIDEMARK_GROUP": "\(getgid())",
            ]
            return try await Program.run(
                "certbot-hook", [], environment: environment, directory: directory.path, path: hook
            ).status
        }
        func write(_ name: String, _ text: String) throws {
            try text.write(toFile: "\(from)/\(name).pem", atomically: true, encoding: .utf8)
        }
        func contents() -> [String] {
            ["fullchain", "privkey"].map {
                (try? String(contentsOfFile: "\(to)/\($0).pem", encoding: .utf8)) ?? "none"
            }
        }
        try write("fullchain", "chain 1")
        #expect(try await run() != 0)
        #expect(contents() == ["none", "none"])
        try write("privkey", "key 1")
        #expect(try await run() == 0)
        #expect(contents() == ["chain 1", "key 1"])
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(to)/privkey.pem")
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o640)
        // A renewal that is not whole changes neither.
        try write("fullchain", "chain 2")
        try FileManager.default.removeItem(atPath: "\(from)/privkey.pem")
        #expect(try await run() != 0)
        #expect(contents() == ["chain 1", "key 1"])
        try write("privkey", "key 2")
        #expect(try await run() == 0)
        #expect(contents() == ["chain 2", "key 2"])
    }
}
