// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkCrypto
import TidemarkDomain
import TidemarkFields
import TidemarkServer
import TidemarkService
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

/// Encrypted values, assets and shares in archives.
@Suite struct ArchiveReaderSecretsTests {
    private static let content = Array("what the file has".utf8)
    private static let asset = FieldAsset(sha256: Array(SHA256.hash(content)), byteCount: Int64(content.count))
    private static let zoneKeyID = [UInt8](repeating: 1, count: SealedValue.keyIDByteCount)
    private static let zoneSecret = [UInt8](repeating: 9, count: AccountKey.keyByteCount)
    private static let accountKeyID = [UInt8](repeating: 5, count: AccountKey.idByteCount)
    private static let sealed = SealedValue(
        keyID: zoneKeyID, nonce: [UInt8](repeating: 2, count: SealedValue.nonceByteCount),
        ciphertext: [UInt8](repeating: 3, count: 20)
    ).bytes

    /// An archive with each type of field, an encrypted one, an asset and a share.
    private static func archive(_ encryption: EncryptionArgument, hasKey: Bool) throws -> String {
        var records = RecordLineTests.values.filter { ![.asset, .assetList].contains($0.type) }
        records += [.asset(asset), .assets([asset, asset])]
        let key = WrappedZoneKey(
            id: zoneKeyID, accountKeyID: accountKeyID,
            wrapped: [UInt8](repeating: 4, count: WrappedZoneKey.wrappedByteCount))
        let encrypted = try RecordLineField(
            try #require(try FieldMap([Field("s", .bytes(sealed), isEncrypted: true)])["s"]))
        var lines: [ArchiveLine] = [
            .account(ArchiveLine.Account(version: 1, account: "x")),
            .container(
                ArchiveLine.Container(
                    container: AdminPlace.container.identifier, environment: .development, user: "_x",
                    encryption: encryption)),
            .zone(ArchiveLine.Zone(zone: "Notes", isPerZone: false)),
            .zoneKey(ArchiveLine.Key(key, opened: hasKey ? zoneSecret : nil)),
            .asset(ArchiveLine.Asset(asset, offset: 0, content)),
            .record(RecordLine(recordName: "secret", recordType: "Secret", parent: nil, fields: ["s": encrypted])),
        ]
        lines += records.enumerated().map { index, value in
            let type = value.type == .emptyList ? FieldType.dateList : value.type
            return .record(
                RecordLine(
                    recordName: "r\(index)", recordType: "Note", parent: nil,
                    fields: ["f\(type.rawValue)": RecordLineField(value)]))
        }
        let people = [
            ArchiveLine.Person(
                account: "bob", role: "privateUser", permission: "readWrite", status: "accepted"),
            ArchiveLine.Person(
                address: "carol@example.org", role: "administrator", permission: "readOnly", status: "pending"),
        ]
        let share = RecordLine(
            recordName: Share.zoneWideName, recordType: Share.recordType, parent: nil,
            fields: ["cloudkit.title": RecordLineField(.string("ours"))])
        lines.append(
            .share(ArchiveLine.Sharing(record: share, publicPermission: "none", participants: people)))
        lines.append(.end(ArchiveLine.End(zones: 1, records: 1 + records.count, assets: 1, shares: 1)))
        return try lines.map { try $0.text }.joined()
    }

    /// Without what another server gives.
    private func portable(_ archive: String) throws -> [String] {
        try archive.split(separator: "\n").map { line in
            switch try ArchiveLine(parsing: Array(line.utf8)) {
            case .record(var record):
                (record.created, record.modified) = (nil, nil)
                return try ArchiveLine.record(record).text
            case .container(let line): return line.container + (line.encryption?.rawValue ?? "")
            case .zoneKey(let line): return line.id + (line.key ?? "")
            case .share(let line):
                let people = line.participants.map { "\($0)" }.sorted()
                return "\(line.record.fields) \(line.publicPermission) \(people)"
            case let other: return try other.text
            }
        }
    }

    /// An import or export with a master key and a directory of its own.
    private struct Site {
        let place: AdminPlace
        let directory: TestDirectory
        var assets: String { "\(directory.path)/assets" }
        var masterKey: String { "\(directory.path)/master.key" }

        init(_ place: AdminPlace) throws {
            self.place = place
            directory = try TestDirectory()
            try FileManager.default.createDirectory(atPath: assets, withIntermediateDirectories: true)
            _ = try MasterKeyFile(path: masterKey).make()
        }

        func perform(
            _ words: String..., input: String = "", hasMasterKey: Bool = true
        ) async throws -> (status: TidemarkAdmin.ExitStatus, terminal: MemoryTerminal) {
            try await perform(words, input: input, hasMasterKey: hasMasterKey)
        }

        func perform(
            _ words: [String], input: String = "", hasMasterKey: Bool = true
        ) async throws -> (status: TidemarkAdmin.ExitStatus, terminal: MemoryTerminal) {
            let key = hasMasterKey ? ["--master-key-file", masterKey] : []
            return try await place.perform(
                ["accounts"] + words + ["--asset-directory", assets] + key, input: input)
        }
    }

    private func run(_ body: (Site) async throws -> Void) async throws {
        try await AdminPlace.run { place in
            let site = try Site(place)
            defer { site.directory.remove() }
            try await body(site)
        }
    }

    @Test func `R-911: an archive with keys, assets and shares comes back from another server as it was`() async throws
    {
        var archive = ""
        try await run { site in
            let alice = try await site.place.user("alice")
            _ = try await site.place.user("bob")
            let first = try await site.perform(
                "import", "alice", "-", "--match-accounts", input: try Self.archive(.escrowed, hasKey: true))
            #expect(first.status == .ok, "\(first.terminal.messages)")
            // Devices of the account can open the zone's key.
            let stored = try await site.place.storage.accountKey(of: alice.id)
            let master = try #require(try MasterKeyFile(path: site.masterKey).read())
            let closed = try #require(stored.escrow)
            let secret = try #require(master.open(closed, of: alice.id))
            let zone = ZoneKey(database: alice.privateDatabase, name: "Notes")
            let keys = try await site.place.storage.zoneKeys(of: [zone], keysMax: 10, sharing: .nothing)[0].keys
            let key = try #require(keys?.first)
            #expect(key.accountKeyID == stored.id)
            #expect(
                ZoneKeyWrap.unwrap(
                    key.wrapped, id: key.id, with: secret, container: AdminPlace.container.identifier,
                    zoneName: "Notes") == Self.zoneSecret)
            let exported = try await site.perform("export", "alice")
            #expect(exported.status == .ok, "\(exported.terminal.messages)")
            archive = exported.terminal.output
            #expect(archive.contains(Base64.encode(Self.sealed)) && archive.contains("carol@example.org"))
        }
        let exported = archive
        try await run { site in
            // Other numbers than on the first server.
            for name in ["somebody", "bob", "alice"] { _ = try await site.place.user(name) }
            let imported = try await site.perform("import", "alice", "-", "--match-accounts", input: exported)
            #expect(imported.status == .ok, "\(imported.terminal.messages)")
            let again = try await site.perform("export", "alice")
            #expect(again.status == .ok, "\(again.terminal.messages)")
            #expect(try portable(again.terminal.output) == portable(exported))
            let repeated = try await site.perform("import", "alice", "-", "--match-accounts", input: exported)
            #expect(repeated.status == .ok && repeated.terminal.messages.contains("0 shares"))
        }
    }

    @Test func `R-911: what an archive lacks, or nobody can use, is counted on both sides`() async throws {
        var archive = ""
        try await run { site in
            _ = try await site.place.user("alice")
            _ = try await site.place.user("bob")
            _ = try await site.perform(
                "import", "alice", "-", "--match-accounts", input: try Self.archive(.escrowed, hasKey: true))
            let exported = try await site.place.perform("accounts", "export", "alice")
            #expect(exported.status == .failedCheck)
            let messages = exported.terminal.messages
            #expect(messages.contains("lacks the keys of 1 encrypted value"), "\(messages)")
            #expect(messages.contains("lacks the content of 1 asset"), "\(messages)")
            archive = exported.terminal.output
            #expect(archive.contains(#""lacks":{"assets":1,"encryptedValues":1}"#))
            #expect(!archive.contains(Base64.encode(Self.zoneSecret)))
        }
        let exported = archive
        try await run { site in
            _ = try await site.place.user("alice")
            let imported = try await site.perform("import", "alice", "-", input: exported)
            #expect(imported.status == .failedCheck)
            let messages = imported.terminal.messages
            #expect(messages.contains("Left out 1 encrypted value"), "\(messages)")
            #expect(messages.contains("1 person of shares must be invited anew"), "\(messages)")
            #expect(messages.contains("refused 2"), "two records name the asset: \(messages)")
            let cut = exported.split(separator: "\n").dropLast().joined(separator: "\n") + "\n"
            let again = try await site.perform("import", "alice", "-", input: cut)
            #expect(again.status == .failedCheck && again.terminal.messages.contains("it was cut off"))
            let other = try await site.place.perform(
                ["accounts", "export", "alice", "--master-key-file", "\(site.directory.path)/none"])
            #expect(other.status == .refused)
            // A share is no record that could be saved by itself.
            let share = #"{"recordName":"cloudkit.zoneshare","recordType":"cloudkit.share","fields":{}}"# + "\n"
            let saved = try await site.place.perform("records", "save", "alice", "Notes", "-", input: share)
            #expect(saved.status == .failedCheck && saved.terminal.messages.contains("accounts import alone"))
        }
    }

    @Test func `R-911: keys of an end-to-end account travel as they are, to an account without others`() async throws {
        let archive = try Self.archive(.endToEnd, hasKey: false)
        try await run { site in
            let alice = try await site.place.user("alice")
            _ = try await site.place.user("bob")
            let imported = try await site.perform(
                "import", "alice", "-", "--match-accounts", input: archive, hasMasterKey: false)
            #expect(imported.status == .ok, "\(imported.terminal.messages)")
            let stored = try await site.place.storage.accountKey(of: alice.id)
            #expect(stored.mode == .endToEnd && stored.id == Self.accountKeyID && stored.escrow == nil)
            let exported = try await site.perform("export", "alice", hasMasterKey: false)
            #expect(exported.status == .ok, "\(exported.terminal.messages)")
            #expect(exported.terminal.output.contains(Base64.encode(Self.sealed)))
        }
        try await run { site in
            let alice = try await site.place.user("alice")
            _ = try await site.place.user("bob")
            #expect(try await site.place.storage.claimMasterKey(check: [1]))
            _ = try await site.place.storage.saveAccountKey(
                StoredAccountKey(
                    mode: .escrowed, id: [UInt8](repeating: 7, count: AccountKey.idByteCount), escrow: [1, 2, 3]),
                of: alice.id, masterKeyCheck: [1], now: Timestamp(milliseconds: 0))
            let imported = try await site.perform(
                "import", "alice", "-", "--match-accounts", input: archive, hasMasterKey: false)
            #expect(imported.status == .failedCheck)
            #expect(imported.terminal.messages.contains("Left out 1 encrypted value"))
        }
    }

    @Test func `R-912: servers are told of a share that comes back alone, after its records`() async throws {
        let archive = try Self.archive(.escrowed, hasKey: true)
        let kept = try archive.split(separator: "\n").filter { line in
            if case .share = try ArchiveLine(parsing: Array(line.utf8)) { false } else { true }
        }
        try await run { (site: Site) async throws in
            let alice = try await site.place.user("alice")
            _ = try await site.place.user("bob")
            let words = ["import", "alice", "-", "--match-accounts"]
            // All but the share. The last line counts it, so the status is 1.
            _ = try await site.perform(words, input: kept.joined(separator: "\n"))
            let (heard, hear) = AsyncStream.makeStream(of: [ServerNotice].self)
            let (listening, listens) = AsyncStream.makeStream(of: Void.self)
            let listener = try NoticeListener(
                url: site.place.url, loop: site.place.loop, onNotices: { hear.yield($0) },
                onListening: { listens.yield() })
            for await _ in listening { break }
            let imported = try await site.perform(words, input: archive)
            #expect(imported.status == .ok, "\(imported.terminal.messages)")
            #expect(
                imported.terminal.messages.contains("0 records, 0 assets and 1 share"), "\(imported.terminal.messages)")
            // If it is not told, this comes first.
            try await site.place.storage.post([.credentialRevoked(CredentialID(7))])
            for await notices in heard {
                let zone = ZoneNotice(
                    database: alice.privateDatabase, life: .nobody, zoneName: "Notes", changesShares: true)
                #expect(notices == [.zone(zone)])
                break
            }
            listener.stop()
        }
    }

    @Test func `R-912: a public share comes back without people, who join by its new link`() async throws {
        let archive = try Self.archive(.escrowed, hasKey: true).replacing(
            #""publicPermission":"none""#, with: #""publicPermission":"readOnly""#)
        try await run { site in
            let alice = try await site.place.user("alice")
            let imported = try await site.perform("import", "alice", "-", "--match-accounts", input: archive)
            #expect(imported.status == .failedCheck)
            #expect(imported.terminal.messages.contains("2 people of shares must be invited anew"))
            let zone = ZoneKey(database: alice.privateDatabase, name: "Notes")
            let sharing = try #require(try await site.place.storage.sharing(of: zone, .whole)?.sharing)
            let share = try #require(sharing.livingShare)
            #expect(share.publicPermission == .readOnly && sharing.secret != nil)
            #expect(sharing.participants[share.number]?.isEmpty ?? true)
        }
    }

    /// An archive of one zone with these keys, the oldest first.
    private static func keys(_ numbers: [UInt8]) throws -> String {
        var lines: [ArchiveLine] = [
            .account(ArchiveLine.Account(version: 1, account: "x")),
            .container(
                ArchiveLine.Container(
                    container: AdminPlace.container.identifier, environment: .development, user: "_x",
                    encryption: .escrowed)),
            .zone(ArchiveLine.Zone(zone: "Notes", isPerZone: false)),
        ]
        for number in numbers {
            let key = WrappedZoneKey(
                id: [UInt8](repeating: number, count: SealedValue.keyIDByteCount), accountKeyID: accountKeyID,
                wrapped: [UInt8](repeating: 4, count: WrappedZoneKey.wrappedByteCount))
            lines.append(.zoneKey(ArchiveLine.Key(key, opened: zoneSecret)))
        }
        lines.append(.end(ArchiveLine.End(zones: 1)))
        return try lines.map { try $0.text }.joined()
    }

    @Test func `R-911: keys of an archive never take the place of a zone's newest key`() async throws {
        try await run { (site: Site) async throws in
            let alice = try await site.place.user("alice")
            let zone = ZoneKey(database: alice.privateDatabase, name: "Notes")
            func stored() async throws -> [UInt8] {
                let read = try await site.place.storage.zoneKeys(of: [zone], keysMax: 100, sharing: .nothing)
                return (read[0].keys ?? []).compactMap(\.id.first)
            }
            for (archive, expected) in [
                // An empty zone gets them in their order, also if the first import was cut off.
                ([1], [1]), ([1, 2, 3], [1, 2, 3]), ([1, 2, 3], [1, 2, 3]),
                // Keys of another archive become older ones.
                ([7], [7, 1, 2, 3]), ([8, 9], [9, 8, 7, 1, 2, 3]),
                // One that the archive has after them stays the newest.
                ([5, 3], [5, 9, 8, 7, 1, 2, 3]), ([3, 4], [5, 9, 8, 7, 1, 2, 3, 4]),
            ] as [([UInt8], [UInt8])] {
                let imported = try await site.perform("import", "alice", "-", input: try Self.keys(archive))
                #expect(imported.status == .ok, "\(imported.terminal.messages)")
                #expect(try await stored() == expected, "\(archive)")
            }
        }
    }

    @Test(arguments: [true, false])
    func `R-911: encrypted values of the user record open by its new name, or are left out and counted`(
        _ hasKey: Bool
    ) async throws {
        let container = AdminPlace.container.identifier
        func context(_ name: String, _ key: String) -> [UInt8] {
            SealingContext.value(container: container, zoneName: ZoneName.default, recordName: name, key: key)
        }
        func field(_ key: String, boundTo name: String) throws -> RecordLineField {
            let nonce = [UInt8](repeating: 6, count: SealedValue.nonceByteCount)
            let ciphertext = AESGCM.seal(
                Array(key.utf8), key: Self.zoneSecret, nonce: nonce, authenticating: context(name, key))
            let sealed = SealedValue(keyID: Self.zoneKeyID, nonce: nonce, ciphertext: ciphertext)
            return try RecordLineField(
                try #require(try FieldMap([Field(key, .bytes(sealed.bytes), isEncrypted: true)])[key]))
        }
        let key = WrappedZoneKey(
            id: Self.zoneKeyID, accountKeyID: Self.accountKeyID,
            wrapped: [UInt8](repeating: 4, count: WrappedZoneKey.wrappedByteCount))
        let fields = [
            "a": try field("a", boundTo: "_x"), "b": try field("b", boundTo: "_x"),
            // It was moved here from another record.
            "c": try field("c", boundTo: "_y"), "n": RecordLineField(.int64(7)),
        ]
        let lines: [ArchiveLine] = [
            .account(ArchiveLine.Account(version: 1, account: "x")),
            .container(
                ArchiveLine.Container(
                    container: container, environment: .development, user: "_x", encryption: .escrowed)),
            .zone(ArchiveLine.Zone(zone: ZoneName.default, isPerZone: false)),
            .zoneKey(ArchiveLine.Key(key, opened: hasKey ? Self.zoneSecret : nil)),
            .record(RecordLine(recordName: "_x", recordType: "Users", parent: nil, fields: fields)),
            .end(ArchiveLine.End(zones: 1, records: 1)),
        ]
        let archive = try lines.map { try $0.text }.joined()
        try await run { (site: Site) async throws in
            let alice = try await site.place.user("alice")
            let imported = try await site.perform("import", "alice", "-", "--replace", "--yes", input: archive)
            #expect(imported.status == .failedCheck)
            let messages = imported.terminal.messages
            #expect(messages.contains("Left out \(hasKey ? "1 encrypted value" : "3 encrypted values")"), "\(messages)")
            let zone = ZoneKey(database: alice.privateDatabase, name: ZoneName.default)
            let record = try #require(try await site.place.store.records(named: [alice.recordName], in: zone).first)
            #expect(try record.fields["n"]?.value() == .int64(7))
            #expect(record.fields["c"] == nil)
            for name in ["a", "b"] {
                guard hasKey else {
                    #expect(record.fields[name] == nil)
                    continue
                }
                let value = try record.fields[name]?.value()
                guard case .bytes(let bytes)? = value, let sealed = SealedValue(bytes) else {
                    Issue.record("no encrypted value: \(String(describing: value))")
                    continue
                }
                #expect(sealed.nonce != [UInt8](repeating: 6, count: SealedValue.nonceByteCount))
                let content = AESGCM.open(
                    sealed.ciphertext, key: Self.zoneSecret, nonce: sealed.nonce,
                    authenticating: context(alice.recordName, name))
                #expect(content == Array(name.utf8))
            }
        }
    }

    @Test func `R-911: values that were saved without their keys are told again, until they are replaced`() async throws
    {
        let archive = try Self.archive(.escrowed, hasKey: true)
        try await run { site in
            _ = try await site.place.user("alice")
            _ = try await site.place.user("bob")
            let words = ["import", "alice", "-", "--match-accounts"]
            let keyless = try await site.perform(words, input: archive, hasMasterKey: false)
            #expect(keyless.status == .failedCheck, "\(keyless.terminal.messages)")
            let again = try await site.perform(words, input: archive)
            #expect(again.status == .failedCheck)
            let messages = again.terminal.messages
            #expect(messages.contains("Left out 1 encrypted value") && messages.contains("--replace"), "\(messages)")
            let replaced = try await site.perform(words + ["--replace", "--yes"], input: archive)
            #expect(replaced.status == .ok, "\(replaced.terminal.messages)")
            let last = try await site.perform(words, input: archive)
            #expect(last.status == .ok, "\(last.terminal.messages)")
            let exported = try await site.perform(["export", "alice"])
            #expect(exported.terminal.output.contains(Base64.encode(Self.sealed)))
        }
    }

    @Test func `R-911: an archive that lacks a line is damaged, and what it has is saved`() async throws {
        let lines = try Self.archive(.escrowed, hasKey: true).split(separator: "\n")
        try await run { site in
            _ = try await site.place.user("alice")
            _ = try await site.place.user("bob")
            let place = try #require(lines.firstIndex { $0.contains(#""recordName":"r1""#) })
            let some = (lines[..<place] + lines[(place + 1)...]).joined(separator: "\n")
            let imported = try await site.perform(["import", "alice", "-", "--match-accounts"], input: some)
            #expect(imported.status == .failedCheck)
            let messages = imported.terminal.messages
            #expect(messages.contains("refused 0") && messages.contains("lines are missing"), "\(messages)")
        }
    }

    @Test func `R-911: an asset of other content is left out, and what follows it is saved`() async throws {
        let damaged = try Self.archive(.escrowed, hasKey: true).replacing(
            Base64.encode(Self.content), with: Base64.encode(Self.content.reversed()))
        try await run { site in
            _ = try await site.place.user("alice")
            _ = try await site.place.user("bob")
            let imported = try await site.perform(["import", "alice", "-", "--match-accounts"], input: damaged)
            #expect(imported.status == .failedCheck)
            let messages = imported.terminal.messages
            #expect(messages.contains("is damaged") && messages.contains("refused 2"), "\(messages)")
            #expect(messages.contains("1 share,"), "\(messages)")
        }
    }

    @Test func `R-864: an asset is larger than servers allow by default, and one that is there is not counted`()
        async throws
    {
        let large = FieldAsset(sha256: [UInt8](repeating: 8, count: 32), byteCount: Limits.standard.assetBytesMax + 1)
        let piece = try ArchiveLine.asset(ArchiveLine.Asset(large, offset: 0, [1])).text
        let half = Self.content.count / 2
        let pieces = try [(0, Self.content[..<half]), (half, Self.content[half...])].map { offset, data in
            try ArchiveLine.asset(ArchiveLine.Asset(Self.asset, offset: Int64(offset), Array(data))).text
        }
        let whole = try ArchiveLine.asset(ArchiveLine.Asset(Self.asset, offset: 0, Self.content)).text
        let archive = try Self.archive(.escrowed, hasKey: true).replacing(whole, with: piece + pieces.joined())
        try await run { site in
            _ = try await site.place.user("alice")
            _ = try await site.place.user("bob")
            let words = ["import", "alice", "-", "--match-accounts"]
            let imported = try await site.perform(words, input: archive)
            #expect(imported.status == .ok && imported.terminal.messages.contains("1 asset and"))
            let again = try await site.perform(words, input: archive)
            #expect(again.status == .ok && again.terminal.messages.contains("0 assets and"))
        }
    }

    @Test func `R-911: an end-to-end account stays one if no value of it is encrypted yet`() async throws {
        let archive = """
            {"account":{"account":"x","familyName":"Poe","givenName":"Alice","version":1}}
            {"container":{"container":"iCloud.test","encryption":"end-to-end","environment":"development","user":"_x"}}
            {"end":{"assets":0,"lacks":{"assets":0,"encryptedValues":0},"records":0,"shares":0,"zones":0}}

            """
        try await run { site in
            let alice = try await site.place.user("alice")
            let imported = try await site.perform(["import", "alice", "-"], input: archive, hasMasterKey: false)
            #expect(imported.status == .ok, "\(imported.terminal.messages)")
            #expect(try await site.place.storage.accountKey(of: alice.id).mode == .endToEnd)
            #expect(
                try await site.place.store.account(shownAs: "alice")?.personName
                    == PersonName(given: "Alice", family: "Poe"))
            // A name that the operator has set stays.
            let other = archive.replacing("Alice", with: "Eve")
            _ = try await site.perform(["import", "alice", "-"], input: other, hasMasterKey: false)
            #expect(try await site.place.store.account(shownAs: "alice")?.personName?.given == "Alice")
        }
    }
}
