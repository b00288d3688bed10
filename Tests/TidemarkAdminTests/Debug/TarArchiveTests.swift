// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct TarArchiveTests {
    private static let files: [(name: String, content: [UInt8])] = [
        ("d/empty.txt", []), ("d/one.txt", Array("one\n".utf8)), ("d/block.bin", [UInt8](repeating: 7, count: 512)),
        ("d/long.bin", (0..<100_000).map { UInt8($0 % 251) }),
    ]

    @Test func `R-871: tar itself reads what is written`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        var archive = TarArchive()
        for file in Self.files { archive.add(file.name, file.content, at: 1_700_000_000) }
        let path = "\(directory.path)/a.tar.gz"
        try Data(try #require(archive.gzipped)).write(to: URL(fileURLWithPath: path))
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["tar", "-xzf", path, "-C", directory.path]
        try process.start()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        for file in Self.files {
            let read = try Data(contentsOf: URL(fileURLWithPath: "\(directory.path)/\(file.name)"))
            #expect(Array(read) == file.content, "\(file.name)")
        }
    }
}
