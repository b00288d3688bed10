// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkAssets
internal import TidemarkDomain
internal import TidemarkService

struct AdminAssets: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assets", abstract: "Files that records have.", subcommands: [Collect.self])

    struct Collect: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove assets that no record names any more.",
            discussion: """
                Servers do this every hour. This command also finds files that the database does not know, for example after \
                a restore from a backup. Their grace time begins when they are found. Servers may run meanwhile.
                """)

        @Flag(help: "Show what would be removed, and remove nothing.") var dryRun = false
        @OptionGroup var assets: AssetOptions
        @OptionGroup var database: DatabaseOption

        func run() throws {
            let directory = try assets.requiredDirectory()
            let grace = try assets.grace()
            let dryRun = dryRun
            let collection = try database.withStorage { storage, loop in
                let limits = Limits.standard
                let store = try FileAssetStore(
                    directory: directory, threads: 1, uploadBytesMax: limits.uploadBytesMax)
                defer { store.stop() }
                let service = CloudService(
                    storage: storage, assets: store, scheduler: loop, limits: limits, onMoved: { _ in })
                return try await service.collectAssets(grace: grace, isDryRun: dryRun, findsUnknown: true).get()
            }
            let verb = dryRun ? "Would remove" : "Removed"
            print("\(verb) \(collection.count) assets, \(collection.byteCount) bytes.")
            if collection.foundCount > 0 {
                print("Found \(collection.foundCount) that the database did not know. Their grace time begins now.")
            }
        }
    }
}
