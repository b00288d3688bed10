// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkAssets
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore

extension AdminAccounts {
    struct Export: AdminCommand {
        static let configuration = CommandConfiguration(
            "export", abstract: "Write all private data of an account to standard output.",
            discussion: """
                The archive is JSON lines, and has zones, records with the types of their fields, and with --asset-directory \
                the assets. `accounts import` reads it, here or on another server. Encrypted values and shares are left out: \
                only the user's devices can read the former, and the latter are known to this server alone.
                """,
            examples: "tidemark admin accounts export alice > alice.jsonl",
            "tidemark admin accounts export alice --asset-directory /var/lib/tidemark/assets > alice.jsonl")
        static let role = OperatorRole.viewer
        static let readsAllData = true

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @OptionGroup var assets: AssetOptions
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let directory = try assets.directory(on: console.screen)
            let id = try await console.account(account)
            let users = try await console.store.users(of: id)
            let person = try await console.store.account(shownAs: account)?.personName
            let files = try directory.map { directory in
                try FileAssetStore(
                    directory: directory, threads: 1, uploadBytesMax: Limits.standard.uploadBytesMax)
            }
            defer { files?.stop() }
            var writer = ArchiveWriter(console.store, assets: files) { try await console.write($0) }
            try await writer.write(account: account, person: person, users: users)
            let tally = writer.tally
            console.say(
                "Exported \(tally.zoneCount) zones, \(tally.recordCount) records and \(tally.assetCount) assets. Left out "
                    + "\(tally.encryptedCount) encrypted values and \(tally.shareCount) shares.")
            guard tally.missingAssetCount == 0 else {
                throw AdminFailure(.failedCheck, "\(tally.missingAssetCount) assets have no file in the directory.")
            }
        }
    }

    struct Import: AdminCommand {
        static let configuration = CommandConfiguration(
            "import", abstract: "Save what an archive has into an account.",
            discussion: """
                The rules and the schema apply as for apps, and devices are told. Containers and zones that do not exist are \
                created. Records that exist are left alone, so a command that was cut off can be repeated. Assets need \
                --asset-directory.
                """,
            examples: "tidemark admin accounts create alice",
            "tidemark admin accounts import alice alice.jsonl.gz --asset-directory /var/lib/tidemark/assets")
        static let role = OperatorRole.owner

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "The archive, gzipped or not; - for standard input.") var file: String
        @Flag(help: "Also save records that exist already.") var replace = false
        @OptionGroup var assets: AssetOptions
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let directory = try assets.directory(on: console.screen)
            let id = try await console.account(account)
            let action = "save what \(file) has into the account \(account)"
            if replace {
                let users = try await console.store.users(of: id)
                let count = try await console.store.recordCount(in: users.map(\.privateDatabase))
                try await console.confirm(
                    action,
                    loss: "It has \(Amount.records(count)). Those that are also in the archive lose their fields to it."
                )
            } else {
                try console.plan(action)
            }
            let files = try directory.map { directory in
                try FileAssetStore(
                    directory: directory, threads: 1, uploadBytesMax: Limits.standard.uploadBytesMax)
            }
            defer { files?.stop() }
            let service = CloudService(
                storage: console.storage, assets: files, scheduler: console.loop, limits: .standard,
                onMoved: { _ in })
            let archive = ArchiveReader(console, service, account: account, replaces: replace)
            var lines = JSONLinesReader(
                try console.screen.open(file),
                lineBytesMax: InputLimits.lineBytesMax(on: console.screen))
            var number = 0
            while let line = try lines.nextLine() {
                number += 1
                guard !line.isEmpty else { continue }
                do {
                    try await archive.take(try ArchiveLine(parsing: line))
                } catch let mistake as InputMistake {
                    throw AdminFailure(.refused, "\(file):\(number): \(mistake.text)")
                }
            }
            try await archive.finish()
            await service.stop()
            let tally = archive.tally
            let text =
                "Imported \(archive.zoneCount) zones, \(tally.savedCount) records and \(archive.assetCount) assets, skipped "
                + "\(tally.skippedCount) that existed, refused \(tally.failedCount)."
            guard tally.failedCount == 0 else { throw AdminFailure(.failedCheck, text) }
            console.say(text)
        }
    }
}
