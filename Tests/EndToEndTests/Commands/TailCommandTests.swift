// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

/// `tail` beside a server, with the real program.
@Suite struct TailCommandTests {
    private func save(_ name: String, in database: CKDatabase) async throws {
        try await database.save(CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: name)))
    }

    @Test(arguments: [["alice"], ["--account", "alice"]])
    func `R-872, R-913: a change is shown when it is committed, and a limit ends it`(_ choice: [String]) async throws {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let database = place.database(.private)
            try await save("first", in: database)
            let tail = try Program(
                "tidemark",
                ["admin", "tail"] + choice + [
                    "--container", place.site.container, "--after", "all-", "--limit", "3", "-o", "name",
                ], environment: ["TIDEMARK_DATABASE_URL": place.database.url], directory: place.directory.path)
            // One after the other: what comes later did not exist when it began.
            for (name, shown) in [("second", "first\n"), ("third", "first\nsecond\n")] {
                try await eventually("\(shown) is shown") { tail.output == shown }
                #expect(tail.isRunning)
                try await save(name, in: database)
            }
            #expect(try await tail.exit() == 0)
            #expect(tail.output.hasPrefix("first\nsecond\nthird\n"), "\(tail.output)")
        }
    }
}
