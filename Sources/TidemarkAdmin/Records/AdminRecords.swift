// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkKit

struct AdminRecords: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "records", abstract: "Records: read, found by queries, saved and deleted.",
        subcommands: [
            List.self, Get.self, RunQuery.self, Export.self, History.self, Save.self, Delete.self,
        ])

    struct RunQuery: AdminCommand {
        static let configuration = CommandConfiguration(
            "query", abstract: "Show the records that a predicate finds.",
            discussion: """
                It uses the same predicates and indexes as apps. It finds all records, whoever may read them. In development \
                the first query marks the fields that it needs, and indexes are made for them.
                """,
            examples:
                "tidemark admin records query public Airport --where 'elevation > 10000' --sort elevation:descending",
            "tidemark admin records query alice Note --zone Notes --limit 0 -o json",
            "tidemark admin records query public Airport --where 'country == %@' --argument reference:IS",
            "tidemark admin records query public Airport --argument location:64.1466,-21.9426 "
                + "--where 'distanceToLocation:fromLocation:(location, %@) < 100000' --near location:64.1466,-21.9426")
        static let role = OperatorRole.viewer

        @Argument(help: "public, or an account's name for its private database.", completion: .live(.databases))
        var database: DatabaseArgument
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
        @Option(help: "Only in this zone.", completion: .live(.zones)) var zone: String?
        @Option(help: ArgumentHelp("Show only this field. May be repeated.", valueName: "field"))
        var field: [String] = []
        @Option(help: "The most records; 0 for all.") var limit = 100
        @Flag(help: "Only how many there are.") var count = false
        @Flag(help: "Only show how PostgreSQL would find them.") var explain = false
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func validate() throws {
            guard limit >= 0 else { throw ValidationError("--limit must be 0 (for all) or more, not \(limit).") }
        }

        func run(_ console: Console) async throws {
            let query = try encodedQuery()
            if explain {
                let lines = try await QueryReader.with(database, query, on: console) {
                    try await $0.explain(on: console)
                }
                return try await console.write(lines.map { $0 + "\n" }.joined())
            }
            let isTable = console.output == .table || console.output == .wide
            if isTable, !count, field.isEmpty { return try await showTable(query, console) }
            try await stream(query, as: isTable ? RecordRows.cells(field) : RecordRows.whole(fields), console)
        }

        private var fields: [String]? { field.isEmpty ? nil : field }

        /// Bytes of the records of a table whose columns are the fields of them all, so that none is shown before the last
        /// has come.
        private static let tableBytesMax = 4_194_304
        /// What a record takes beside its fields.
        private static let recordBytes = 512

        private func showTable(_ query: [UInt8], _ console: Console) async throws {
            let rows = try await QueryReader.with(database, query, on: console) { reader in
                var (rows, byteCount): ([QueryMatch], Int) = ([], 0)
                try await reader.read(limit: limit) { page in
                    byteCount += page.reduce(0) { $0 + $1.record.fields.byteCount + Self.recordBytes }
                    guard byteCount <= Self.tableBytesMax else {
                        throw AdminFailure(
                            .refused,
                            "These are more records than a table has room for. Name the columns with --field, give a "
                                + "--limit, or use -o json.")
                    }
                    rows += page
                }
                return rows
            }
            try await console.show(rows, as: RecordRows.cells(Set(rows.flatMap(\.record.fields.keys)).sorted()))
            try sayHowMany(rows.count, console)
        }

        /// Each page as it arrives, because there may be many.
        private func stream(_ query: [UInt8], as columns: [Column<QueryMatch>], _ console: Console) async throws {
            let found = try await QueryReader.with(database, query, on: console) { reader in
                var found = 0
                try await reader.read(limit: count ? 0 : limit) { page in
                    found += page.count
                    if !count { try await console.show(page, as: columns) }
                }
                return found
            }
            guard count else { return try sayHowMany(found, console) }
            if console.output == .table || console.output == .wide { return try await console.write("\(found)\n") }
            try await console.show([found], as: [Column("COUNT", key: "count", isName: true) { .number($0) }])
        }

        /// Without it, an empty answer from the wrong database looks like no data.
        private func sayHowMany(_ found: Int, _ console: Console) throws {
            let key = try console.container()
            let more = limit > 0 && found == limit ? " There may be more: see --limit." : ""
            console.say(
                "\(Amount.records(found)) of the type \(recordType) in \(database.text) of \(key.identifier), "
                    + "\(key.environment.name).\(more)")
        }

        private func encodedQuery() throws -> [UInt8] {
            let zoneName = zone ?? ZoneName.default
            let arguments = try argument.map { text throws(AdminFailure) in
                try QueryArgument.object(text, zoneName: zoneName)
            }
            let query = CKQuery(
                recordType: recordType, predicate: NSPredicate(format: predicate, argumentArray: arguments))
            query.sortDescriptors = try sorts()
            do {
                return try query.encoded(inZoneNamed: zone)
            } catch {
                throw AdminFailure(.usage, error.localizedDescription)
            }
        }

        private func sorts() throws(AdminFailure) -> [NSSortDescriptor] {
            var sorts: [NSSortDescriptor] = []
            if let near {
                let parts = near.split(separator: ":", maxSplits: 1).map(String.init)
                guard parts.count == 2, let place = QueryArgument.location(parts[1]) else {
                    throw AdminFailure(.usage, "--near takes FIELD:LATITUDE,LONGITUDE in degrees, not \(near).")
                }
                sorts.append(CKLocationSortDescriptor(key: parts[0], relativeLocation: place))
            }
            for sort in sort {
                let parts = sort.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
                guard parts.count == 1 || parts.count == 2 && ["ascending", "descending"].contains(parts[1]) else {
                    throw AdminFailure(.usage, "--sort takes FIELD, FIELD:ascending or FIELD:descending, not \(sort).")
                }
                sorts.append(NSSortDescriptor(key: parts[0], ascending: parts.last != "descending"))
            }
            return sorts
        }
    }
}
