// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkAssets
internal import TidemarkDomain
internal import TidemarkService

struct AdminAssets: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assets", abstract: "Files of records (assets).", subcommands: [Collect.self])

    struct Collect: AdminCommand {
        static let configuration = CommandConfiguration(
            "collect", abstract: "Remove assets that no record names any more.",
            discussion: """
                Servers do this every hour. This command also finds files that the database does not know, for example after \
                a restore from a backup. Their grace time begins when they are found. Servers may run meanwhile.
                """,
            examples: "tidemark admin assets collect --asset-directory /var/lib/tidemark/assets --dry-run")
        static let role = OperatorRole.owner

        @OptionGroup var assets: AssetOptions
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            try console.screen.requireLocalFiles("The files of assets are on the servers' disks.")
            let limits = Limits.standard
            let grace = try assets.grace()
            let directory = try assets.requiredDirectory()
            // The store would make one, and there is nothing in it to collect.
            guard AssetFiles.freeByteCount(at: directory) != nil else {
                throw AdminFailure(.refused, "There is no directory \(directory). Name that of the servers' assets.")
            }
            let store = try FileAssetStore(directory: directory, threads: 1, uploadBytesMax: limits.uploadBytesMax)
            defer { store.stop() }
            let service = CloudService(
                storage: console.storage, assets: store, scheduler: console.loop, limits: limits, onMoved: { _ in })
            let planned = try await service.collectAssets(grace: grace, isDryRun: true, findsUnknown: true).get()
            if planned.count > 0 || console.isDryRun {
                try await console.confirm(
                    "remove \(planned.count) assets, \(planned.byteCount) bytes", loss: "No record names them any more."
                )
            }
            let done = try await service.collectAssets(grace: grace, isDryRun: false, findsUnknown: true).get()
            console.say("Removed \(done.count) assets, \(done.byteCount) bytes.")
            if done.foundCount > 0 {
                console.say("Found \(done.foundCount) that the database did not know. Their grace time begins now.")
            }
        }
    }
}
