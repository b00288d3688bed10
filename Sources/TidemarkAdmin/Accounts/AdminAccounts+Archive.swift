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
                The archive is JSON lines, and has zones, records with the types of their fields, shares with who takes part, \
                and with --asset-directory the assets. `accounts import` reads it, here or on another server. Encrypted values \
                are in it as they are stored, with the zones' keys. The keys of an account in escrow open on another server \
                only if --master-key-file is given. Then whoever has the archive can read the values: keep it as you keep that \
                file, and set umask 077 before. What is missing is counted, here and in its last line, and the status is \
                1. Credentials, devices, addresses, subscriptions and records in public databases are not in it.
                """,
            examples: "tidemark admin accounts export alice > alice.jsonl",
            "tidemark admin accounts export alice --asset-directory /var/lib/tidemark/assets --master-key-file "
                + "/etc/tidemark/master.key > alice.jsonl")
        static let role = OperatorRole.viewer
        static let readsAllData = true

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @OptionGroup var assets: AssetOptions
        @OptionGroup var master: MasterKeyOption
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        var opensKeys: Bool { master.masterKeyFile != nil }

        func run(_ console: Console) async throws {
            let directory = try assets.directory(on: console.screen)
            let id = try await console.account(account)
            let escrow = try await master.escrow(of: console, claims: false)
            let tally = try await AccountExport(account: account, id: id, directory: directory, escrow: escrow)
                .run(console) { try await console.write($0) }
            console.say(tally.text)
            guard tally.lacks.isNothing else { throw AdminFailure(.failedCheck, tally.lacks.text) }
        }
    }

    struct Import: AdminCommand {
        static let configuration = CommandConfiguration(
            "import", abstract: "Save what an archive has into an account.",
            discussion: """
                The rules and the schema apply as for apps, and devices are told. Containers and zones that do not exist are \
                created. Records that exist are left alone, so a command that was cut off can be repeated. Assets need \
                --asset-directory, and keys of an account in escrow --master-key-file. Zones are shared again, with new \
                links. Who was invited by an address is invited again and must accept. --match-accounts also invites accounts \
                by their names: use it if these are the same people as on the other server. What is left out is counted, and \
                the status is 1.
                """,
            examples: "tidemark admin accounts create alice",
            "tidemark admin accounts import alice alice.jsonl.gz --asset-directory /var/lib/tidemark/assets")
        static let role = OperatorRole.owner

        @Argument(help: "The account's name.", completion: .live(.accounts)) var account: String
        @Argument(help: "The archive, gzipped or not; - for standard input.") var file: String
        @Flag(help: "Also save records that exist already.") var replace = false
        @Flag(help: "Invite people of shares by the names of their accounts.") var matchAccounts = false
        @OptionGroup var assets: AssetOptions
        @OptionGroup var master: MasterKeyOption
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        var opensKeys: Bool { master.masterKeyFile != nil }

        func run(_ console: Console) async throws {
            let directory = try assets.directory(on: console.screen)
            let id = try await console.account(account)
            let input = try console.screen.open(file)
            var lines = JSONLinesReader(input, lineBytesMax: InputLimits.lineBytesMax(on: console.screen))
            if console.isDryRun { return try await plan(&lines, assetsIn: directory, console) }
            if replace {
                let users = try await console.store.users(of: id)
                let count = try await console.store.recordCount(in: users.map(\.privateDatabase))
                try await console.confirm(
                    "save what \(file) has into the account \(account)",
                    loss: "It has \(Amount.records(count)). Those that are also in the archive lose their fields to it."
                )
            }
            let files = try directory.map { directory in
                try FileAssetStore(
                    directory: directory, threads: 1, uploadBytesMax: Limits.standard.uploadBytesMax)
            }
            defer { files?.stop() }
            let escrow = try await master.escrow(of: console, claims: true)
            var limits = Limits.standard
            // Servers may allow larger ones than the standard (--asset-megabytes).
            limits.assetBytesMax = .max
            // Beside an older server shares of hierarchies are refused, as a server refuses them. The archive can be read again.
            let sharedWrites = SharedWrites()
            sharedWrites.serveHierarchies(try await console.storage.olderServers().servers.isEmpty)
            let service = CloudService(
                storage: console.storage, assets: files, escrow: escrow, scheduler: console.loop, limits: limits,
                sharedWrites: sharedWrites, onMoved: { _ in })
            let choices = ArchiveReader.Choices(
                account: account, replaces: replace, matchesAccounts: matchAccounts, escrow: escrow)
            let archive = ArchiveReader(console, service, into: id, choices)
            while let line = try nextLine(of: &lines) { try await archive.take(line) }
            try await archive.finish()
            await service.stop()
            guard archive.isWhole else { throw AdminFailure(.failedCheck, archive.text) }
            console.say(archive.text)
        }

        /// Nil at the end.
        private func nextLine(of lines: inout JSONLinesReader) throws(AdminFailure) -> ArchiveLine? {
            while let line = try lines.nextLine() {
                guard !line.isEmpty else { continue }
                do throws(InputMistake) {
                    return try ArchiveLine(parsing: line)
                } catch {
                    throw AdminFailure(.refused, "\(file):\(lines.line): \(error.text)")
                }
            }
            return nil
        }

        /// Reads all of the archive, and saves nothing.
        private func plan(
            _ lines: inout JSONLinesReader, assetsIn directory: String?, _ console: Console
        ) async throws {
            _ = try await master.escrow(of: console, claims: true)
            var preview = ArchivePreview()
            while let line = try nextLine(of: &lines) {
                try preview.take(line)
                switch line {
                case .container(let line):
                    let key = ContainerKey(identifier: line.container, environment: line.environment.value)
                    guard try await !console.store.isClosed(key) else { throw AdminFailure.noContainer(key) }
                case .asset: if directory == nil { throw AdminFailure(FailureReason.assetsUnavailable) }
                case .account, .zone, .zoneKey, .record, .share, .end: break
                }
            }
            let text = "save up to \(preview.text) into the account \(account)"
            if let fault = preview.fault { throw AdminFailure(.failedCheck, "Would \(text). \(fault)") }
            try console.plan(text)
        }
    }
}

extension ArchiveReader {
    fileprivate var isWhole: Bool {
        tally.isWhole && unknownPeopleCount == 0 && hasAllLines && end?.lacks.isNothing == true
    }

    /// What became of the archive, in words.
    fileprivate var text: String {
        var text =
            "Imported \(Amount.zones(zoneCount)), \(Amount.records(tally.savedCount)), \(Amount.text(assetCount, "asset")) and "
            + "\(Amount.text(tally.shareCount, "share")), skipped \(tally.skippedCount) that existed, refused "
            + "\(tally.failedCount)."
        if tally.unreadableCount > 0 {
            text +=
                " Left out \(Amount.text(tally.unreadableCount, "encrypted value")): their keys cannot be used here, or their "
                + "records are here without them. To save them too, import again with --master-key-file and --replace."
        }
        if unknownPeopleCount > 0 {
            text +=
                " \(Amount.people(unknownPeopleCount)) of shares must be invited anew, or join by the new link of a public "
                + "share."
        }
        guard let end else { return "\(text) \(ArchivePreview.noEnd)" }
        if !hasAllLines { text += " \(ArchivePreview.missingLines)" }
        return end.lacks.isNothing ? text : "\(text) \(end.lacks.text)"
    }
}
