// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkKit
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore

struct AdminRecords: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "records", abstract: "Records, found by queries.", subcommands: [RunQuery.self])

    struct RunQuery: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "query", abstract: "Show the records that a predicate finds.",
            discussion: """
                It uses the same predicates and indexes as apps. It finds all records, whoever may read them. In development \
                the first query marks the fields that it needs, and indexes are made for them.

                  tidemark admin records query Airport --container C --where 'elevation > 10000' --sort elevation:descending
                  tidemark admin records query Airport --container C --where 'country == %@' --argument reference:IS
                  tidemark admin records query Airport --container C --argument location:64.1466,-21.9426 \\
                    --where 'distanceToLocation:fromLocation:(location, %@) < 100000' --near location:64.1466,-21.9426
                """)

        @Argument(help: "The type of the records.") var recordType: String
        @Option(
            name: .customLong("where"),
            help: ArgumentHelp("The condition, in the format of NSPredicate.", valueName: "predicate"))
        var predicate = "TRUEPREDICATE"
        @Option(
            help: ArgumentHelp(
                "A value for a %@ of the predicate, in order: reference:NAME, references:NAME,NAME, location:LATITUDE,LONGITUDE, "
                    + "date:2024-05-31, string:TEXT, int:NUMBER, double:NUMBER.", valueName: "type:value"))
        var argument: [String] = []
        @Option(help: ArgumentHelp("The field to sort by, such as name or name:descending.", valueName: "field"))
        var sort: [String] = []
        @Option(
            help: ArgumentHelp("The nearest first.", valueName: "field:latitude,longitude"))
        var near: String?
        @Option(help: "Only in this zone.") var zone: String?
        @Option(help: ArgumentHelp("Show only this field. May be repeated.", valueName: "field"))
        var field: [String] = []
        @Option(help: "The most records; 0 for all.") var limit = 100
        @Flag(help: "One JSON object in each line, instead of a table.") var json = false
        @Flag(help: "Only how many there are.") var count = false
        @Flag(help: "Only show how PostgreSQL would find them.") var explain = false
        @OptionGroup var records: RecordsOption
        @OptionGroup var database: DatabaseOption

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit must be 0 (for all) or more, not \(limit).") }
        }

        func run() throws {
            let (query, records) = (try encodedQuery(), records)
            if explain {
                let lines = try database.withStorage { storage, loop in
                    try await QueryReader.with(records, query, storage, loop) { try await $0.explain(storage) }
                }
                for line in lines { print(line) }
            } else if count {
                let count = try database.withStorage { storage, loop in
                    try await QueryReader.with(records, query, storage, loop) { reader in
                        var count = 0
                        try await reader.read(limit: 0) { count += $0.count }
                        return count
                    }
                }
                print(count)
            } else {
                try show(query)
            }
        }

        private func show(_ query: [UInt8]) throws {
            let (records, limit, json) = (records, limit, json)
            let keys = field.isEmpty ? nil : field
            let rows = try database.withStorage { storage, loop in
                try await QueryReader.with(records, query, storage, loop) { reader in
                    var rows: [RecordText] = []
                    try await reader.read(limit: limit) { matches in
                        let page = matches.map { RecordText(match: $0, keys: keys) }
                        // Each line as it arrives, because there may be many.
                        if json { for row in page { print(try row.json()) } } else { rows += page }
                    }
                    return rows
                }
            }
            guard !json else { return }
            let columns = keys ?? Set(rows.flatMap(\.match.record.fields.keys)).sorted()
            Table.print(["RECORD"] + columns, rows.map { row in [row.match.record.name] + columns.map(row.cell) })
            if limit > 0, rows.count == limit { printError("There may be more: see --limit.") }
        }

        private func encodedQuery() throws -> [UInt8] {
            let zoneName = zone ?? ZoneName.default
            let arguments = try argument.map { text throws(CommandError) in
                try QueryArgument.object(text, zoneName: zoneName)
            }
            let query = CKQuery(
                recordType: recordType, predicate: NSPredicate(format: predicate, argumentArray: arguments))
            query.sortDescriptors = try sorts()
            do {
                return try query.encoded(inZoneNamed: zone)
            } catch {
                throw CommandError(error.localizedDescription)
            }
        }

        private func sorts() throws(CommandError) -> [NSSortDescriptor] {
            var sorts: [NSSortDescriptor] = []
            if let near {
                let parts = near.split(separator: ":", maxSplits: 1).map(String.init)
                guard parts.count == 2, let place = QueryArgument.location(parts[1]) else {
                    throw CommandError("--near takes FIELD:LATITUDE,LONGITUDE in degrees, not \(near).")
                }
                sorts.append(CKLocationSortDescriptor(key: parts[0], relativeLocation: place))
            }
            for sort in sort {
                let parts = sort.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 1 || parts.count == 2 && ["ascending", "descending"].contains(parts[1]) else {
                    throw CommandError("--sort takes FIELD, FIELD:ascending or FIELD:descending, not \(sort).")
                }
                sorts.append(NSSortDescriptor(key: parts[0], ascending: parts.last != "descending"))
            }
            return sorts
        }
    }
}
