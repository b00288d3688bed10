// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore

struct AdminImport: AdminCommand {
    static let configuration = CommandConfiguration(
        "import", abstract: "Save the rows of a file as records.",
        discussion: """
            The file is CSV or JSON lines, gzipped or not. What `records export`, `records get`, `records query -o json` \
            and `accounts export` write is recognised by its first line: a record with recordName, recordType and fields \
            that have types, or the columns recordName, recordType and parent and then KEY:TYPE. Such a file needs neither \
            --type nor --name, and takes no rule. Of an archive, the records of the zone are saved. Encrypted values are \
            saved if the zone has their keys, and otherwise left out, with status 1.

            Of any other file, the first line of a CSV file names the columns. Each line of a \
            JSON lines file is an object. A column becomes the field with its name. Cells of CSV become strings, and values \
            of JSON keep their types. Empty cells become no fields. --field or a mapping file describes all other fields. \
            Each line of a mapping file is one of these:

              type Airport
              name icao
              underscore x
              field elevation double
              field location location lat lon elevation*0.3048
              field country reference deleteSelf
              field tags list<string> "the tags" separator=;
              skip lid
              only

            Types are string, int64, double, date, bool, bytes (Base64), list<…> of these, location and reference. The rules \
            and the schema apply as for apps. Grants do not. A faulty row is reported with its line, and the other rows are \
            imported.

            Records that exist are left alone. So run the same command again after an interruption. --replace saves the \
            file's fields over existing records.
            """,
        examples: "tidemark admin import alice notes.jsonl --zone Notes",
        "tidemark admin import public airports.csv --type Airport --name icao --account alice",
        "tidemark admin import alice notes.jsonl --type Note --name recordName --zone Notes --dry-run")
    static let role = OperatorRole.editor

    @Argument(help: "public, or an account's name for its private database.", completion: .live(.databases))
    var database: DatabaseArgument
    @Argument(help: "The file; - for standard input.") var file: String
    @Option(help: ArgumentHelp("A file that says how columns become fields.", valueName: "file")) var mapping: String?
    @Option(help: ArgumentHelp("The type of the records.", valueName: "type")) var type: String?
    @Option(help: ArgumentHelp("The column that names the records.", valueName: "column")) var name: String?
    @Option(help: ArgumentHelp("The prefix for names that begin with an underscore.", valueName: "text"))
    var underscore: String?
    @Option(
        help: ArgumentHelp(
            "How a field is made, such as 'elevation double'. May be repeated.", valueName: "key type columns"))
    var field: [String] = []
    @Option(help: ArgumentHelp("A column to leave out. May be repeated.", valueName: "column")) var skip: [String] = []
    @Flag(help: "Leave out all columns without a rule.") var only = false
    @Option(help: "csv or jsonl. Default: by the file's name.") var format: ImportFormat?
    @Option(help: ArgumentHelp("What separates the cells of CSV. Write tab for tabs.", valueName: "character"))
    var delimiter = ","
    @Flag(help: "Also save records that exist already.") var replace = false
    @Option(
        help: ArgumentHelp(
            "The account that becomes the creator. Needed for the public database.", valueName: "account"),
        completion: .live(.accounts))
    var account: String?
    @Option(help: "The zone.", completion: .live(.zones)) var zone = ZoneName.default
    @OptionGroup(title: "Options of all commands") var options: AdminOptions

    var interruption: String? { "\nInterrupted. \(Importer.advice)" }

    func run(_ console: Console) async throws {
        if case .public = database, account == nil {
            throw AdminFailure(.usage, "Missing --account: give the account that becomes the records' creator.")
        }
        let input = try console.screen.open(file)
        let tally: ImportTally
        switch try records(in: input, console) {
        case .typed(let source): tally = try await load(source, input, console)
        case .rows(var reader): tally = try await load(&reader, input, try fullMapping(console.screen), console)
        }
        try await show(tally, console)
        if tally.failedCount > 0 {
            throw AdminFailure(.failedCheck, "\(Amount.records(tally.failedCount)) could not be imported.")
        }
        if tally.unreadableCount > 0 {
            throw AdminFailure(
                .failedCheck, "\(Amount.text(tally.unreadableCount, "encrypted value")) could not be imported.")
        }
    }

    /// The forms of a file.
    private enum Records {
        /// Records with the types of their fields (R-910).
        case typed(any RecordSource)
        /// Rows, of which rules make records.
        case rows(any InputReader)
    }

    private func records(in input: InputFile, _ console: Console) throws(AdminFailure) -> Records {
        switch try inputFormat() {
        case .jsonl:
            var reader = JSONLinesReader(
                input, lineBytesMax: InputLimits.lineBytesMax(on: console.screen))
            guard let line = try reader.firstLine(), SavedLines.has(line) else { return .rows(reader) }
            return .typed(RecordLinesSource(reader, SavedLines(container: try console.container(), zone: zone)))
        case .csv:
            let reader = try CSVReader(input, delimiter: try delimiterByte())
            let lineBytesMax = InputLimits.lineBytesMax(on: console.screen)
            return RecordCSVSource(reader, rowBytesMax: lineBytesMax).map { .typed($0) } ?? .rows(reader)
        }
    }

    private func load(
        _ source: any RecordSource, _ input: InputFile, _ console: Console
    ) async throws -> ImportTally {
        let rules: [(String, Bool)] = [
            ("--type", type != nil), ("--name", name != nil), ("--mapping", mapping != nil),
            ("--underscore", underscore != nil), ("--field", !field.isEmpty), ("--skip", !skip.isEmpty),
            ("--only", only),
        ]
        let given = rules.filter(\.1).map(\.0)
        guard given.isEmpty else {
            throw AdminFailure(
                .usage,
                "\(input.name) has records with the types of their fields: leave out \(given.joined(separator: ", ")).")
        }
        let (key, user) = try await place(console)
        let service = CloudService(
            storage: console.storage, scheduler: console.loop, limits: .standard, onMoved: { _ in })
        let saver = RecordSaver(
            console, service, zone: key, user: user.id, replaces: replace, isDryRun: console.isDryRun)
        let progress = Progress(input.name, console.screen)
        try await RecordLoader.load(source, from: input.name, into: saver) { count in
            progress.show(input.fractionRead, recordCount: count)
        }
        progress.end()
        await service.stop()
        // Only an optimisation: see `end`.
        if saver.tally.savedCount > 0, !console.isDryRun { try? await console.store.refreshStatistics() }
        return ImportTally(saver.tally)
    }

    private func show(_ tally: ImportTally, _ console: Console) async throws {
        if console.output == .table || console.output == .wide {
            return try await console.write((console.isDryRun ? tally.plannedText : tally.text) + "\n")
        }
        try await console.show(
            [tally],
            as: [
                Column("IMPORTED", key: "imported") { .number($0.savedCount) },
                Column("SKIPPED", key: "skipped") { .number($0.skippedCount) },
                Column("REFUSED", key: "refused") { .number($0.failedCount) },
                Column("LEFT OUT", key: "encryptedLeftOut") { .number($0.unreadableCount) },
            ])
    }

    /// The mapping file, combined with the options.
    private func fullMapping(_ screen: Screen) throws(AdminFailure) -> ImportMapping {
        var mapping = ImportMapping()
        if let path = self.mapping { mapping = try ImportMapping.read(try screen.open(path)) }
        mapping.recordType = type ?? mapping.recordType
        mapping.nameColumn = name ?? mapping.nameColumn
        mapping.underscorePrefix = underscore ?? mapping.underscorePrefix
        mapping.skipped.formUnion(skip)
        if only { mapping.takesOthers = false }
        for text in field { try mapping.add(rule: try ImportMapping.words(of: text)) }
        return mapping
    }

    private func load(
        _ reader: inout any InputReader, _ input: InputFile, _ mapping: ImportMapping, _ console: Console
    ) async throws -> ImportTally {
        guard let recordType = mapping.recordType else {
            throw AdminFailure(.usage, "Missing --type: give the type of the records, here or in the mapping.")
        }
        guard let nameColumn = mapping.nameColumn else {
            throw AdminFailure(
                .usage, "Missing --name: give the column with the records' names, here or in the mapping.")
        }
        if let csv = reader as? CSVReader { try Self.check(mapping, against: csv, input) }
        let limits = Limits.standard
        let service = CloudService(
            storage: console.storage, scheduler: console.loop, limits: limits, onMoved: { _ in })
        let (key, user) = try await place(console)
        var converter = RowConverter(mapping, nameColumn: nameColumn)
        let progress = Progress(input.name, console.screen)
        let importer = Importer(
            Importer.Target(
                service: service, loop: console.loop, zone: key, user: user.id, recordType: recordType,
                replaces: replace, limits: limits, isDryRun: console.isDryRun), report: progress.tell)
        let mistake = try await Self.importAll(&reader, of: input, &converter, importer, progress)
        await Self.end(importer, service, key, console)
        if let mistake {
            let soFar = console.isDryRun ? "" : " So far: \(importer.tally.text) \(Importer.advice)"
            throw AdminFailure(.failedCheck, mistake.description + soFar)
        }
        return importer.tally
    }

    /// The zone, and the creator of the records.
    private func place(_ console: Console) async throws -> (zone: ZoneKey, user: AdminStore.User) {
        let place = try await console.place(database, creator: account, makesUsers: true)
        guard let user = place.user else { throw AdminFailure.noDatabase(account, in: try console.container()) }
        let key = ZoneKey(database: place.database, name: zone)
        guard try await hasZone(key, console) else {
            throw AdminFailure(
                .refused, "There is no zone \(zone) in this database. Let an app create it, or omit --zone.")
        }
        // With --dry-run, the rows are looked at below.
        if replace, !console.isDryRun {
            let count = Amount.records(try await console.store.content(of: key)?.recordCount ?? .exactly(0))
            try await console.confirm(
                "save the file's fields over existing records",
                loss: "Records that are also in the file get its fields, among the \(count) of the zone.")
        }
        return (key, user)
    }

    private func hasZone(_ key: ZoneKey, _ console: Console) async throws -> Bool {
        guard ZoneName.isValid(zone, limits: .standard) else { return false }
        // A database that would be made has its default zone.
        if key.database == AdminStore.User.planned.privateDatabase { return zone == ZoneName.default }
        return try await console.storage.records(named: [], in: key, bytesMax: 0, sharing: .nothing).zone != nil
    }

    private static func end(
        _ importer: Importer, _ service: CloudService, _ key: ZoneKey, _ console: Console
    ) async {
        let isChanged = importer.tally.savedCount > 0 && !console.isDryRun
        // Devices are told once. It is a hint: the servers' sweep makes up for a lost one.
        if isChanged {
            try? await console.storage.post([
                .zone(ZoneNotice(database: key.database, life: importer.device, zoneName: key.name))
            ])
        }
        await service.stop()
        // Only an optimisation: PostgreSQL collects statistics on its own after a while, but until then queries have
        // poor plans.
        if isChanged { try? await console.store.refreshStatistics() }
    }

    /// - Returns: why the file cannot be read to its end; the part before is imported.
    private static func importAll(
        _ reader: inout any InputReader, of input: InputFile, _ converter: inout RowConverter, _ importer: Importer,
        _ progress: Progress
    ) async throws(AdminFailure) -> AdminFailure? {
        var mistake: AdminFailure?
        while let row = next(&reader, &mistake) {
            try await importer.add(row, &converter)
            progress.show(input.fractionRead, recordCount: importer.tally.count)
        }
        try await importer.finish()
        progress.end()
        return mistake
    }

    private static func next(_ reader: inout any InputReader, _ mistake: inout AdminFailure?) -> InputRow? {
        do throws(AdminFailure) {
            return try reader.next()
        } catch {
            mistake = error
            return nil
        }
    }

    private static func check(
        _ mapping: ImportMapping, against reader: CSVReader, _ input: InputFile
    ) throws(AdminFailure) {
        let missing = mapping.missingColumns(of: reader.columns)
        guard missing.isEmpty else {
            throw AdminFailure(
                .usage,
                "\(input.name) has no column named \(missing.joined(separator: " or ")). "
                    + "Its columns are: \(reader.columns.joined(separator: ", ")).")
        }
    }

    private func inputFormat() throws(AdminFailure) -> ImportFormat {
        if let format { return format }
        guard file != "-" else {
            throw AdminFailure(.usage, "Missing --format: say whether standard input is csv or jsonl.")
        }
        return try ImportFormat(of: file)
    }

    private func delimiterByte() throws(AdminFailure) -> UInt8 {
        if delimiter == "tab" { return UInt8(ascii: "\t") }
        guard delimiter.utf8.count == 1, let byte = delimiter.utf8.first, !"\"\r\n".utf8.contains(byte) else {
            throw AdminFailure(.usage, "--delimiter must be one ASCII character, or tab.")
        }
        return byte
    }
}

/// The format of an input file.
enum ImportFormat: String, ExpressibleByArgument, CaseIterable {
    case csv, jsonl

    /// - Throws: ``AdminFailure`` for a name that does not show the format.
    init(of path: String) throws(AdminFailure) {
        let parts = path.lowercased().split(separator: ".").filter { $0 != "gz" }
        switch parts.last {
        case "csv", "tsv": self = .csv
        case "jsonl", "ndjson", "json": self = .jsonl
        default:
            throw AdminFailure(
                .usage, "Missing --format: say whether \(path) is csv or jsonl. Its name does not show it.")
        }
    }
}

/// Shows the progress bar, and above it the rows that fail.
private final class Progress {
    private let file: String
    private let screen: Screen
    private var bar: ProgressBar

    init(_ file: String, _ screen: Screen) {
        self.file = file
        self.screen = screen
        bar = ProgressBar(screen)
    }

    func tell(_ line: Int, _ text: String) {
        screen.say("\(file):\(line): \(text)")
    }

    func show(_ fraction: Double?, recordCount: Int) {
        bar.show(fraction, recordCount: recordCount)
    }

    func end() {
        bar.end()
    }
}
