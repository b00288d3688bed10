// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

@Suite struct AdminKeysTests {
    @Test func `rotate-master says so if it was done before and nobody heard of it`() async throws {
        try await KeyWorld.with { world in
            // A first start makes the master key.
            try await world.withServer { _ in }
            let new = "\(world.directory.path)/new.key"
            for text in ["Encrypted 0 keys", "already encrypted with the master key in \(new)"] {
                let rotated = try await Program.run(
                    "tidemark", ["admin", "keys", "rotate-master", "--old", world.masterKeyFile, "--new", new],
                    environment: ["TIDEMARK_DATABASE_URL": world.databaseURL], directory: world.directory.path)
                #expect(rotated.status == 0 && rotated.output.contains(text), "\(rotated.output)")
            }
        }
    }
}
