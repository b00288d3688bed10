// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkTestSupport

/// A server that comes back on the same addresses when it has ended.
struct ServerSeat: Sendable {
    let name: String
    let port: Int
    /// Of the admin listener; nil: it has none.
    let checks: Int?
    /// Further ones of `serve`.
    let flags: [String]
    /// Of the database.
    let url: String
    let directory: String

    /// On ports on which nobody listens.
    init(_ name: String, flags: [String], hasChecks: Bool = false, url: String, in directory: TestDirectory) throws {
        self.name = name
        port = try FrontProxy.freePort()
        checks = hasChecks ? try FrontProxy.freePort() : nil
        self.flags = flags
        self.url = url
        self.directory = directory.path
    }

    /// Returns when it serves.
    func start() async throws -> Program {
        let admin = checks.map { ["--admin-listen", "127.0.0.1:\($0)"] } ?? []
        let server = try Program(
            "tidemark", ["serve", "--listen", "127.0.0.1:\(port)"] + admin + flags,
            environment: ["TIDEMARK_DATABASE_URL": url], directory: directory)
        try await eventually("server \(name) serves", within: .seconds(60)) {
            guard server.isRunning else { throw NeverHappened(description: server.output) }
            return server.output.contains(" serving ")
        }
        return server
    }
}
