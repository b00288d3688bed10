// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// What the files of deploy/ promise to who starts a server by them.
@Suite struct DeploymentTests {
    private func text(_ path: String) throws -> String {
        try String(contentsOf: SourceFile.root.appendingPathComponent(path), encoding: .utf8)
    }

    @Test func `compose: what serves comes back after a restart, and a password may hold any character`() throws {
        let compose = try text("deploy/compose.yaml")
        let services = compose.matches(of: /(?m)^  (postgres|tidemark):\n(?:    .*\n)+/)
        #expect(services.map { String($0.1) } == ["postgres", "tidemark"])
        for service in services { #expect(service.0.contains("    restart: always\n"), "\(service.1)") }
        for line in compose.split(separator: "\n") where line.contains("TIDEMARK_PASSWORD") && !line.hasPrefix("#") {
            #expect(line.contains(/^ +(POSTGRES_PASSWORD|PGPASSWORD): \$\{TIDEMARK_PASSWORD:\?/), "\(line)")
        }
    }

    @Test func `an image is not built from keys, history and what was built before`() throws {
        let ignored = try text(".dockerignore").split(separator: "\n")
        for name in [".build*", ".tidemark", ".git", "deploy/certificates"] {
            #expect(ignored.contains { $0 == name }, "\(name)")
        }
    }

    @Test func `systemd: a migration may take long, and who the unit runs as is said`() throws {
        let unit = try text("deploy/tidemark.service")
        #expect(unit.contains("\nTimeoutStartSec=infinity\n"))
        let user = try #require(unit.firstMatch(of: /(?m)^User=(\w+)$/)).1
        #expect(try text("deploy/README.md").contains(Regex("useradd --system .*\(user)\n")))
    }
}
