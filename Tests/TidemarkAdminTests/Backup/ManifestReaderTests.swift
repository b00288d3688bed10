// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkCrypto
import TidemarkDomain
import TidemarkFields

@testable import TidemarkAdmin

@Suite struct ManifestReaderTests {
    private static let hash = String(repeating: "ab", count: 32)
    private static let head =
        #"{"backup":{"dumpedBy":15,"incarnation":"00","postgres":150006,"tidemark":"0.1.0","time":"T","version":1}}"#
    private static let migration = #"{"migration":{"checksum":"c","name":"0001_a","number":1}}"#
    private static let container =
        #"{"container":{"container":"c","environment":"production","records":3,"users":1,"zones":2}}"#

    private static func file(_ name: String = "database.dump", bytes: Int64 = 7, sha256: String = hash) -> String {
        #"{"file":{"bytes":\#(bytes),"name":"\#(name)","sha256":"\#(sha256)"}}"#
    }

    private static func asset(
        _ database: Int64, _ sha256: String = hash, _ bytes: Int64 = 5, kind: String = "asset"
    ) -> String {
        #"{"\#(kind)":{"bytes":\#(bytes),"database":\#(database),"sha256":"\#(sha256)"}}"#
    }

    /// The lines with the end that belongs to them.
    private static func manifest(
        _ lines: [String], assets: Int? = nil, bytes: Int64? = nil, sha256: String? = nil
    ) -> [UInt8] {
        let text = lines.map { $0 + "\n" }.joined()
        let count = lines.count { $0.hasPrefix("{\"asset\"") }
        let sum = sha256 ?? Hex.encode(SHA256.hash(Array(text.utf8)))
        let end =
            #"{"end":{"assetBytes":\#(bytes ?? Int64(count * 5)),"assets":\#(assets ?? count),"sha256":"\#(sum)"}}"#
        return Array((text + end + "\n").utf8)
    }

    private struct Read: Equatable {
        var assets: [AssetKey] = []
        var lost: [AssetKey] = []
        var files: [String] = []
        var migrations = 0
        var containers = 0
        var sum: Int64 = 0
    }

    /// Reads in pieces of this size.
    private static func read(_ bytes: [UInt8], pieces: Int = .max) throws -> Read {
        var reader = ManifestReader()
        var read = Read()
        var rest = bytes[...]
        while !rest.isEmpty {
            for (key, isThere) in try reader.read(rest.prefix(pieces)) {
                if isThere { read.assets.append(key) } else { read.lost.append(key) }
            }
            rest = rest.dropFirst(pieces)
        }
        try reader.finish()
        read.files = reader.files.map(\.name)
        (read.migrations, read.containers, read.sum) = (
            reader.migrations.count, reader.containers.count, reader.assetBytes
        )
        #expect(reader.head?.postgres == 150_006 && reader.assetCount == read.assets.count)
        #expect(reader.lostCount == read.lost.count && reader.firstLost == read.lost)
        return read
    }

    private static func fault(_ bytes: [UInt8]) -> String {
        do {
            _ = try read(bytes)
            return "none"
        } catch {
            return "\(error)"
        }
    }

    private static let whole = [
        head, migration, container, file(), asset(-1), asset(2),
        asset(2, String(repeating: "cd", count: 32), kind: "lost"),
        asset(3),
    ]

    @Test func `R-952: a manifest is read, in pieces of any size`() throws {
        let bytes = Self.manifest(Self.whole)
        let read = try Self.read(bytes)
        #expect(read.assets.map(\.database.rawValue) == [-1, 2, 3] && read.lost.map(\.database.rawValue) == [2])
        #expect(read.files == ["database.dump"] && read.migrations == 1 && read.containers == 1 && read.sum == 15)
        for pieces in [1, 2, 7, 100] { #expect(try Self.read(bytes, pieces: pieces) == read) }
    }

    @Test func `R-952: a manifest that was cut off at any place is none`() throws {
        let bytes = Self.manifest(Self.whole)
        for count in 0..<bytes.count {
            #expect(throws: (any Error).self, "\(count)") { try Self.read(Array(bytes.prefix(count))) }
        }
    }

    @Test func `R-952: a manifest in which any byte is another is found damaged`() throws {
        let bytes = Self.manifest(Self.whole)
        for index in bytes.indices.dropLast() {
            var damaged = bytes
            damaged[index] ^= 1
            #expect(throws: (any Error).self, "\(index)") { try Self.read(damaged) }
        }
    }

    @Test(arguments: [
        ("../escape", true), ("a/b", true), ("/etc/passwd", true), (".hidden", true), ("..", true), ("", true),
        ("a\\u0000b", true), ("name with space", true), ("ä", true), (String(repeating: "a", count: 256), true),
        ("database.dump", false), ("a-b_c.1", false),
    ])
    func `R-952: no file of a manifest leads out of the backup`(_ name: String, _ isRefused: Bool) {
        let fault = Self.fault(Self.manifest([Self.head, Self.migration, Self.file(name)]))
        #expect(fault.contains("cannot be in a backup") == isRefused, "\(fault)")
    }

    @Test func `R-952: each line is in its place, once, and has a bound`() {
        let (head, migration, container) = (Self.head, Self.migration, Self.container)
        let (file, asset) = (Self.file(), Self.asset(1))
        let cases: [([String], String)] = [
            ([], "damaged"), ([head], "damaged"),
            ([migration, file], "is out of order"), ([head, head, file], "is out of order"),
            ([head, container, migration, file], "is out of order"), ([head, asset, file], "is out of order"),
            ([head, file, container], "is out of order"), ([head, file, file], "cannot be in a backup"),
            ([head, migration, migration, file], "is out of order"), ([head, file, asset, asset], "is out of order"),
            ([head, file, Self.asset(2), asset], "is out of order"),
            ([head, file, Self.asset(1, "zz")], "an asset that is none"),
            ([head, file, Self.asset(1, Self.hash, -1)], "an asset that is none"),
            ([head, file, Self.asset(1, Self.hash, .max), Self.asset(2, Self.hash, 1)], "an asset that is none"),
            ([head, Self.file(sha256: "ab")], "cannot be in a backup"),
            ([head, Self.file(bytes: -1)], "cannot be in a backup"),
            ([head, file, "{}"], "is none of a manifest"), ([head, file, "[]"], "is none of a manifest"),
            ([head, file, ""], "is none of a manifest"),
            ([head, file, String(repeating: "[", count: 9_000)], "is none of a manifest"),
            (
                [
                    head, file,
                    #"{"asset":{"bytes":5,"database":1,"sha256":"\#(Self.hash)"},"migration":null,"lost":{"bytes":5,"database":1,"sha256":"\#(Self.hash)"}}"#,
                ], "is none of a manifest"
            ),
            ([head, file, String(repeating: "x", count: ManifestReader.lineBytesMax + 1)], "is too long"),
            ([head.replacing("\"version\":1", with: "\"version\":2"), file], "reads the form 1"),
        ]
        for (lines, text) in cases {
            let fault = Self.fault(Self.manifest(lines))
            // Without a file there is no place for an end.
            let isFound = fault.contains(text) || (text == "damaged" && fault.contains("out of order"))
            #expect(isFound, "\(fault) in place of \(text)")
        }
        let endless = [UInt8](repeating: UInt8(ascii: "x"), count: ManifestReader.lineBytesMax + 1)
        #expect(Self.fault(endless).contains("is too long"))
    }

    @Test func `R-952: what the end says is compared`() {
        let lines = [Self.head, Self.file(), Self.asset(1)]
        #expect(Self.fault(Self.manifest(lines)) == "none")
        #expect(Self.fault(Self.manifest(lines, assets: 2)).contains("damaged"))
        #expect(Self.fault(Self.manifest(lines, bytes: 4)).contains("damaged"))
        #expect(Self.fault(Self.manifest(lines, sha256: Self.hash)).contains("damaged"))
        #expect(Self.fault(Self.manifest(lines) + Array("{}\n".utf8)).contains("comes after the end"))
        #expect(Self.fault(Self.manifest(lines) + Array("x".utf8)).contains("cut off"))
    }

    @Test func `R-952: what is written is read back`() throws {
        let key = AssetKey(
            database: DatabaseID(7), content: FieldAsset(sha256: [UInt8](repeating: 9, count: 32), byteCount: 3))
        let line = BackupLine(asset: BackupLine.Asset(key))
        let bytes = try line.bytes()
        #expect(bytes.last == UInt8(ascii: "\n"))
        let read = try JSONDecoder().decode(BackupLine.self, from: Data(bytes))
        #expect(read == line && read.asset?.key == key)
    }
}
