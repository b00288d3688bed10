// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// What an operator is told when an import cannot go on.
@Suite struct ImportMishapTests {
    private static let options = [
        "--type", "Place", "--name", "id", "--container", "iCloud.test.operator", "--account", "alice",
    ]

    private func load(_ place: OperatorPlace, _ file: String) async throws -> (status: Int32, output: String) {
        try await OperatorPlace.tidemark(
            ["admin", "import", "public", file] + Self.options, place.database, place.directory)
    }

    /// gzip's head and the first part of what it packs, without an end (RFC 1951 §3.2.4, RFC 1952 §2.3).
    private func cutOff(_ text: String) -> Data {
        let head: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
        let length = UInt16(text.utf8.count)
        let block: [UInt8] = [0] + [length, ~length].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        return Data(head + block + Array(text.utf8))
    }

    @Test func `a file that is none, or ends too early: what was imported is told, and may be gone on with`()
        async throws
    {
        try await OperatorPlace.with { place in
            #expect(try await place.admin("containers", "create", place.site.container).status == 0)
            try FileManager.default.createDirectory(
                atPath: "\(place.directory.path)/places.csv", withIntermediateDirectories: false)
            let named = try await load(place, "\(place.directory.path)/places.csv")
            #expect(named.status == 2 && named.output.contains("places.csv is a folder"), "\(named.output)")
            let piped = try await load(place, "-")
            #expect(piped.status == 2 && piped.output.contains("whether standard input is csv or jsonl"))

            let rows = (0..<900).map { "p\($0),\($0)\n" }.joined()
            let file = "\(place.directory.path)/places.csv.gz"
            try cutOff("id,n\n" + rows).write(to: URL(fileURLWithPath: file))
            for tally in ["Imported 900, skipped 0 that existed", "Imported 0, skipped 900 that existed"] {
                let broken = try await load(place, file)
                #expect(broken.status == 1 && broken.output.contains("is incomplete"), "\(broken.output)")
                #expect(broken.output.contains("So far: \(tally), refused 0. Imported records are saved."))
            }
        }
    }

    @Test func `a signal breaks an import off`() async throws {
        try await OperatorPlace.with { place in
            #expect(try await place.admin("containers", "create", place.site.container).status == 0)
            // Whoever reads it waits for more.
            let pipe = "\(place.directory.path)/places.csv"
            #expect(mkfifo(pipe, 0o600) == 0)
            let writer = open(pipe, O_RDWR | O_CLOEXEC)
            defer { close(writer) }
            let importer = try Program(
                "tidemark", ["admin", "import", "public", pipe] + Self.options,
                environment: ["TIDEMARK_DATABASE_URL": place.database.url], directory: place.directory.path)
            try await eventually("it reads") { self.holds(importer.id, pipe) }
            importer.signal(SIGINT)
            #expect(try await importer.exit() == 130)
            #expect(importer.output.contains("Interrupted. Imported records are saved. Run the same command again"))
        }
    }

    /// Whether the process has the file open.
    private func holds(_ process: pid_t, _ path: String) -> Bool {
        let folder = "/proc/\(process)/fd"
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return descriptors.contains {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path
        }
    }
}
