// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// An operator with a context of a server, and no way to its database.
struct OperatorSeat: Sendable {
    let name: String
    let container: String
    let directory: TestDirectory

    /// Makes the operator on the database of the place, and the context.
    ///
    /// - Parameters:
    ///   - port: at which the server takes commands; nil: that of the place's server.
    ///   - credential: nil: a new one.
    ///   - authority: the file of the certificate's authority; empty: none.
    static func take(
        _ place: OperatorPlace, _ name: String, role: String, port: Int? = nil, credential: String? = nil,
        authority: String? = nil, scheme: String = "wss"
    ) async throws -> OperatorSeat {
        var token = credential
        if token == nil {
            let created = try await place.admin("operators", "create", name, "--role", role)
            #expect(created.status == 0, "\(created.output)")
            let issued = try await place.admin("operators", "issue", name, "-o", "name")
            token = issued.output.split(separator: "\n").first.map(String.init)
        }
        let file = try place.write((token ?? "") + "\n", to: "\(name).token")
        let port = try port ?? Self.port(of: place.server)
        let authority = authority ?? place.site.authorityFile
        let added = try await place.admin(
            [
                "context", "add", name, "--server", "\(scheme)://127.0.0.1:\(port)", "--credential-file", file,
                "--container", place.site.container,
            ] + (authority.isEmpty ? [] : ["--ca", authority]))
        #expect(added.status == 0, "\(added.output)")
        return OperatorSeat(name: name, container: place.site.container, directory: place.directory)
    }

    /// The port at which a server takes commands.
    static func port(of server: Program) throws -> Int {
        try #require(OperatorPlace.operatorsPort(of: server), "\(server.output)")
    }

    /// Runs a command over the server, to its end.
    func run(_ arguments: String...) async throws -> (status: Int32, output: String) { try await run(arguments) }

    func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await Program.run("tidemark", words(arguments), directory: directory.path)
    }

    /// Starts a command over the server.
    func start(_ arguments: String...) throws -> Program {
        try Program("tidemark", words(arguments), directory: directory.path)
    }

    func words(_ arguments: [String]) -> [String] { ["admin"] + arguments + ["--context", name] }
}
