// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
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
