// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkTestSupport

/// The files that lines of golden commands name, and those that have what the lines say.
enum GoldenFiles {
    static let schema = """
        DEFINE SCHEMA
            CREATE ROLE Editor;
            RECORD TYPE Airport (
                elevation DOUBLE QUERYABLE SORTABLE,
                name STRING QUERYABLE SORTABLE,
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world",
                GRANT CREATE, WRITE TO Editor
            );
            RECORD TYPE Note ( pinned INT64 QUERYABLE, text STRING QUERYABLE SORTABLE );
        """

    static let airports = """
        icao,name,elevation
        BIKF,Keflavik,171
        EGLL,Heathrow,83
        KJFK,Kennedy,13

        """

    static let mapping = """
        type Airport
        name icao
        field elevation double

        """

    /// What a run finds in its directory. `airports.csv` is not what some of the commands want.
    private static let texts = [
        "airports.csv": airports, "airports.map": mapping,
        // One row of these exists, one is new, and one is wrong.
        "more.csv": "icao,name,elevation\nBIKF,Keflavik,171\nBIRK,Reykjavik,45\nBIAR,Akureyri,low\n",
        "new.ckdb": schema.replacing(
            "text STRING QUERYABLE SORTABLE", with: "text STRING QUERYABLE SORTABLE, due TIMESTAMP QUERYABLE"),
        "settings.yaml": "listen: 127.0.0.1:8443\ndatabase-url: postgresql:///tidemark\nloops: 4\n",
        "bad-settings.yaml": "listn: 127.0.0.1:8443\nloops: 0\nplain: maybe\n",
        "bad.ckdb": "DEFINE SCHEMA\n    RECORD TYPE Note ( text STRNG );\n",
        "saved.jsonl": """
        {"recordName":"trip","recordType":"Note","fields":{"text":{"type":"string","value":"Norway"}}}
        {"recordName":"books","recordType":"Note","fields":{"text":{"type":"string","value":"Emma"}}}

        """,
        "archive.jsonl": """
        {"account":{"version":1,"account":"alice"}}
        {"container":{"container":"\(GoldenStore.container)","environment":"development","user":"_x"}}
        {"zone":{"zone":"Notes","isPerZone":false}}
        {"record":{"recordName":"a","recordType":"Note","fields":{"text":{"type":"string","value":"one"}}}}
        {"record":{"recordName":"b","recordType":"Note","fields":{}}}
        {"end":{"assets":0,"lacks":{"assets":0,"encryptedValues":0},"records":2,"shares":0,"zones":1}}

        """,
    ]

    static func write(to directory: TestDirectory) throws {
        for (name, text) in texts {
            try text.write(toFile: "\(directory.path)/\(name)", atomically: true, encoding: .utf8)
        }
        try write(masterKey: GoldenStore.masterKey, to: "\(directory.path)/master.key")
        try FileManager.default.createDirectory(
            atPath: "\(directory.path)/assets", withIntermediateDirectories: false)
    }

    static func write(masterKey: String, to path: String) throws {
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data((masterKey + "\n").utf8), attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
    }

    // MARK: What commands say

    /// In the folder of the tests.
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Commands/Golden")

    /// Nil if there is no such file.
    static func blocks(of command: GoldenCommand) -> [String]? {
        let file = folder.appendingPathComponent(command.fileName)
        return (try? String(contentsOf: file, encoding: .utf8)).map(blocks)
    }

    /// An empty line ends each block, and no block has one: their lines begin with a mark.
    static func blocks(_ text: String) -> [String] {
        text.components(separatedBy: "\n\n").map { $0.trimmingCharacters(in: .newlines) + "\n" }.filter { $0 != "\n" }
    }

    static func record(_ blocks: [String], of command: GoldenCommand) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(blocks.joined(separator: "\n").utf8).write(to: folder.appendingPathComponent(command.fileName))
    }

    /// Those that no command has.
    static func unknown(_ commands: [GoldenCommand]) throws -> [String] {
        let names = Set(commands.map(\.fileName))
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".txt") && !names.contains($0) }.sorted()
    }
}
