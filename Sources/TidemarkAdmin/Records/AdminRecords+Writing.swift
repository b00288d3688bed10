// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService
internal import TidemarkStore

extension AdminRecords {
    struct Save: AdminCommand {
        static let configuration = CommandConfiguration(
            "save", abstract: "Save records from JSON lines, as records export, get and accounts export write them.",
            discussion: """
                Of an account's archive, the records of the zone with this name are saved; `accounts import` reads all of it. \
                The rules and the schema apply as for apps, and devices are told. Grants do not apply. Records that exist are \
                left alone, so a command that was cut off can be repeated. --replace saves the fields over them. Assets must \
                be there already. Encrypted values are saved if the zone has their keys; otherwise they are left out, and \
                the status is 1. `import` also reads these lines, and CSV.
                """,
            examples: "tidemark admin records save alice Notes notes.jsonl --container iCloud.org.example.notes",
            "tidemark admin records save public _defaultZone airports.jsonl --account alice --replace")
        static let role = OperatorRole.editor

        @OptionGroup var place: ZoneArguments
        @Argument(help: "The file; - for standard input.") var file: String
        @Flag(help: "Also save records that exist already.") var replace = false
        @Option(
            help: ArgumentHelp(
                "The account that becomes the creator. Needed for the public database.", valueName: "account"),
            completion: .live(.accounts))
        var account: String?
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let (found, zone) = try await place.find(console, creator: account)
            guard let user = found.user else {
                throw AdminFailure(.usage, "Missing --account: give the account that becomes the records' creator.")
            }
            let input = try console.screen.open(file)
            // With --dry-run, the records are looked at below.
            if replace, !console.isDryRun {
                let count = Amount.records(try await console.store.content(of: zone.key)?.recordCount ?? .exactly(0))
                try await console.confirm(
                    "save the records of \(file) in \(zone.key.name)",
                    loss: "The zone has \(count). Those that are also in the file lose their fields to it.")
            }
            let service = CloudService(
                storage: console.storage, scheduler: console.loop, limits: .standard, onMoved: { _ in })
            let saver = RecordSaver(
                console, service, zone: zone.key, user: user.id, replaces: replace, isDryRun: console.isDryRun)
            let source = RecordLinesSource(
                JSONLinesReader(input, lineBytesMax: InputLimits.lineBytesMax(on: console.screen)),
                SavedLines(container: try? console.container(), zone: zone.key.name))
            try await RecordLoader.load(source, from: input.name, into: saver)
            await service.stop()
            let text =
                console.isDryRun
                ? "Would save up to \(Amount.records(saver.tally.savedCount)) in \(zone.key.name), and refuse "
                    + "\(saver.tally.failedCount).\(saver.tally.unreadableText)" : saver.tally.text
            guard saver.tally.isWhole else { throw AdminFailure(.failedCheck, text) }
            console.say(text)
        }
    }

    struct Delete: AdminCommand {
        static let configuration = CommandConfiguration(
            "delete", abstract: "Delete records, as an app would.",
            discussion: "The rules apply: what refers to them with deleteSelf goes too. Devices are told.",
            examples: "tidemark admin records delete alice Notes 7F3A 81B0 --container iCloud.org.example.notes")
        static let role = OperatorRole.editor

        @OptionGroup var place: ZoneArguments
        @Argument(help: "The records' names.") var names: [String]
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let (found, zone) = try await place.find(console)
            guard names.count <= Limits.standard.itemsMax, Set(names).count == names.count else {
                throw AdminFailure(.usage, "Name at most \(Limits.standard.itemsMax) records, each once.")
            }
            let valid = names.filter { RecordName.isValid($0, limits: .standard) }
            let living = try await console.store.records(named: valid, in: zone.key).filter { !$0.isDeleted }
            let missing = names.filter { name in !living.contains { $0.name == name } }
            guard missing.isEmpty else {
                throw AdminFailure(
                    .refused,
                    "There is no record \(missing.joined(separator: ", ")) in \(zone.key.name). Nothing was changed.")
            }
            let bytes = living.reduce(0) { $0 + $1.fields.byteCount }
            try await console.confirm(
                "delete \(Amount.text(living.count, "record")) of \(zone.key.name)",
                loss: "They have \(bytes) bytes, and records that refer to them with deleteSelf go too.")
            let service = CloudService(
                storage: console.storage, scheduler: console.loop, limits: .standard, onMoved: { _ in })
            let user = found.user?.id ?? living.first?.createdBy ?? UserID(0)
            let saver = RecordSaver(console, service, zone: zone.key, user: user, replaces: true)
            for name in names { try await saver.delete(name) }
            try await saver.finish()
            await service.stop()
            guard saver.tally.failedCount == 0 else {
                throw AdminFailure(
                    .failedCheck, "Deleted \(saver.tally.deletedCount), refused \(saver.tally.failedCount).")
            }
            console.say("Deleted \(saver.tally.deletedCount).")
        }
    }
}
