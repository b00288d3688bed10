// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

struct AdminStoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store", abstract: "The store as a whole.",
        subcommands: [RenewIncarnation.self, Mend.self, Verify.self])

    struct RenewIncarnation: AdminCommand {
        static let configuration = CommandConfiguration(
            "renew-incarnation",
            abstract:
                "After a restore from a backup: make all change tokens void, so that devices fetch everything again.",
            discussion: """
                Stop all servers first. Without this, only devices that are ahead of the backup fetch everything. The others \
                miss what was undone.
                """,
            examples: "tidemark admin store renew-incarnation --yes")
        static let role = OperatorRole.owner

        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let counts = try await console.store.accountAndDeviceCounts()
            let devices =
                counts.map { "\(Amount.text($0.devices, "device")) of \(Amount.text($0.accounts, "account"))" }
                ?? "All devices (not counted: it takes too long)"
            try await console.confirm(
                "make all change tokens void", loss: "\(devices) will fetch everything again.")
            try await console.store.renewIncarnation()
            console.say("Renewed. Devices will fetch everything again when they connect.")
        }
    }

    struct Mend: AdminCommand {
        static let configuration = CommandConfiguration(
            "mend",
            abstract:
                "Recompute what a server of an older version has not counted: digests, and shares of public databases.",
            discussion: """
                Without it such a zone's digest and number of records stay unknown: devices that compare the zone read all of \
                its names, and commands count its records. What accounts have created in public databases is counted anew where \
                it is wrong. Stop the older servers first. Writers of a zone wait while its \
                records are read, a second or two for a million.
                """,
            examples: "tidemark admin store mend")
        static let role = OperatorRole.editor

        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            if console.isDryRun {
                let unknown = try await console.store.unknownDigestCount()
                let wrong = try await console.store.wrongPublicUseCount()
                guard unknown + wrong > 0 else { return console.say(Self.nothing) }
                try console.plan(
                    wrong == 0
                        ? "compute the digests of \(Amount.zones(unknown))"
                        : "compute the digests of \(Amount.zones(unknown)), and what accounts have in "
                            + Amount.text(wrong, "public database"))
            }
            var (count, publicCount) = (0, 0)
            do {
                try await console.store.mendDigests { count += 1 }
                try await console.store.mendPublicUses { publicCount += 1 }
            } catch {
                throw AdminFailure(
                    error,
                    done:
                        "\(Amount.zones(count)) and \(Amount.text(publicCount, "public database")) mended so far. Run the "
                        + "command again for the rest.")
            }
            guard count + publicCount > 0 else { return console.say(Self.nothing) }
            let publics =
                publicCount == 0 ? "" : ", and what accounts have in \(Amount.text(publicCount, "public database"))"
            console.say("Mended \(Amount.zones(count))\(publics).")
        }

        private static let nothing = "Every zone has its digest: there is nothing to mend."
    }

    struct Verify: AdminCommand {
        static let configuration = CommandConfiguration(
            "verify", abstract: "Compare the store with its records, its quotas and its files.",
            discussion: """
                Servers may run meanwhile, and nothing is changed. Every record is read once. With --asset-directory the files \
                of assets are looked at, and with --deep read. Each finding has a code, a sentence and a remedy, as those of \
                doctor.
                """,
            examples: "tidemark admin store verify",
            "tidemark admin store verify --deep --ci --asset-directory /var/lib/tidemark/assets")
        static let role = OperatorRole.viewer

        @Flag(help: "End with status 1 if there are findings.") var ci = false
        @Flag(help: "Also read the files of assets.") var deep = false
        @OptionGroup var assets: AssetOptions
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let directory = try assets.directory(on: console.screen)
            guard directory != nil || !deep else {
                throw AdminFailure(
                    .usage, "--deep reads the files of assets: name their directory with --asset-directory.")
            }
            let check = StoreCheck(console: console, directory: directory, isDeep: deep, grace: try assets.grace())
            var count = 0
            try await check.run { findings in
                count += findings.count
                try await console.show(findings, as: AdminDoctor.columns)
            }
            guard count > 0 else { return console.say("Nothing was found.") }
            if ci { throw AdminFailure(.failedCheck, "\(Amount.text(count, "finding")).") }
        }
    }
}
