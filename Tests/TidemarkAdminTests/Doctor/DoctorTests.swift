// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkStore
import TidemarkTLS
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct DoctorTests {
    @Test func `R-870: what is wrong is found with its remedy, and ends a check with status 1`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let key = "\(directory.path)/master.key"
        try Data("k".utf8).write(to: URL(fileURLWithPath: key))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            let found = try await place.perform(
                "doctor", "--ci", "--deep", "--master-key-file", key, "--connections-needed", "1", "-o", "json")
            #expect(found.status == .failedCheck)
            let lines = found.terminal.output.split(separator: "\n")
            #expect(
                lines.contains { $0.contains(#""code":"file-mode","severity":"error""#) && $0.contains("chmod 600") })
            // A private PostgreSQL of tests need not wait for the disk.
            let others = lines.filter { !$0.contains("file-mode") && !$0.contains("-off\"") }
            #expect(others.isEmpty, "\(others)")
            let seen = try await place.perform("doctor", "--master-key-file", key, "--connections-needed", "1")
            #expect(seen.status == .ok)
        }
    }

    private func codes(_ place: AdminPlace, _ words: String...) async throws -> [String] {
        let found = try await place.perform(["doctor", "--connections-needed", "1", "-o", "name"] + words)
        #expect(found.status == .ok, "\(found.terminal.messages)")
        // A private PostgreSQL of tests need not wait for the disk.
        return found.terminal.output.split(separator: "\n").map(String.init).filter { !$0.hasSuffix("-off") }
    }

    @Test func `R-870: assets without files, files without assets and wrong sums are found`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let assets = "\(directory.path)/assets"
        try await AdminPlace.run { place in
            let database = try await place.user("alice").privateDatabase.rawValue
            #expect(try await codes(place, "--asset-directory", assets) == ["file-missing"])
            let shelf = "\(assets)/\(database)/ab"
            try FileManager.default.createDirectory(atPath: shelf, withIntermediateDirectories: true)
            #expect(try await codes(place, "--asset-directory", assets) == [])
            let stored = String(repeating: "ab", count: 32)
            try Data("12345".utf8).write(to: URL(fileURLWithPath: "\(shelf)/\(stored).5"))
            #expect(try await codes(place, "--asset-directory", assets) == ["asset-row-missing"])
            try PostgresAdministration.execute([Self.asset(database, stored)], url: place.url)
            #expect(try await codes(place, "--asset-directory", assets) == ["asset-bytes"])
            try PostgresAdministration.execute(
                [
                    Self.asset(database, String(repeating: "cd", count: 32)),
                    "INSERT INTO asset_total (database_id, byte_count) VALUES (\(database), 10)",
                ], url: place.url)
            #expect(try await codes(place, "--asset-directory", assets) == ["asset-file-missing"])
        }
    }

    private static func asset(_ database: Int64, _ sha256: String) -> String {
        """
        INSERT INTO asset (database_id, sha256, byte_count, created_at, touched_at)
        VALUES (\(database), '\\x\(sha256)', 5, now(), now())
        """
    }

    @Test func `R-870: a certificate that ends soon, has ended or cannot be read is found`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let file = "\(directory.path)/server.pem"
        let authority = try CertificateAuthority(commonName: "test", now: 0)
        try await AdminPlace.run { place in
            let now = Int64(Date().timeIntervalSince1970)
            // Days that it is still valid.
            let soon = ["certificate-expiring"]
            for (days, expected) in [(20, []), (10, soon), (-1, soon)] as [(Int64, [String])] {
                let issued = try authority.issue(
                    hosts: ["localhost"], now: now - 100 * 86_400, validity: .seconds((100 + days) * 86_400))
                try issued.certificatePEM.write(toFile: file, atomically: true, encoding: .utf8)
                #expect(try await codes(place, "--certificate", file) == expected, "\(days)")
                let whole = try await place.perform("doctor", "--certificate", file, "-o", "json")
                #expect(whole.terminal.output.contains("has expired") == (days < 0))
            }
            try "no certificate".write(toFile: file, atomically: true, encoding: .utf8)
            #expect(try await codes(place, "--certificate", file) == ["certificate-unreadable"])
        }
    }

    /// The rows of the table below the title of docs/admin.md: codes, and what they are.
    private static func documented() throws -> [String: String] {
        let document = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/admin.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        let below = try #require(text.split(separator: "\n## What doctor finds\n").last)
        let part = try #require(below.split(separator: "\n## ").first)
        var rows: [String: String] = [:]
        for line in part.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            for code in cells[0].matches(of: /`([a-z-]+)`/) { rows[String(code.1)] = cells[1] }
        }
        return rows
    }

    @Test func `R-870: docs/admin.md has each code of the doctor, with its severity`() throws {
        let rows = try Self.documented()
        #expect(Set(rows.keys) == Set(DoctorFinding.Code.allCases.map(\.rawValue)))
        let severities = DoctorFinding.Severity.allCases.map(\.rawValue)
        #expect(rows.values.allSatisfy { severities.contains($0) || $0 == "error or warning" })
        #expect(rows["migrations-missing"] == Diagnosis.migrationsMissing.severity.rawValue)
        for finding in Diagnosis.clock(here: 0...0, there: 9_999) + Diagnosis.credentials(expired: 1, soon: 1) {
            #expect(rows[finding.code.rawValue] == finding.severity.rawValue)
        }
    }

    @Test func `R-871: a bundle is written for its owner alone, and not over another file`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let (file, log) = ("\(directory.path)/b.tar.gz", "\(directory.path)/log")
        try Data("url=postgresql://u:s3cr3t@h/d\n".utf8).write(to: URL(fileURLWithPath: log))
        try await AdminPlace.run { place in
            _ = try await place.user("alice")
            let written = try await place.perform("debug", "bundle", "--file", file, "--log", log)
            #expect(written.status == .ok, "\(written.terminal.messages)")
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(try await place.perform("debug", "bundle", "--file", file).status == .refused)
        }
        let input = try InputFile(path: file)
        var bytes: [UInt8] = []
        while let byte = try input.next() { bytes.append(byte) }
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("log.txt") && text.contains(Redaction.mark) && !text.contains("s3cr3t"))
        #expect(text.contains("doctor.jsonl") && text.contains("max_connections"))
    }
}
