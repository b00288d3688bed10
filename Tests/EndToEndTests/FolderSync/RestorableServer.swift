// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

/// A server on a database that an operator backs up and restores, as `deploy/README.md` says.
final class RestorableServer {
    let directory: TestDirectory
    private(set) var site: Site
    private let database: any RestorableDatabase
    private var server: Program?

    var databaseURL: String { database.url }

    private init(_ directory: TestDirectory, _ database: any RestorableDatabase) {
        self.directory = directory
        self.database = database
        site = Site(url: "", authorityFile: "", tokens: [:], container: "iCloud.test.restored")
    }

    static func with(
        _ method: BackupMethod = .dump, _ body: (RestorableServer) async throws -> Void
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let database = try await method.makeDatabase(directory)
        defer { database.stop() }
        let place = RestorableServer(directory, database)
        try await place.tidemark("migrate")
        try await place.tidemark("admin", "accounts", "create", "alice")
        let token = try await place.tidemark("admin", "credentials", "create", "alice")
        try await place.start(port: 0)
        place.site = Site(
            url: place.site.url, authorityFile: "",
            tokens: ["alice": String(try #require(token.split(separator: "\n").first))], container: place.site.container
        )
        try await body(place)
        try await place.stop()
    }

    @discardableResult
    func tidemark(_ arguments: String...) async throws -> String {
        let result = try await Program.run(
            "tidemark", arguments, environment: ["TIDEMARK_DATABASE_URL": database.url], directory: directory.path)
        #expect(result.status == 0, "\(arguments): \(result.output)")
        return result.output
    }

    private var assetDirectory: String { "\(directory.path)/assets" }
    private var assetBackup: String { "\(directory.path)/backup of assets" }

    /// The names of the files of whole assets.
    var assetFiles: Set<String> {
        let paths = FileManager.default.enumerator(atPath: assetDirectory)?.compactMap { $0 as? String } ?? []
        let files = paths.filter { !$0.hasPrefix("uploads/") }.map { URL(fileURLWithPath: $0) }
        return Set(files.filter { !$0.pathExtension.isEmpty }.map(\.lastPathComponent))
    }

    /// The database, then the asset directory.
    func backUp() async throws {
        try await database.backUp()
        if !database.isWhole { try await copy(assetDirectory, to: assetBackup) }
    }

    /// Goes back to the backup. Devices may be connected until then, and come back.
    ///
    /// - Parameters:
    ///   - withAssets: the asset directory, too. Otherwise it has more than the backup.
    ///   - meanwhile: what devices do that cannot reach the server.
    func restore(withAssets: Bool = false, _ meanwhile: () throws -> Void = {}) async throws {
        try await stop()
        try meanwhile()
        if withAssets { try FileManager.default.removeItem(atPath: assetDirectory) }
        try await database.restore()
        if !database.isWhole {
            if withAssets { try await copy(assetBackup, to: assetDirectory) }
            try await tidemark("admin", "store", "renew-incarnation", "--yes")
        }
        try await start(port: site.port)
    }

    /// With owners, permissions and extended attributes.
    private func copy(_ from: String, to: String) async throws {
        let result = try await Program.run("cp", ["-a", from, to], directory: directory.path, path: "/bin/cp")
        #expect(result.status == 0, "\(result.output)")
    }

    private func start(port: Int) async throws {
        let server = try Program(
            "tidemark",
            [
                "serve", "--listen", "127.0.0.1:\(port)", "--plain", "--create-containers", "--asset-directory",
                assetDirectory, "--master-key-file", "\(directory.path)/master.key",
            ], environment: ["TIDEMARK_DATABASE_URL": database.url], directory: directory.path)
        self.server = server
        try await eventually("tidemark serve serves") {
            guard server.isRunning else { throw NeverHappened(description: server.output) }
            let port = server.output.firstMatch(of: /serving address=127\.0\.0\.1:(\d+)/).flatMap { Int($0.1) }
            guard let port else { return false }
            self.site = Site(
                url: "ws://127.0.0.1:\(port)", authorityFile: "", tokens: self.site.tokens,
                container: self.site.container)
            return true
        }
    }

    private func stop() async throws {
        #expect(try await server?.stop() == 0)
    }
}
