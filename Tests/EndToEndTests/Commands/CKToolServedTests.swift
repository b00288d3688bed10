// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkKit
import TidemarkTestSupport

/// `cktool` over a server, with the real programs and real TLS: each verb writes what it writes over the database.
@Suite struct CKToolServedTests {
    private static let flags = ["--create-containers", "--operators-listen", "127.0.0.1:0"]
    private static let container = CKToolCommandTests.containerFlags
    private static let boats = CKToolCommandTests.boats

    /// A place with a context whose own credential is none, so that only tokens open the server.
    private func with(keepsAssets: Bool = false, _ body: (OperatorPlace) async throws -> Void) async throws {
        try await OperatorPlace.with(Self.flags, keepsAssets: keepsAssets, isEncrypted: true) { place in
            _ = try await OperatorSeat.take(place, "door", role: "", credential: "tidemark_wrong")
            try await body(place)
        }
    }

    /// `cktool`, over the server or over the database.
    private struct ServedTool {
        let place: OperatorPlace
        var variables: [String: String]

        /// - Parameters:
        ///   - management: the management token; nil: none.
        ///   - user: whose token it has; nil: nobody's.
        static func served(
            _ place: OperatorPlace, management: String? = nil, user: String? = "alice", context: String = "door"
        ) -> ServedTool {
            var variables = ["TIDEMARK_CONTEXT": context]
            variables["CLOUDKIT_MANAGEMENT_TOKEN"] = management
            variables["CLOUDKIT_USER_TOKEN"] = user.flatMap { place.site.tokens[$0] }
            return ServedTool(place: place, variables: variables)
        }

        static func direct(_ place: OperatorPlace) throws -> ServedTool {
            ServedTool(
                place: place,
                variables: [
                    "TIDEMARK_DATABASE_URL": place.database.url,
                    "CLOUDKIT_USER_TOKEN": try #require(place.site.tokens["alice"]),
                    "TIDEMARK_ASSET_DIRECTORY": "\(place.directory.path)/assets",
                ])
        }

        func run(_ arguments: [String]) async throws -> (status: Int32, output: String) {
            try await Program.run(
                "tidemark", ["cktool"] + arguments, environment: variables, directory: place.directory.path)
        }

        /// A command of records.
        func records(
            _ verb: String, _ arguments: [String], in type: String = "public"
        ) async throws -> (status: Int32, output: String) {
            try await run([verb] + CKToolServedTests.container + ["--database-type", type] + arguments)
        }

        func create(_ fields: String, in type: String = "public") async throws -> (status: Int32, output: String) {
            try await records("create-record", ["--record-type", "Boat", "--fields-json", fields], in: type)
        }

        func importSchema() async throws -> (status: Int32, output: String) {
            let path = try place.write(CKToolCommandTests.schema, to: "schema.ckdb")
            return try await run(["import-schema", "--validate"] + CKToolServedTests.container + ["--file", path])
        }
    }

    /// A new operator's credential.
    private func token(_ place: OperatorPlace, _ name: String, role: String) async throws -> String {
        #expect(try await place.admin("operators", "create", name, "--role", role).status == 0)
        let issued = try await place.admin("operators", "issue", name, "-o", "name")
        return String(try #require(issued.output.split(separator: "\n").first))
    }

    private func same(_ tools: [ServedTool], _ arguments: [String], status: Int32 = 0) async throws -> String {
        var outputs: [String] = []
        for tool in tools {
            let ran = try await tool.run(arguments)
            #expect(ran.status == status, "\(arguments): \(ran.output)")
            outputs.append(ran.output)
        }
        #expect(Set(outputs).count == 1, "\(arguments): \(outputs)")
        return outputs[0]
    }

    // MARK: A script

    @Test func `R-898, R-899: a script for Apple's tool runs unchanged over a server`() async throws {
        try await with { place in
            let olga = try await token(place, "olga", role: "editor")
            try await CKToolCommandTests.runScript(place, ["TIDEMARK_CONTEXT": "door", "MANAGEMENT": olga])
            let audit = try await place.admin("audit", "list", "-o", "json").output
            #expect(audit.contains("\"action\":\"cktool import-schema\""), "\(audit)")
            #expect(audit.contains("\"who\":\"olga\"") && !audit.contains(olga))
        }
    }

    // MARK: Schemas

    @Test func `R-898: each verb of schemas writes over a server what it writes over the database`() async throws {
        try await with { place in
            let served = ServedTool.served(place, management: try await token(place, "olga", role: "owner"))
            let tools = [served, try ServedTool.direct(place)]
            _ = try await same(tools, ["get-teams"])
            let file = try place.write(CKToolCommandTests.schema, to: "schema.ckdb")
            let wrong = try place.write("DEFINE SCHEMA\n  RECORD TYPE A (\n    b BADTYPE\n  );", to: "wrong é.ckdb")
            let validate = ["validate-schema"] + Self.container + ["--file"]
            // There is no container yet, and none is made.
            _ = try await same(tools, validate + [file])
            _ = try await same(tools, ["export-schema"] + Self.container, status: 5)
            for verb in ["validate-schema", "import-schema"] {
                let text = try await same(tools, [verb] + Self.container + ["--file", wrong], status: 1)
                #expect(text.contains("at line 3, column 7."), "\(text)")
                _ = try await same(
                    tools, [verb] + Self.container + ["--file", "\(place.directory.path)/none"], status: 2)
            }
            #expect(
                try await served.run(["import-schema", "--validate"] + Self.container + ["--file", file]).output
                    == "✅ Schema is valid.\nCreated container iCloud.test.operator in development.\n")
            let imported = try await same(
                tools, ["import-schema", "--validate"] + Self.container + ["--file", file])
            #expect(imported == "✅ Schema is valid.\n")
            let exported = try await same(tools, ["export-schema"] + Self.container)
            #expect(exported.contains("RECORD TYPE Boat (\n"))
            let copy = "\(place.directory.path)/copy.ckdb"
            let silent = try await served.run(["export-schema"] + Self.container + ["--output-file", copy])
            #expect(silent.status == 0 && silent.output.isEmpty, "\(silent.output)")
            #expect(try String(contentsOfFile: copy, encoding: .utf8) == exported)

            var deletions: [String] = []
            for tool in tools {
                #expect(try await tool.create(Self.boats[0]).status == 0)
                let reset = try await tool.run(["reset-schema", "--container-id", CKToolCommandTests.container])
                #expect(reset.status == 0)
                deletions.append(reset.output)
                #expect(try await tool.importSchema().status == 0)
            }
            #expect(deletions == ["Deleted 1 record, 0 zones.\n", "Deleted 1 record, 0 zones.\n"])
        }
    }

    @Test func `R-898: a token that is wrong or too weak changes nothing, and the audit tells of the attempt`()
        async throws
    {
        try await with { place in
            let wrong = try await ServedTool.served(place, management: "tidemark_none").importSchema()
            #expect(wrong.status == 4 && wrong.output.contains("does not accept the management token"))
            #expect(wrong.output.contains("tidemark admin operators issue"), "\(wrong.output)")
            // The credential of a user is none of an operator.
            let user = try #require(place.site.tokens["alice"])
            #expect(try await ServedTool.served(place, management: user).importSchema().status == 4)
            // Without a token the context's credential counts, which here is none either.
            let own = try await ServedTool.served(place).importSchema()
            #expect(own.status == 4 && own.output.contains("context's credential"), "\(own.output)")

            let vera = ServedTool.served(place, management: try await token(place, "vera", role: "viewer"))
            let weak = try await vera.importSchema()
            #expect(weak.status == 4, "\(weak.output)")
            #expect(weak.output.contains("vera is viewer, and this command needs editor"), "\(weak.output)")
            #expect(try await place.admin("containers", "list", "-o", "json").output.isEmpty)
            let audit = try await place.admin("audit", "list", "--who", "vera", "--failures", "-o", "json").output
            #expect(audit.contains("\"action\":\"cktool import-schema\""), "\(audit)")
            #expect(audit.contains("\"address\":\"127.0.0.1\""), "\(audit)")

            let olga = ServedTool.served(place, management: try await token(place, "olga", role: "editor"))
            #expect(try await olga.importSchema().status == 0)
            let reset = try await olga.run(["reset-schema", "--container-id", CKToolCommandTests.container])
            #expect(reset.status == 4 && reset.output.contains("needs owner"), "\(reset.output)")
            #expect(try await vera.run(["export-schema"] + Self.container).output.contains("RECORD TYPE Boat"))
        }
    }

    @Test func `R-898, R-899: a server that is not there or not trusted ends a command with 3`() async throws {
        try await with { place in
            _ = try await OperatorSeat.take(place, "lost", role: "", port: 1, credential: "none")
            _ = try await OperatorSeat.take(place, "untrusted", role: "", credential: "none", authority: "")
            for (context, text) in [("lost", "nothing listens"), ("untrusted", "is not trusted")] {
                let tool = ServedTool.served(place, management: "any", context: context)
                for ran in [
                    try await tool.importSchema(), try await tool.create(Self.boats[0]),
                    try await tool.run(["get-teams"]),
                ] {
                    #expect(ran.status == 3 && ran.output.contains(text), "\(ran.output)")
                }
            }
        }
    }

    @Test func `R-898: an operator who has a context needs no token`() async throws {
        try await with { place in
            _ = try await OperatorSeat.take(place, "olga", role: "editor")
            let tool = ServedTool.served(place, context: "olga")
            #expect(
                try await tool.importSchema().output
                    == "✅ Schema is valid.\nCreated container iCloud.test.operator in development.\n")
            #expect(try await tool.run(["export-schema"] + Self.container).status == 0)
        }
    }

    // MARK: Records

    @Test func `R-899: each verb of records writes over a server what it writes over the database`() async throws {
        try await with(keepsAssets: true) { place in
            let (served, direct) = (ServedTool.served(place), try ServedTool.direct(place))
            let tools = [served, direct]
            #expect(try await direct.importSchema().status == 0)
            for (tool, (boat, crew)) in zip([served, direct, served], zip(Self.boats, [2, 6, 12])) {
                let created = try await tool.create(boat)
                #expect(created.status == 0, "\(created.output)")
                // What is read over the other way is what was written.
                let found = try await same(
                    tools,
                    ["query-records"] + Self.container + [
                        "--database-type", "public", "--record-type", "Boat", "--filters",
                        "crew == \(crew)",
                    ])
                let inner = created.output.dropLast().split(separator: "\n", omittingEmptySubsequences: false)
                #expect(found.contains(inner.joined(separator: "\n    ")), "\(created.output) \(found)")
            }
            let query = ["query-records"] + Self.container + ["--database-type", "public", "--record-type", "Boat"]
            #expect(try Self.count(try await same(tools, query)) == 3)
            let page = try await same(
                tools, query + ["--sort-by", "crew DESC", "--limit", "2", "--requested-fields", "name", "crew"])
            let next = try #require(try CKToolCommandTests.object(page)["continuationToken"] as? String)
            let last = try await same(
                tools, query + ["--sort-by", "crew DESC", "--limit", "2", "--continuation-token", next])
            #expect(try Self.count(last) == 1)
            _ = try await same(tools, query + ["--filters", "crew LIKE 1"], status: 2)
            _ = try await same(tools, query + ["--filters", "crew > x"], status: 5)
            _ = try await same(tools, query + ["--filters", "built < 1980-01-01"])
            let delete = ["delete-records"] + query.dropFirst()
            _ = try await same(tools, delete + ["--filters", "crew > 2"])
            _ = try await same(tools, delete + ["--dry-run", "false"], status: 2)
            let gone = try await served.run(delete + ["--filters", "crew > 2", "--dry-run", "false", "-y"])
            #expect(gone.status == 0 && gone.output == "Deleted 2 records.\n", "\(gone.output)")

            let left = try #require(
                try Self.records(try await served.run(query).output).first?["recordName"] as? String)
            let one = ["delete-record"] + Self.container + ["--database-type", "public", "--record-name", left]
            _ = try await same(tools, one, status: 2)
            let deleted = try await served.run(one + ["--yes"])
            #expect(deleted.status == 0 && deleted.output.isEmpty, "\(deleted.output)")
            _ = try await same(tools, one + ["--yes"], status: 5)
            #expect(try await same(tools, query) == "{\n  \"records\": []\n}\n")
        }
    }

    private static func records(_ text: String) throws -> [[String: Any]] {
        try #require(try CKToolCommandTests.object(text)["records"] as? [[String: Any]])
    }

    private static func count(_ text: String) throws -> Int { try records(text).count }

    private static func name(_ text: String) throws -> String {
        try #require(try CKToolCommandTests.object(text)["recordName"] as? String)
    }

    @Test func `R-899: fields and files come from the user's machine, and reach devices`() async throws {
        try await with(keepsAssets: true) { place in
            #expect(try await ServedTool.direct(place).importSchema().status == 0)
            let served = ServedTool.served(place)
            let photo = Data((0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try photo.write(to: URL(fileURLWithPath: "\(place.directory.path)/a=photo.jpg"))
            let fields = """
                {"name": {"type": "stringType", "value": "Tern"}, "photo": {"type": "assetType", "value": "PHOTO"}}
                """
            let file = try place.write(fields, to: "fields.json")
            let words =
                Self.container + [
                    "--database-type", "private", "--record-type", "Boat", "--asset-files",
                    "PHOTO=\(place.directory.path)/a=photo.jpg",
                ]
            let created = try await served.run(["create-record"] + words + ["--fields-file", file])
            #expect(created.status == 0, "\(created.output)")
            let record = try await place.database().record(
                for: CKRecord.ID(recordName: try Self.name(created.output)))
            let url = try #require((record["photo"] as? CKAsset)?.fileURL)
            #expect(try Data(contentsOf: url) == photo)
            let line = (["cktool", "create-record"] + words + ["--fields-stdin"]).map { "'\($0)'" }
            let piped = try await Program.run(
                "tidemark", ["-c", "exec '\(Program.directory)/tidemark' \(line.joined(separator: " ")) < '\(file)'"],
                environment: served.variables, directory: place.directory.path, path: "/bin/sh")
            #expect(piped.status == 0, "\(piped.output)")
            #expect(try Self.name(piped.output) != Self.name(created.output))
        }
    }

    @Test func `R-899: a user token never reads what is another's, and no device is registered`() async throws {
        try await with { place in
            #expect(try await ServedTool.direct(place).importSchema().status == 0)
            let alice = ServedTool.served(place)
            let mine = try Self.name(try await alice.create(Self.boats[0], in: "private").output)
            let shown = try Self.name(try await alice.create(Self.boats[1]).output)
            var bob = alice
            bob.variables["CLOUDKIT_USER_TOKEN"] = try await place.makeAccount("bob")
            let query = ["--record-type", "Boat"]
            #expect(try await alice.records("query-records", query, in: "private").output.contains(mine))
            let others = try await bob.records("query-records", query, in: "private")
            #expect(others.status == 0 && !others.output.contains(mine), "\(others.output)")
            let foreign = try await bob.records("delete-record", ["--record-name", mine, "-y"], in: "private")
            #expect(foreign.status == 5, "\(foreign.output)")
            // In the public database the rules and grants of apps hold.
            #expect(try await bob.records("query-records", query).output.contains(shown))
            #expect(try await bob.records("delete-record", ["--record-name", shown, "-y"]).status == 4)
            // A zone that nobody shares is not there.
            let owner = try await place.container().userRecordID().recordName
            let zone = CKRecordZone.ID(zoneName: "Harbour")
            try await place.database().save(CKRecordZone(zoneID: zone))
            let closed = try await bob.records(
                "query-records", query + ["--zone-name", "Harbour", "--owner-name", owner], in: "shared")
            #expect(closed.status == 5, "\(closed.output)")
            let devices = try await place.admin("devices", "list", "bob", "-o", "json")
            #expect(devices.status == 0 && devices.output.isEmpty, "\(devices.output)")
        }
    }

    @Test func `R-899: what is no user token opens no records`() async throws {
        try await with { place in
            #expect(try await ServedTool.direct(place).importSchema().status == 0)
            let olga = try await token(place, "olga", role: "owner")
            var tool = ServedTool.served(place, management: olga, user: nil)
            let missing = try await tool.records("query-records", ["--record-type", "Boat"])
            #expect(missing.status == 2 && missing.output.contains("No user token found"), "\(missing.output)")
            for text in ["none", olga] {
                tool.variables["CLOUDKIT_USER_TOKEN"] = text
                let refused = try await tool.records("query-records", ["--record-type", "Boat"])
                #expect(refused.status == 4 && refused.output.contains("does not accept the user token"))
                #expect(refused.output.contains("tidemark admin credentials create"), "\(refused.output)")
            }
            let bob = try await place.makeAccount("bob")
            tool.variables["CLOUDKIT_USER_TOKEN"] = bob
            #expect(try await tool.create(Self.boats[0]).status == 0)
            #expect(try await place.admin("accounts", "disable", "bob", "--yes").status == 0)
            #expect(try await tool.create(Self.boats[0]).status == 4)
        }
    }

    @Test func `R-895: an empty list keeps its type, over a server and over the database`() async throws {
        try await with { place in
            let (served, direct) = (ServedTool.served(place), try ServedTool.direct(place))
            #expect(try await direct.importSchema().status == 0)
            for (tool, key, type, name) in [
                (served, "tags", "stringListType", "STRING"), (direct, "sizes", "int64ListType", "INT64"),
            ] {
                let created = try await tool.create(#"{"\#(key)": {"type": "\#(type)", "value": []}}"#)
                #expect(created.status == 0 && created.output.contains("\"\(type)\""), "\(created.output)")
                let exported = try await direct.run(["export-schema"] + Self.container).output
                let line = exported.split(separator: "\n").first { $0.contains(key) }
                #expect(line?.contains("LIST<\(name)>") == true, "\(exported)")
            }
            let other = try await served.create(#"{"tags": {"type": "int64ListType", "value": []}}"#)
            #expect(other.status == 5 && other.output.contains("LIST<STRING>"), "\(other.output)")
        }
    }
}
