// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService
internal import TidemarkStore

/// A zone of a database on a command line.
struct ZoneArguments: ParsableArguments, Sendable {
    @Argument(help: "public, or the account's name for its private database.", completion: .live(.databases))
    var database: DatabaseArgument
    @Argument(help: "The zone's name.", completion: .live(.zones)) var zone: String

    /// - Throws: ``AdminFailure`` if there is no such zone.
    func find(_ console: Console, creator: String? = nil) async throws -> (place: RecordsPlace, zone: ZoneState) {
        let place = try await console.place(database, creator: creator)
        let key = ZoneKey(database: place.database, name: zone)
        guard ZoneName.isValid(zone, limits: .standard), let found = try await console.store.livingZone(key) else {
            let advice =
                switch database {
                case .public: "It has only \(ZoneName.default)."
                case .private(let account): "See: tidemark admin zones list \(account)"
                }
            throw AdminFailure(.refused, "There is no zone \(zone) in \(database.text). \(advice)")
        }
        return (place, found)
    }
}

extension DatabaseArgument: CustomStringConvertible {
    package var description: String { name }
}

extension AdminRecords {
    struct List: AdminCommand {
        static let configuration = CommandConfiguration(
            "list", abstract: "List the records of a zone by name.",
            discussion: "It reads page after page, so a zone may be as large as it is. The fields come with export.",
            examples: "tidemark admin records list alice Notes --container iCloud.org.example.notes",
            "tidemark admin records list public _defaultZone --type Airport -o name")
        static let role = OperatorRole.viewer

        @OptionGroup var place: ZoneArguments
        @Option(help: ArgumentHelp("Only this type.", valueName: "type")) var type: String?
        @Flag(help: "Also tombstones, which tell of deleted records.") var deleted = false
        @Option(help: "The most records; 0 for all.") var limit = 100
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit must be 0 (for all) or more, not \(limit).") }
        }

        func run(_ console: Console) async throws {
            let zone = try await place.find(console).zone
            var left = limit == 0 ? Int.max : limit
            try await AdminRecords.eachPage(of: zone, console) { page in
                let wanted = page.filter { (deleted || !$0.isDeleted) && (type == nil || $0.type == type) }.prefix(left)
                left -= wanted.count
                try await console.show(Array(wanted), as: Self.columns)
                return left > 0
            }
            if left == 0 { console.say("There may be more: see --limit.") }
        }

        private static let columns: [Column<RecordState>] = [
            Column("RECORD", key: "recordName", isName: true) { .text($0.name) },
            Column("TYPE", key: "recordType") { .optional($0.type.isEmpty ? nil : $0.type) },
            Column("BYTES", key: "bytes") { .number($0.fields.byteCount) },
            Column("MODIFIED", key: "modified") { .date($0.modifiedAt) },
            Column("CHANGE", key: "changeNumber", wide: true) { .number(Int($0.changeNumber)) },
            Column("CREATED", key: "created", wide: true) { .date($0.createdAt) },
            Column("PARENT", key: "parent", wide: true) { .optional($0.parent) },
            Column("DELETED", key: "isDeleted", wide: true) { .flag($0.isDeleted) },
        ]
    }

    struct Get: AdminCommand {
        static let configuration = CommandConfiguration(
            "get", abstract: "Show records with their fields, a JSON object each.",
            discussion: "What it writes can be saved again: tidemark admin records save.",
            examples: "tidemark admin records get alice Notes 7F3A --container iCloud.org.example.notes")
        static let role = OperatorRole.viewer

        @OptionGroup var place: ZoneArguments
        @Argument(help: "The records' names.") var names: [String]
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ console: Console) async throws {
            let zone = try await place.find(console).zone
            guard names.count <= Limits.standard.itemsMax else {
                throw AdminFailure(.usage, "At most \(Limits.standard.itemsMax) records are shown at once.")
            }
            let valid = names.filter { RecordName.canBeStored($0, limits: .standard) }
            let found = try await console.store.records(named: valid, in: zone.key).filter { !$0.isDeleted }
            for record in found { try await console.write(try RecordLine(record, zone: zone.key.name).text + "\n") }
            let missing = names.filter { name in !found.contains { $0.name == name } }
            guard missing.isEmpty else {
                throw AdminFailure(
                    .refused, "There is no record \(missing.joined(separator: ", ")) in \(zone.key.name).")
            }
        }
    }

    struct Export: AdminCommand {
        /// The forms of an export.
        enum Form: String, ExpressibleByArgument, CaseIterable, Sendable {
            case jsonl, csv
        }

        static let configuration = CommandConfiguration(
            "export", abstract: "Write the records of a zone to standard output.",
            discussion: """
                jsonl: each record with all fields and their types. csv: the fields that --field names, or all, each in a \
                column with its type. `import` reads both back, and `records save` reads jsonl. Encrypted values are \
                written as they are stored: they can be saved where the zone has the same keys, and only devices can read \
                them. Assets are named, and their files are not in it (accounts export). Records that change meanwhile may \
                be in it before or after the change.
                """,
            examples: "tidemark admin records export alice Notes > notes.jsonl",
            "tidemark admin records export public _defaultZone --type Airport --format csv --field icao --field name")
        static let role = OperatorRole.viewer
        static let readsAllData = true

        @OptionGroup var place: ZoneArguments
        @Option(help: ArgumentHelp("Only this type.", valueName: "type")) var type: String?
        @Option(help: "jsonl or csv.") var format = Form.jsonl
        @Option(help: ArgumentHelp("Only this field, in csv. May be repeated.", valueName: "field")) var field:
            [String] = []
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func validate() throws {
            guard format == .csv || field.isEmpty else {
                throw ValidationError("--field chooses the columns of --format csv. jsonl has all fields.")
            }
        }

        func run(_ console: Console) async throws {
            let (found, zone) = try await place.find(console)
            let schema = try await console.storage.schema(of: found.container).schema
            let columns = format == .csv ? try RecordCSV.fields(field, of: type, in: schema) : nil
            if let columns { try await console.write(CSVLine.text(RecordCSV.head + columns.map(\.title))) }
            var (count, encrypted, leftOut) = (0, 0, 0)
            try await AdminRecords.eachPage(of: zone, console) { page in
                var text = ""
                for record in page where !record.isDeleted && (type == nil || record.type == type) {
                    count += 1
                    let line = try RecordLine(record, zone: zone.key.name)
                    encrypted += line.encryptedCount
                    guard let columns else {
                        text += try line.text + "\n"
                        continue
                    }
                    let row = try RecordCSV.text(line, columns, isWhole: field.isEmpty)
                    text += row.text
                    leftOut += row.leftOutCount
                }
                if !text.isEmpty { try await console.write(text) }
                return true
            }
            console.say(
                "Exported \(Amount.records(count))."
                    + (encrypted > 0 ? " \(Amount.text(encrypted, "value")) encrypted: the keys are not in it." : ""))
            guard leftOut == 0 else {
                throw AdminFailure(
                    .failedCheck,
                    "Left out \(Amount.text(leftOut, "value")) without a column of their type. Export jsonl, which has all."
                )
            }
        }
    }

    struct History: AdminCommand {
        static let configuration = CommandConfiguration(
            "history", abstract: "Show the latest changes of a zone, or what is known of one record.",
            discussion: """
                The store keeps the latest version of each record, and tombstones of deleted ones until they are compacted. \
                Of one record it also shows incarnations of the zone that have ended and are not cleared yet.
                """,
            examples: "tidemark admin records history alice Notes --limit 20",
            "tidemark admin records history alice Notes 7F3A")
        static let role = OperatorRole.viewer

        @OptionGroup var place: ZoneArguments
        @Argument(help: "The record's name.") var name: String?
        @Option(help: "The most changes.") var limit = 100
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func validate() throws {
            guard (1...10_000).contains(limit) else { throw ValidationError("--limit must be between 1 and 10000.") }
        }

        func run(_ console: Console) async throws {
            let found = try await console.place(place.database)
            let key = ZoneKey(database: found.database, name: place.zone)
            let rows: [AdminStore.RecordHistory]
            if let name {
                rows = try await console.store.history(ofRecord: name, in: key)
            } else {
                let zone = try await place.find(console).zone
                rows = try await console.store.changes(in: zone, before: nil, countMax: limit)
            }
            try await console.show(rows, as: Self.columns)
        }

        private static let columns: [Column<AdminStore.RecordHistory>] = [
            Column("CHANGE", key: "changeNumber") { .number(Int($0.changeNumber)) },
            Column("RECORD", key: "recordName", isName: true) { .text($0.name) },
            Column("TYPE", key: "recordType") { .optional($0.type.isEmpty ? nil : $0.type) },
            Column("WHAT", key: "change") { .text($0.isDeleted ? "deleted" : "saved") },
            Column("MODIFIED", key: "modified") { .date($0.modifiedAt) },
            Column("BY", key: "modifiedBy") { .optional($0.modifiedBy) },
            Column("BYTES", key: "bytes", wide: true) { .number($0.byteCount) },
            Column("CREATED", key: "created", wide: true) { .date($0.createdAt) },
            Column("CREATED BY", key: "createdBy", wide: true) { .optional($0.createdBy) },
            Column("ZONE", key: "zoneNumber", wide: true) { .number(Int($0.zoneID.rawValue)) },
            Column("ZONE ENDED", key: "zoneEnded", wide: true) { .flag($0.zoneRemoval != nil) },
        ]
    }

    /// Reads a zone's records and tombstones page by page, until `take` returns false.
    static func eachPage(
        of zone: ZoneState, _ console: Console, _ take: ([RecordState]) async throws -> Bool
    ) async throws {
        var last = ""
        while true {
            let page = try await console.store.recordPage(in: zone, after: last)
            guard let end = page.last, try await take(page) else { return }
            last = end.name
        }
    }
}
