// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

/// `cktool` as scripts for Apple's tool call it, with the real program, server and database.
@Suite struct CKToolCommandTests {
    static let container = "iCloud.test.operator"

    static let schema = """
        DEFINE SCHEMA
            RECORD TYPE Boat (
                "___createTime" TIMESTAMP QUERYABLE SORTABLE,
                "___recordID" REFERENCE QUERYABLE,
                name STRING QUERYABLE SEARCHABLE SORTABLE,
                length DOUBLE QUERYABLE SORTABLE,
                crew INT64 QUERYABLE SORTABLE,
                built TIMESTAMP QUERYABLE SORTABLE,
                ports LIST<STRING> QUERYABLE,
                home LOCATION QUERYABLE SORTABLE,
                photo ASSET,
                plans LIST<ASSET>,
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world"
            );

        """

    static let boats = [
        """
        {"name": {"type": "stringType", "value": "Old Brown Tern"}, "length": {"type": "doubleType", "value": 9.5},
         "crew": {"type": "int64Type", "value": 2}, "built": {"type": "timestampType", "value": "1961-05-17"},
         "ports": {"type": "stringListType", "value": ["Oslo", "Kiel"]},
         "home": {"type": "locationType", "value": {"latitude": 59.9, "longitude": 10.7}}}
        """,
        """
        {"name": {"type": "stringType", "value": "Brown Gull"}, "length": {"type": "doubleType", "value": 14},
         "crew": {"type": "int64Type", "value": 6}, "built": {"type": "timestampType", "value": "2004-08-01T12:00:00Z"},
         "ports": {"type": "stringListType", "value": ["Kiel"]},
         "home": {"type": "locationType", "value": {"latitude": 54.3, "longitude": 10.1}}}
        """,
        """
        {"name": {"type": "stringType", "value": "1984"}, "length": {"type": "doubleType", "value": 30.25},
         "crew": {"type": "int64Type", "value": 12}, "built": {"type": "timestampType", "value": "1984-01-01"},
         "ports": {"type": "stringListType", "value": ["Cork"]},
         "home": {"type": "locationType", "value": {"latitude": 51.8, "longitude": -8.3}}}
        """,
    ]

    /// `cktool` in a place, with alice's token.
    private struct Tool {
        let place: OperatorPlace
        var variables: [String: String]

        init(_ place: OperatorPlace) throws {
            self.place = place
            variables = [
                "TIDEMARK_DATABASE_URL": place.database.url,
                "CLOUDKIT_USER_TOKEN": try #require(place.site.tokens["alice"]),
            ]
        }

        func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
            try await Program.run(
                "tidemark", ["cktool"] + arguments, environment: variables, directory: place.directory.path)
        }

        /// A command of records.
        func records(
            _ verb: String, _ arguments: [String], in type: String = "public"
        ) async throws -> (status: Int32, output: String) {
            try await run(
                [verb] + CKToolCommandTests.containerFlags + ["--database-type", type] + arguments)
        }

        func importSchema(_ text: String) async throws -> (status: Int32, output: String) {
            let path = try place.write(text, to: "schema.ckdb")
            return try await run(["import-schema"] + CKToolCommandTests.containerFlags + ["--file", path])
        }

        /// The name of the new record.
        func create(_ fields: String, in type: String = "public", _ arguments: [String] = []) async throws -> String {
            let created = try await records(
                "create-record", ["--record-type", "Boat", "--fields-json", fields] + arguments, in: type)
            #expect(created.status == 0, "\(created.output)")
            return try #require(try CKToolCommandTests.object(created.output)["recordName"] as? String)
        }

        /// Names of boats, in the order of the answer.
        func names(_ arguments: [String], in type: String = "public") async throws -> [String] {
            let found = try await records("query-records", ["--record-type", "Boat"] + arguments, in: type)
            #expect(found.status == 0, "\(arguments): \(found.output)")
            return try CKToolCommandTests.names(CKToolCommandTests.object(found.output))
        }
    }

    static let containerFlags = [
        "--team-id", "T34M", "--container-id", container, "--environment", "development",
    ]

    static func object(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
    }

    static func names(_ answer: [String: Any]) throws -> [String] {
        let records = try #require(answer["records"] as? [[String: Any]])
        return records.compactMap { record in
            (record["fields"] as? [String: [String: Any]])?["name"]?["value"] as? String
        }
    }

    // MARK: A script

    static let script = """
        set -euo pipefail
        where=(--team-id T34M --container-id \(container) --environment development)
        public=("${where[@]}" --database-type public --zone-name _defaultZone)

        xcrun cktool save-token --type management --method keychain "$MANAGEMENT"
        xcrun cktool version >/dev/null
        xcrun cktool get-teams > teams.txt
        xcrun cktool import-schema "${where[@]}" --validate --file boats.ckdb > import.txt
        xcrun cktool validate-schema "${where[@]}" --file boats.ckdb > validate.txt
        xcrun cktool export-schema "${where[@]}" > exported.ckdb
        xcrun cktool export-schema "${where[@]}" --output-file exported-2.ckdb
        xcrun cktool create-record "${public[@]}" --record-type Boat --fields-file tern.json > created.json
        xcrun cktool create-record "${public[@]}" --record-type Boat --fields-stdin < gull.json > /dev/null
        xcrun cktool query-records "${public[@]}" --record-type Boat \\
            --filters "length > 9" 'name != "Nobody"' --sort-by "length DESC" --requested-fields name length > found.json
        xcrun cktool delete-records --container-id \(container) --environment development --database-type public \\
            --record-type Boat --filters "length > 10" --dry-run true > dry.txt
        xcrun cktool delete-records --container-id \(container) --environment development --database-type public \\
            --record-type Boat --filters "length > 10" --dry-run false --yes > deleted.txt

        """

    @Test func `R-890: a script for Apple's tool runs unchanged, and devices see what it did`() async throws {
        try await OperatorPlace.with { place in
            try await Self.runScript(
                place, ["TIDEMARK_DATABASE_URL": place.database.url, "MANAGEMENT": "anything"])
        }
    }

    /// Runs the script, and looks at all that it wrote and did.
    ///
    /// - Parameter environment: where it goes, and `MANAGEMENT`: the management token.
    static func runScript(_ place: OperatorPlace, _ environment: [String: String]) async throws {
        let directory = place.directory.path
        let programs = "\(directory)/bin"
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: "\(programs)/cktool", withDestinationPath: "\(Program.directory)/tidemark")
        let xcrun = try place.write("#!/bin/sh\nexec \"$@\"\n", to: "bin/xcrun")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: xcrun)
        _ = try place.write(schema, to: "boats.ckdb")
        _ = try place.write(boats[0], to: "tern.json")
        _ = try place.write(boats[1], to: "gull.json")
        let seed = try place.write(script, to: "seed.sh")
        let own = [
            "CLOUDKIT_USER_TOKEN": try #require(place.site.tokens["alice"]), "PATH": "\(programs):/usr/bin:/bin",
        ]
        let ran = try await Program.run(
            "script", [seed], environment: own.merging(environment) { $1 }, directory: directory, path: "/bin/bash",
            workingDirectory: directory, within: .seconds(120))
        #expect(ran.status == 0, "\(ran.output)")
        #expect(ran.output.contains("There is no keychain here"))

        func text(_ name: String) throws -> String {
            try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
        }
        #expect(try text("teams.txt") == "TIDEMARK00: Tidemark\n")
        #expect(try text("import.txt") == "✅ Schema is valid.\n")
        #expect(try text("validate.txt") == "✅ Schema is valid.\n")
        #expect(try text("exported.ckdb").contains("RECORD TYPE Boat (\n"))
        #expect(try text("exported-2.ckdb") == text("exported.ckdb"))
        let answer = try object(try text("found.json"))
        #expect(try names(answer) == ["Brown Gull", "Old Brown Tern"])
        #expect(answer["continuationToken"] == nil)
        let fields = (answer["records"] as? [[String: Any]])?.first?["fields"] as? [String: Any]
        #expect(fields?.keys.sorted() == ["length", "name"])
        #expect(try text("dry.txt") == "Dry run. Found 1 matching records to delete.\n")
        #expect(try text("deleted.txt") == "Deleted 1 records.\n")

        let created = try object(try text("created.json"))
        let name = try #require(created["recordName"] as? String)
        #expect((created["created"] as? [String: Any])?["userRecordName"] is String)
        let record = try await place.database(.public).record(for: CKRecord.ID(recordName: name))
        #expect(record["name"] as? String == "Old Brown Tern" && record["crew"] as? Int64 == 2)
        #expect(record.recordChangeTag == created["recordChangeTag"] as? String)
    }

    // MARK: Filters

    /// Filters, and the boats that they find, by their names' first letters.
    private static let questions: [([String], Set<String>)] = [
        ([], ["O", "B", "1"]), (["length > 10"], ["B", "1"]), (["length GREATER_THAN 10", "crew <= 6"], ["B"]),
        (["crew == 12"], ["1"]), (["crew != 12"], ["O", "B"]), (["name == brown gull"], ["B"]),
        (["name == stringType:1984"], ["1"]), ([#"name == "1984""#], ["1"]), (["built < 1980-01-01"], ["O"]),
        (["built >= 2004-08-01T12:00:00Z"], ["B"]), (["ports LIST_CONTAINS_ANY Oslo,Cork"], ["O", "1"]),
        (["ports LIST_NOT_CONTAINS_ANY Kiel"], ["1"]), (["name CONTAINS_ALL_TOKENS tern brown"], ["O"]),
        (["name CONTAINS_ANY_TOKENS tern gull"], ["O", "B"]), (["home NEAR 59.9,10.7,50000"], ["O"]),
        (["___createTime > 2020-01-01", "crew > 2"], ["B", "1"]), (["built > 946684800000"], ["B"]),
    ]

    @Test func `R-894: filters find what they say, and pages go on`() async throws {
        try await OperatorPlace.with { place in
            let tool = try Tool(place)
            #expect(try await tool.importSchema(Self.schema).status == 0)
            for boat in Self.boats { _ = try await tool.create(boat) }
            for (filters, letters) in Self.questions {
                let names = try await tool.names(filters.isEmpty ? [] : ["--filters"] + filters)
                #expect(Set(names.map { String($0.prefix(1)) }) == letters, "\(filters): \(names)")
                #expect(names.count == letters.count)
            }
            let nearest = try await tool.names(["--filters", "home NEAR 51,-8"])
            #expect(nearest == ["1984", "Brown Gull", "Old Brown Tern"])
            #expect(try await tool.names(["--sort-by", "crew"]) == ["Old Brown Tern", "Brown Gull", "1984"])

            let query = ["--record-type", "Boat", "--sort-by", "crew DESC", "--limit", "2"]
            let first = try Self.object(try await tool.records("query-records", query).output)
            #expect(try Self.names(first) == ["1984", "Brown Gull"])
            let token = try #require(first["continuationToken"] as? String)
            let last = try Self.object(
                try await tool.records("query-records", query + ["--continuation-token", token]).output)
            #expect(try Self.names(last) == ["Old Brown Tern"])
            #expect(last["continuationToken"] == nil)

            let wrong = try await tool.records("query-records", ["--record-type", "Boat", "--filters", "crew LIKE 1"])
            #expect(wrong.status == 2 && wrong.output.contains("CONTAINS_ALL_TOKENS"))
            #expect(
                try await tool.records("query-records", ["--record-type", "Boat", "--filters", "crew > x"]).status == 5)
        }
    }

    // MARK: Rights

    @Test func `R-897: a user token reads and writes as its user, and no further`() async throws {
        try await OperatorPlace.with { place in
            var tool = try Tool(place)
            #expect(try await tool.importSchema(Self.schema).status == 0)
            let name = try await tool.create(Self.boats[0])
            let mine = try await tool.create(Self.boats[1], in: "private")

            // In a zone of the user's own, where a device is told of it.
            let id = CKRecordZone.ID(zoneName: "Harbour")
            try await place.database().save(CKRecordZone(zoneID: id))
            let inZone = try await tool.create(Self.boats[2], in: "private", ["--zone-name", "Harbour"])
            let recordID = CKRecord.ID(recordName: inZone, zoneID: id)
            #expect(try await place.database().record(for: recordID)["name"] as? String == "1984")

            let bob = try await place.makeAccount("bob")
            tool.variables["CLOUDKIT_USER_TOKEN"] = bob
            #expect(try await tool.names([]) == ["Old Brown Tern"])
            // bob has no such zone, and none of alice's records.
            #expect(try await tool.names([], in: "private").isEmpty)
            let refused = try await tool.records("delete-record", ["--record-name", name, "--yes"])
            #expect(refused.status == 4, "\(refused.output)")
            #expect(try await tool.records("delete-record", ["--record-name", mine, "-y"], in: "private").status == 5)

            // The option wins over the variable. Without --yes somebody must be asked.
            let alice = try #require(place.site.tokens["alice"])
            let asked = try await tool.records("delete-record", ["-t", alice, "--record-name", name])
            #expect(asked.status == 2 && asked.output.contains("--yes"))
            #expect(try await tool.records("delete-record", ["-t", alice, "--record-name", name, "-y"]).status == 0)
            #expect(try await tool.names([]).isEmpty)

            #expect(try await tool.records("query-records", ["-t", "none", "--record-type", "Boat"]).status == 4)
            tool.variables["CLOUDKIT_USER_TOKEN"] = nil
            let missing = try await tool.records("query-records", ["--record-type", "Boat"])
            #expect(missing.status == 2 && missing.output.contains("No user token found"))
        }
    }

    @Test func `R-897: a guest reads and writes in a zone of another user by its share`() async throws {
        try await OperatorPlace.with { place in
            var tool = try Tool(place)
            #expect(try await tool.importSchema(Self.schema).status == 0)
            let id = CKRecordZone.ID(zoneName: "Harbour")
            try await place.database().save(CKRecordZone(zoneID: id))
            _ = try await tool.create(Self.boats[0], in: "private", ["--zone-name", "Harbour"])
            let token = try await place.makeAccount("bob")
            tool.variables["CLOUDKIT_USER_TOKEN"] = token
            let zone = ["--zone-name", "Harbour"]
            let nameless = try await tool.records("query-records", zone + ["--record-type", "Boat"], in: "shared")
            #expect(nameless.status == 2 && nameless.output.contains("--owner-name"))
            let owner = ["--owner-name", try await place.container().userRecordID().recordName]
            // Whoever takes no part is told nothing.
            let closed = try await tool.records(
                "query-records", zone + owner + ["--record-type", "Boat"], in: "shared")
            #expect(closed.status == 5, "\(closed.output)")

            let share = CKShare(recordZoneID: id)
            share.publicPermission = .readWrite
            let saved = try #require(try await place.database().save(share) as? CKShare)
            let bob = place.container(token: token)
            _ = try await bob.accept(try await bob.shareMetadata(for: try #require(saved.url)))
            #expect(try await tool.names(zone + owner, in: "shared") == ["Old Brown Tern"])
            let name = try await tool.create(Self.boats[1], in: "shared", zone + owner)
            let record = try await place.database().record(for: CKRecord.ID(recordName: name, zoneID: id))
            #expect(record["name"] as? String == "Brown Gull")
            let deleted = try await tool.records(
                "delete-records",
                zone + owner + ["--record-type", "Boat", "--filters", "crew > 2", "--dry-run", "false", "-y"],
                in: "shared")
            #expect(deleted.status == 0 && deleted.output == "Deleted 1 records.\n", "\(deleted.output)")
            #expect(try await tool.names(zone + owner, in: "shared") == ["Old Brown Tern"])
        }
    }

    // MARK: Assets

    @Test func `R-895: the files of a record's assets reach devices`() async throws {
        try await OperatorPlace.with(keepsAssets: true) { place in
            var tool = try Tool(place)
            #expect(try await tool.importSchema(Self.schema).status == 0)
            // Longer than one chunk, and one that begins like a compressed file.
            let photo = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            let plan = Data([0x1F, 0x8B, 8, 0, 1, 2, 3])
            try photo.write(to: URL(fileURLWithPath: "\(place.directory.path)/photo.jpg"))
            try plan.write(to: URL(fileURLWithPath: "\(place.directory.path)/plan.gz"))
            let fields = """
                {"name": {"type": "stringType", "value": "Tern"}, "photo": {"type": "assetType", "value": "PHOTO"},
                 "plans": {"type": "assetListType", "value": ["PLAN", "PLAN"]}}
                """
            let files = [
                "--asset-files", "PHOTO=\(place.directory.path)/photo.jpg", "PLAN=\(place.directory.path)/plan.gz",
            ]
            let arguments = ["--record-type", "Boat", "--fields-json", fields] + files
            let homeless = try await tool.records("create-record", arguments)
            #expect(homeless.status == 2 && homeless.output.contains("TIDEMARK_ASSET_DIRECTORY"))
            tool.variables["TIDEMARK_ASSET_DIRECTORY"] = "\(place.directory.path)/assets"
            let name = try await tool.create(fields, in: "public", files)
            let record = try await place.database(.public).record(for: CKRecord.ID(recordName: name))
            let url = try #require((record["photo"] as? CKAsset)?.fileURL)
            #expect(try Data(contentsOf: url) == photo)
            let plans = try #require(record["plans"] as? [CKAsset])
            #expect(plans.count == 2)
            for asset in plans { #expect(try Data(contentsOf: try #require(asset.fileURL)) == plan) }
            let without = try await tool.records("create-record", ["--record-type", "Boat", "--fields-json", fields])
            #expect(without.status == 2 && without.output.contains("PHOTO"))
        }
    }

    // MARK: Schemas

    @Test func `R-892: validate-schema says what is wrong, and changes nothing`() async throws {
        try await OperatorPlace.with { place in
            let tool = try Tool(place)
            func validate(_ text: String) async throws -> (status: Int32, output: String) {
                let path = try place.write(text, to: "checked.ckdb")
                return try await tool.run(["validate-schema"] + Self.containerFlags + ["--file", path])
            }
            // There is no container yet, and none is made.
            #expect(try await validate(Self.schema).output == "✅ Schema is valid.\n")
            #expect(try await place.admin("containers", "list", "-o", "json").output.isEmpty)
            let wrong = try await validate("DEFINE SCHEMA\n  RECORD TYPE A (\n    b BADTYPE\n  );")
            #expect(wrong.status == 1)
            #expect(
                wrong.output.hasPrefix(
                    "❌ Schema validation failed: Encountered \"BADTYPE\" at line 3, column 7.\nWas expecting:\n"))

            #expect(try await tool.importSchema(Self.schema).status == 0)
            _ = try await tool.create(Self.boats[0])
            let smaller = "DEFINE SCHEMA RECORD TYPE Boat ( name STRING );"
            let losing = try await validate(smaller)
            #expect(losing.status == 1 && losing.output.contains("- Boat.crew INT64"), "\(losing.output)")
            let refused = try await tool.importSchema(smaller)
            #expect(refused.status == 1 && refused.output.contains("- Boat.crew INT64"), "\(refused.output)")
            let audit = try await place.admin("audit", "list", "-o", "json").output
            #expect(audit.contains("cktool import-schema") && audit.contains(Self.container))
        }
    }

    @Test func `R-893: reset-schema deletes the development data and takes production's schema`() async throws {
        try await OperatorPlace.with { place in
            let tool = try Tool(place)
            #expect(try await tool.importSchema(Self.schema).status == 0)
            #expect(try await place.admin("schema", "promote", "--container", Self.container).status == 0)
            let more = Self.schema + "\n    RECORD TYPE Mooring ( depth DOUBLE );\n"
            #expect(try await tool.importSchema(more).status == 0)
            for boat in Self.boats { _ = try await tool.create(boat) }
            _ = try await tool.create(Self.boats[0], in: "private")
            // A parent whose name comes first, and its child.
            let parent = CKRecord(recordType: "Boat", recordID: CKRecord.ID(recordName: "a"))
            let child = CKRecord(recordType: "Boat", recordID: CKRecord.ID(recordName: "b"))
            child.setParent(parent)
            let database = place.database(.public)
            try await database.save(parent)
            try await database.save(child)
            let id = CKRecordZone.ID(zoneName: "Harbour")
            try await place.database().save(CKRecordZone(zoneID: id))
            try await place.database().save(
                CKRecord(recordType: "Mooring", recordID: CKRecord.ID(recordName: "m", zoneID: id)))

            let reset = try await tool.run(["reset-schema", "--team-id", "T34M", "--container-id", Self.container])
            #expect(reset.status == 0 && reset.output == "Deleted 7 records, 1 zone.\n", "\(reset.output)")
            #expect(try await tool.names([]).isEmpty)
            #expect(try await tool.names([], in: "private").isEmpty)
            let left = try await place.container().privateCloudDatabase.allRecordZones().map(\.zoneID.zoneName)
            #expect(!left.contains("Harbour"))
            let exported = try await tool.run(["export-schema"] + Self.containerFlags)
            #expect(exported.output.contains("Boat") && !exported.output.contains("Mooring"))
            // It can go on.
            _ = try await tool.create(Self.boats[0])
            let again = try await tool.run(["reset-schema", "--container-id", Self.container])
            #expect(again.output == "Deleted 1 record, 0 zones.\n", "\(again.output)")
        }
    }
}
