// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkPostgres
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

/// `tidemark admin import` and `tidemark admin records query` beside a running server, and what apps see of it.
@Suite struct ImportTests {
    private static let container = ["--container", "iCloud.test.operator"]
    private static let publicly = container + ["--account", "alice"]

    private func run(
        _ place: OperatorPlace, _ arguments: [String], within limit: Duration = .seconds(60)
    ) async throws -> (status: Int32, output: String) {
        try await OperatorPlace.tidemark(["admin"] + arguments, place.database, place.directory, within: limit)
    }

    /// Names of the records that a query finds, as the command says it, in its order.
    private func names(_ place: OperatorPlace, _ arguments: [String]) async throws -> [String] {
        let found = try await run(
            place, ["records", "query", "public", "Airport", "--limit", "0"] + Self.container + arguments)
        #expect(found.status == 0, "\(arguments): \(found.output)")
        // Between the head and the number of records.
        return found.output.split(separator: "\n").dropFirst().dropLast().compactMap { line in
            line.split(separator: " ").first.map(String.init)
        }
    }

    private func count(_ place: OperatorPlace, _ arguments: [String] = []) async throws -> String {
        try await run(place, ["records", "query", "public", "Airport", "--count"] + Self.container + arguments).output
    }

    /// The same as apps find them.
    private func names(
        _ database: CKDatabase, _ predicate: NSPredicate, sortedBy sorts: [NSSortDescriptor] = [], limit: Int = 0
    ) async throws -> [String] {
        let query = CKQuery(recordType: "Airport", predicate: predicate)
        query.sortDescriptors = sorts
        var names: [String] = []
        var page = try await database.records(matching: query, desiredKeys: [], resultsLimit: limit)
        names += page.matchResults.map(\.0.recordName)
        while limit == 0, let cursor = page.queryCursor {
            page = try await database.records(continuingMatchFrom: cursor, desiredKeys: [])
            names += page.matchResults.map(\.0.recordName)
        }
        return names
    }

    /// Asks every question on the command line and as an app.
    private func ask(_ airports: Airports, _ place: OperatorPlace) async throws {
        let database = place.database(.public, token: "")
        for (question, count) in zip(Airports.questions, airports.counts) {
            let expected = airports.names(question)
            #expect(expected.count == count, "\(question.predicate)")
            let options = ["--where", question.predicate] + question.arguments.flatMap { ["--argument", $0] }
            #expect(try await self.count(place, options) == "\(count)\n")
            let told = try await names(place, options + ["--field", "iata"])
            #expect(Set(told) == expected && told.count == count, "\(question.predicate)")
            let objects = try question.arguments.map { try QueryArgument.object($0, zoneName: "_defaultZone") }
            let found = try await names(
                database, NSPredicate(format: question.predicate, argumentArray: objects))
            #expect(Set(found) == expected && found.count == count, "\(question.predicate)")
            try await expectIndex(place, options, question.indexes)
        }
    }

    /// What is known of the records is what an import had counted, whenever PostgreSQL would look by itself.
    private func stopCounting(_ place: OperatorPlace) async throws {
        let url = place.database.url
        try await blocking {
            try PostgresAdministration.execute(["ALTER TABLE record SET (autovacuum_enabled = false)"], url: url)
        }
    }

    /// That PostgreSQL looks the answer up, and in one of these indexes.
    private func expectIndex(
        _ place: OperatorPlace, _ options: [String], _ indexes: [PhysicalIndex.Kind]
    ) async throws {
        let plan = try await run(
            place, ["records", "query", "public", "Airport", "--explain"] + Self.container + options)
        let used = plan.output.matches(of: /Index Scan (?:Backward using|using|on) (record_query_\w+)/).map {
            "\($0.1)"
        }
        let good = indexes.map { PhysicalIndex(recordType: "Airport", kind: $0).name }
        #expect(!used.isEmpty && used.allSatisfy(good.contains), "\(options), \(indexes): \(plan.output)")
        #expect(!plan.output.contains("Seq Scan on record"), "\(options): \(plan.output)")
    }

    private func askInOrder(_ place: OperatorPlace) async throws {
        let database = place.database(.public)
        let here = CLLocation(latitude: 64.1466, longitude: -21.9426)
        let near = NSPredicate(format: "distanceToLocation:fromLocation:(location, %@) < 100000", here)
        let sort = CKLocationSortDescriptor(key: "location", relativeLocation: here)
        #expect(try await names(database, near, sortedBy: [sort], limit: 5) == Airports.nearest)
        let nearOptions = [
            "--where", "distanceToLocation:fromLocation:(location, %@) < 100000", "--argument",
            "location:64.1466,-21.9426", "--near", "location:64.1466,-21.9426",
        ]
        let told = try await names(place, nearOptions + ["--field", "name"])
        #expect(Array(told.prefix(5)) == Airports.nearest)
        try await expectIndex(place, nearOptions, [Airports.location])

        let query = CKQuery(recordType: "Airport", predicate: NSPredicate(value: true))
        query.sortDescriptors = [NSSortDescriptor(key: "elevation", ascending: false)]
        let page = try await database.records(matching: query, resultsLimit: 5)
        let highest = try page.matchResults.map { try "\($0.0.recordName) \($0.1.get()["elevation"] as? Double ?? 0)" }
        #expect(highest == Airports.highest)
        let shown = try await run(
            place,
            [
                "records", "query", "public", "Airport", "--sort", "elevation:descending", "--limit", "5", "--field",
                "elevation",
            ] + Self.container)
        let lines = shown.output.split(separator: "\n").dropFirst().prefix(5)
        #expect(lines.map { $0.split(separator: " ").joined(separator: " ") } == Airports.highest)
        try await expectIndex(place, ["--sort", "elevation:descending"], [Airports.elevation])
    }

    @Test func `R-176 … R-188: records of files are found by apps and operators, by indexes`() async throws {
        try await OperatorPlace.with(["--create-containers"]) { place in
            try await stopCounting(place)
            #expect(try await place.admin("containers", "create", place.site.container).status == 0)
            let countries = """
                {"code": "IS", "name": "Iceland", "names": ["Ísland", "Islande"], "independent": true, "area": 103000.5}
                {"code": "FI", "name": "Finland"}
                {"code": "_X", "name": "Nowhere", "number": "seven"}
                {"code": "US"
                {"code": "FI", "name": "Suomi"}

                """
            let file = try place.write(countries, to: "countries.jsonl")
            let imported = try await run(
                place,
                ["import", "public", file, "--type", "Country", "--name", "code", "--field", "number int64"]
                    + Self.publicly)
            #expect(imported.status == 1, "\(imported.output)")
            #expect(imported.output.hasPrefix("Imported 2, skipped 1 that existed, refused 2.\n"), "\(imported.output)")
            #expect(imported.output.contains("countries.jsonl:3: The column number is \"seven\", which is not a whole"))
            #expect(imported.output.contains("countries.jsonl:4: This line is not a JSON object"))
            let database = place.database(.public, token: "")
            let iceland = try await database.record(for: CKRecord.ID(recordName: "IS"))
            #expect(iceland["names"] as? [String] == ["Ísland", "Islande"] && iceland["area"] as? Double == 103_000.5)

            // Broken off after a part, and begun again.
            let all = Airports.some
            let mapping = try place.write(Airports.mapping, to: "airports.mapping")
            let part = try place.write(all.split(separator: "\n").prefix(700).joined(separator: "\n"), to: "part.csv")
            let whole = try place.write(all, to: "airports.csv")
            let first = try await run(place, ["import", "public", part, "--mapping", mapping] + Self.publicly)
            let partCount = try #require(first.output.firstMatch(of: /Imported (\d+), skipped 0/).flatMap { Int($0.1) })
            let second = try await run(place, ["import", "public", whole, "--mapping", mapping] + Self.publicly)
            #expect(
                second.output.contains("Imported \(2_045 - partCount), skipped \(partCount) that existed, refused 0."))
            #expect(second.status == 0)
            #expect(try await count(place) == "2045\n")

            let airports = try Airports.read(whole, counts: Airports.someCounts)
            try await ask(airports, place)
            try await askInOrder(place)
            try await checkOneRecord(place)
            try await delete(in: place, country: "IS", leaving: 2_045 - 19)
        }
    }

    private func checkOneRecord(_ place: OperatorPlace) async throws {
        let airport = try await place.database(.public).record(for: CKRecord.ID(recordName: "BIRK"))
        let location = try #require(airport["location"] as? CLLocation)
        #expect(location.coordinate.latitude == 64.13 && location.coordinate.longitude == -21.9406)
        #expect(abs(location.altitude - 48 * 0.3048) < 1e-9)
        let country = try #require(airport["country"] as? CKRecord.Reference)
        #expect(country.recordID.recordName == "IS" && country.action == .deleteSelf)
        #expect(Set(airport.allKeys()) == ["iata", "name", "country", "elevation", "location", "tz"])
        let shown = try await run(
            place,
            [
                "records", "query", "public", "Airport", "-o", "json", "--where", "recordID == %@", "--argument",
                "reference:BIRK",
            ]
                + Self.container)
        for part in [
            #""country":{"type":"reference","value":{"recordName":"IS","deleteSelf":true}}"#,
            #""elevation":{"type":"double","value":48"#, #""recordName":"BIRK""#,
            #""latitude":64.13,"longitude":-21.9406"#,
        ] { #expect(shown.output.contains(part), "\(shown.output)") }
    }

    private func delete(in place: OperatorPlace, country: String, leaving count: Int) async throws {
        let database = place.database(.public)
        try await eventually("\(country) is deleted") {
            do {
                _ = try await database.deleteRecord(withID: CKRecord.ID(recordName: country))
            } catch let error as CKError where error.code == .zoneBusy {
                // An index may be under way; apps try again as well.
                return false
            }
            return true
        }
        #expect(try await self.count(place) == "\(count)\n")
        #expect(try await names(database, NSPredicate(value: true)).count == count)
    }

    @Test func `R-079, R-094, R-108: an import obeys the rules, into private zones as well`() async throws {
        try await OperatorPlace.with(["--create-containers"]) { place in
            let database = place.database()
            let id = CKRecord.ID(recordName: "a", zoneID: CKRecordZone.ID(zoneName: "World"))
            try await database.save(CKRecordZone(zoneID: id.zoneID))
            try await database.save(
                CKRecord(recordType: "City", recordID: CKRecord.ID(recordName: "c", zoneID: id.zoneID)))
            let privately = Self.container + ["--zone", "World", "--type", "Place"]
            #expect(
                try await place.admin("containers", "set-limit", place.site.container, "--references", "1").status == 0)
            let file = try place.write("id,n,up\na,1,x\nb,2,x\nc,3,\n\u{e9},4,\nd,5,\n", to: "places.csv")
            let rules = ["--name", "id", "--field", "n int64", "--field", "up reference deleteSelf"]
            let first = try await run(place, ["import", "alice", file] + privately + rules)
            #expect(first.status == 1 && first.output.hasPrefix("Imported 2, skipped 0 that existed, refused 3.\n"))
            for text in [
                "places.csv:3: b: Too many references", "places.csv:4: c: The record exists with another type",
                "places.csv:5: \u{e9}: Invalid record name",
            ] { #expect(first.output.contains(text), "\(first.output)") }
            #expect(try await database.record(for: id)["n"] as? Int == 1)

            let changed = try place.write("id,n,up\na,7,x\n", to: "changed.csv")
            let again = try await run(place, ["import", "alice", changed] + privately + rules)
            #expect(again.output.hasPrefix("Imported 0, skipped 1 that existed, refused 0.\n"))
            #expect(try await database.record(for: id)["n"] as? Int == 1)
            let replaced = try await run(place, ["import", "alice", changed, "--replace", "--yes"] + privately + rules)
            #expect(replaced.output.hasPrefix("Imported 1, skipped 0 that existed, refused 0.\n"))
            #expect(try await database.record(for: id)["n"] as? Int == 7)
            let found = try await run(
                place,
                ["records", "query", "alice", "Place", "--where", "n > 5", "--count", "--zone", "World"]
                    + Self.container)
            #expect(found.output == "1\n", "\(found.output)")

            let mistakes: [([String], String)] = [
                (["import", "public", file, "--type", "Place", "--name", "id"] + Self.container, "--account"),
                (
                    ["import", "public", file, "--type", "Place", "--name", "key"] + Self.publicly,
                    "has no column named key"
                ),
                (
                    ["import", "public", file + "x", "--type", "Place", "--name", "id"] + Self.publicly,
                    "cannot be read"
                ),
                (["import", "public", file, "--name", "id"] + Self.publicly, "Missing --type"),
                (
                    ["import", "alice", file, "--zone", "None"] + privately.filter { $0 != "World" && $0 != "--zone" }
                        + rules,
                    "no zone"
                ),
                (["records", "query", "public", "None"] + Self.container, "Did not find record type: None"),
                (["records", "query", "public", "Place", "--where", "n >"] + Self.container, "column"),
                (
                    ["records", "query", "public", "Place", "--where", "n == %@", "--argument", "place:x"]
                        + Self.container,
                    "takes"
                ),
                (["records", "query", "public", "Place", "--container", "iCloud.none"], "no container iCloud.none"),
                (["records", "query", "bob", "Place"] + Self.container, "no account named bob"),
            ]
            for (arguments, text) in mistakes {
                let refused = try await run(place, arguments)
                #expect(refused.status != 0 && refused.output.contains(text), "\(arguments): \(refused.output)")
            }
        }
    }

    /// The whole files: `TIDEMARK_DATA` is the folder with `airports.csv.gz` and `country-codes.csv.gz`.
    private static let folder =
        ProcessInfo.processInfo.environment["TIDEMARK_DATA"]
        ?? URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../shared/data").standardizedFileURL.path
    private static let hasFolder = ["airports.csv.gz", "country-codes.csv.gz"].allSatisfy {
        FileManager.default.fileExists(atPath: "\(folder)/\($0)")
    }

    @Test(.enabled(if: hasFolder, "\(folder) does not have the airports of the world: set TIDEMARK_DATA"))
    func `R-176 … R-188: the airports of the world`() async throws {
        let folder = Self.folder
        try await OperatorPlace.with { place in
            try await stopCounting(place)
            #expect(try await place.admin("containers", "create", place.site.container).status == 0)
            #expect(
                try await place.admin("containers", "set-limit", place.site.container, "--references", "20000").status
                    == 0)
            // What queries will need is marked before there are records, so that none is gone through again.
            let schema = try place.write(Airports.schema, to: "airports.ckdb")
            #expect(try await run(place, ["schema", "import", schema] + Self.container).status == 0)
            let countries = try await run(
                place,
                [
                    "import", "public", folder + "/country-codes.csv.gz", "--type", "Country", "--name",
                    "ISO3166-1-Alpha-2",
                    "--field", "names list<string> Languages separator=,",
                ] + Self.publicly)
            #expect(countries.output == "Imported 249, skipped 0 that existed, refused 0.\n")
            let mapping = try place.write(Airports.mapping, to: "airports.mapping")
            let file = folder + "/airports.csv.gz"
            // Many of these are of the countries that queries ask for, and few of the rest.
            let part = try place.write(try Airports.head(file, lineCount: 9_001), to: "part.csv")
            let first = try await run(place, ["import", "public", part, "--mapping", mapping] + Self.publicly)
            #expect(first.output == "Imported 9000, skipped 0 that existed, refused 0.\n")
            let imported = try await run(
                place, ["import", "public", file, "--mapping", mapping] + Self.publicly, within: .seconds(120))
            #expect(imported.output == "Imported 19298, skipped 9000 that existed, refused 0.\n")
            let airports = try Airports.read(file, counts: [79, 69, 27, 100, 326, 7_884, 16])
            try await ask(airports, place)
            try await askInOrder(place)
            try await delete(in: place, country: "IS", leaving: 28_219)
        }
    }
}
