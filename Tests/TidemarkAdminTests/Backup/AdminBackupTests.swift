// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkFields
import TidemarkPostgres
import TidemarkService
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

/// Backups of a store that nobody else uses. `BackupCommandTests` has devices that write meanwhile.
@Suite struct AdminBackupTests {
    private func check(_ sql: String..., url: String) throws {
        let checks = sql.map { "ASSERT \($0);" }.joined(separator: "\n")
        try PostgresAdministration.execute(["DO $$ BEGIN\n\(checks)\nEND $$"], url: url)
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func inode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
    }

    @Test
    func `R-950, R-953, R-954: a backup is whole, and its restore has all that was stored, with a new incarnation`()
        async throws
    {
        try await BackupPlace.with { place in
            let (created, said) = try await place.create()
            #expect(created == .ok, "\(said.messages)")
            #expect(
                said.messages.first
                    == "Backed up 1 container, 2 records and 1 asset (23 bytes) into \(place.backup).",
                "\(said.messages)")
            let (verified, found) = try await place.verify()
            #expect(verified == .ok && found.data.isEmpty, "\(found.data) \(found.messages)")
            let url = try await TestPostgres.database().url
            let (restored, told) = try await place.restore(to: url)
            #expect(restored == .ok, "\(told.messages)")
            #expect(told.messages.contains { $0.contains("are valid again") }, "\(told.messages)")
            let content = FileManager.default.contents(atPath: try place.assetFile(in: place.path("restored")))
            #expect(content == Data(BackupPlace.content))
            try check(
                "(SELECT count(*) FROM record WHERE name IN ('r1', 'r2')) = 2",
                "(SELECT master_key_check IS NOT NULL FROM store)",
                // The backup was under way when it was made.
                "(SELECT string_agg(action || ' ' || result, ', ' ORDER BY id) FROM audit) = 'backup create 0, backup restore 1'",
                "to_regclass('tidemark_restore_under_way') IS NULL", url: url)
            // The upper half of an incarnation names the one before.
            try check("(SELECT incarnation >> 32 FROM store) <> 0", url: url)
            let (state, comparison) = try await place.run(
                "store", "verify", "--ci", "--deep", "--asset-directory", place.path("restored"), url: url)
            #expect(state == .ok, "\(comparison.data)")
        }
    }

    @Test func `R-952: nobody else can read a backup, and a directory with anything in it is not taken`() async throws {
        try await BackupPlace.with { place in
            #expect(try await place.create().status == .ok)
            let backup = place.backup
            #expect(try mode(backup) == 0o700)
            for file in ["manifest.jsonl", "database.dump", "assets/\(BackupPlace.assetName)"] {
                #expect(try mode("\(backup)/\(file)") == 0o600, "\(file)")
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: backup)
            #expect(Set(names) == ["manifest.jsonl", "database.dump", "assets"])
            let (again, said) = try await place.create()
            #expect(again == .refused && said.messages.last?.contains("is not empty") == true, "\(said.messages)")
            #expect(try await place.verify().status == .ok)
            // What is in it may be somebody else's.
            let other = place.path("other")
            try FileManager.default.createDirectory(atPath: "\(other)/sub", withIntermediateDirectories: true)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: other)
            #expect(try await place.create(at: "other").status == .refused)
            #expect(try mode(other) == 0o755)
        }
    }

    @Test func `R-952: without its manifest it is no backup, whatever else is there`() async throws {
        try await BackupPlace.with { place in
            #expect(try await place.create().status == .ok)
            let manifest = "\(place.backup)/manifest.jsonl"
            // As it is called until it is whole.
            try FileManager.default.moveItem(atPath: manifest, toPath: "\(manifest).new")
            let url = try await TestPostgres.database().url
            for (status, said) in [try await place.verify(), try await place.restore(to: url)] {
                #expect(status == .refused && said.messages.last?.contains("is no backup") == true, "\(said.messages)")
            }
            let (next, told) = try await place.create("--previous", place.backup, at: "next")
            #expect(next == .refused && told.messages.last?.contains("is no backup") == true)
        }
    }

    @Test(arguments: ["manifest.jsonl", "database.dump", "assets/\(BackupPlace.assetName)"], [false, true])
    func `R-953: a file that is damaged or missing is found, and such a backup is not restored`(
        _ name: String, _ isMissing: Bool
    ) async throws {
        guard !isMissing || name != "manifest.jsonl" else { return }
        try await BackupPlace.with { place in
            #expect(try await place.create().status == .ok)
            let file = "\(place.backup)/\(name)"
            if isMissing { try FileManager.default.removeItem(atPath: file) } else { try place.damage(file) }
            let (status, found) = try await place.verify()
            #expect(status == .failedCheck && found.data.contains(name), "\(found.data)")
            let url = try await TestPostgres.database().url
            let (restored, _) = try await place.restore(to: url)
            #expect(restored == .failedCheck)
            try check("to_regclass('record') IS NULL", "to_regclass('tidemark_restore_under_way') IS NULL", url: url)
        }
    }

    @Test func `R-957: what an earlier backup has is shared with the next one, and each stays whole without the other`()
        async throws
    {
        try await BackupPlace.with { place in
            #expect(try await place.create().status == .ok)
            #expect(try await place.create("--previous", place.backup, at: "next").status == .ok)
            let file = "assets/\(BackupPlace.assetName)"
            #expect(try inode("\(place.backup)/\(file)") == inode("\(place.path("next"))/\(file)"))
            #expect(try inode("\(place.backup)/\(file)") != inode("\(place.assets)/1/\(BackupPlace.assetName)"))
            try FileManager.default.removeItem(atPath: place.backup)
            #expect(try await place.verify("next").status == .ok)
            // The servers' own file may be linked as well, if the operator says so.
            #expect(try await place.create("--link-assets", at: "linked").status == .ok)
            #expect(
                try inode("\(place.path("linked"))/\(file)") == inode("\(place.assets)/1/\(BackupPlace.assetName)"))
            #expect(try await place.verify("linked").status == .ok)
        }
    }

    @Test(arguments: ["--skip-space-check", "--link-assets"])
    func `R-950: an asset whose file is damaged is told each time, and the rest is backed up`(_ option: String)
        async throws
    {
        try await BackupPlace.with { place in
            try place.writeAsset(BackupPlace.content.reversed())
            let (status, said) = try await place.create(option)
            #expect(status == .failedCheck)
            #expect(said.messages.contains { $0.contains("is missing or damaged") }, "\(said.messages)")
            let (verified, told) = try await place.verify()
            #expect(verified == .ok && told.messages.contains { $0.contains("It lacks 1 asset") }, "\(told.messages)")
            #expect(!FileManager.default.fileExists(atPath: "\(place.backup)/assets/\(BackupPlace.assetName)"))
            let url = try await TestPostgres.database().url
            let (restored, last) = try await place.restore(to: url)
            #expect(restored == .ok && last.messages.contains { $0.contains("It lacks 1 asset") }, "\(last.messages)")
        }
    }

    @Test
    func `R-960: a store whose only asset is lost is backed up if somebody says so, and each command names the asset`()
        async throws
    {
        try await BackupPlace.with { place in
            try FileManager.default.removeItem(atPath: try place.assetFile(in: place.assets))
            let (refused, why) = try await place.create()
            #expect(
                refused == .refused && why.messages.last?.contains("--without-lost-assets") == true, "\(why.messages)")
            // A disk that is not mounted looks the same, so somebody is asked, and a script is not enough.
            let cases: [([String], [String]?, TidemarkAdmin.ExitStatus)] = [
                ([], nil, .usage), ([], ["n"], .refused), (["--dry-run"], nil, .ok),
            ]
            let words = [
                "backup", "create", place.backup, "--asset-directory", place.assets, "--without-lost-assets",
            ]
            for (more, answers, status) in cases {
                let (ended, said) = try await place.run(words + more, answers: answers)
                #expect(
                    ended == status && said.messages.contains { $0.contains("is merely not mounted") },
                    "\(said.messages)"
                )
                #expect(!FileManager.default.fileExists(atPath: place.backup))
            }
            let (created, said) = try await place.run(words, answers: ["y"])
            #expect(created == .ok, "\(said.messages)")
            let name = try #require(
                BackupPlace.assetName.split(whereSeparator: { "/.".contains($0) }).dropFirst().first)
            #expect(said.messages.contains { $0.contains(name) }, "\(said.messages)")
            let manifest = try String(contentsOfFile: "\(place.backup)/manifest.jsonl", encoding: .utf8)
            let lost = manifest.split(separator: "\n").filter { $0.hasPrefix("{\"lost\"") }
            #expect(lost.count == 1 && lost.first?.contains(name) == true, "\(manifest)")
            let (verified, found) = try await place.verify()
            #expect(verified == .ok && found.messages.contains { $0.contains(name) }, "\(found.messages)")
            let url = try await TestPostgres.database().url
            let (restored, told) = try await place.restore(to: url)
            #expect(restored == .ok, "\(told.messages)")
            let before = told.messages.prefix { !$0.hasPrefix("Restored ") }
            #expect(before.contains { $0.contains(name) }, "\(told.messages)")
            #expect(told.messages.contains { $0.hasPrefix("1 asset that records name had no file") })
            // The record is as it was, and whoever looks finds that its file is missing.
            try check(
                "(SELECT count(*) FROM asset) = 1", "(SELECT count(*) FROM asset_use) = 1",
                "(SELECT count(*) FROM record WHERE name IN ('r1', 'r2')) = 2", url: url)
            try FileManager.default.createDirectory(atPath: place.path("restored"), withIntermediateDirectories: true)
            let (state, comparison) = try await place.run(
                "store", "verify", "--ci", "-o", "name", "--asset-directory", place.path("restored"), url: url)
            #expect(state == .failedCheck && comparison.data == "asset-file-missing\n", "\(comparison.data)")
        }
    }

    @Test
    func `R-989: an accepted loss is remembered and told apart, until the file is there again`()
        async throws
    {
        try await BackupPlace.with { place in
            let file = try place.addSecondAsset()
            try FileManager.default.removeItem(atPath: file)
            #expect(try await place.create(at: "one").status == .failedCheck)
            let (accepted, said) = try await place.create("--without-lost-assets", at: "two")
            #expect(accepted == .ok, "\(said.messages)")
            #expect(said.messages.contains { $0.hasPrefix("The loss of 1 asset is accepted") }, "\(said.messages)")
            // Without the option, as in a script.
            let (next, told) = try await place.create(at: "three")
            #expect(next == .ok, "\(told.messages)")
            #expect(told.messages.contains { $0.contains("accepted before, first by ") }, "\(told.messages)")
            #expect(!told.messages.contains { $0.contains("is missing or damaged.") }, "\(told.messages)")
            #expect(try await place.verify("three").status == .ok)
            let words = ["store", "verify", "--ci", "--asset-directory", place.assets]
            let (checked, found) = try await place.run(words)
            #expect(checked == .ok && found.messages.contains { $0.contains("accepted that at ") }, "\(found.messages)")
            // A further loss is told, and is no accepted one.
            let first = "\(place.assets)/1/\(BackupPlace.assetName)"
            try FileManager.default.removeItem(atPath: first)
            #expect(try await place.run(words).status == .failedCheck)
            let (further, why) = try await place.create(at: "four")
            #expect(further == .refused, "\(why.messages)")
            try place.writeAsset(BackupPlace.content.reversed())
            let (damaged, what) = try await place.create(at: "five")
            #expect(
                damaged == .failedCheck && what.messages.last?.contains("1 asset could not be backed up") == true,
                "\(what.messages)")
            // The file is back, and is lost again.
            try place.writeAsset(BackupPlace.content)
            try Data(BackupPlace.second).write(to: URL(fileURLWithPath: file))
            #expect(try await place.create(at: "six").status == .ok)
            try FileManager.default.removeItem(atPath: file)
            #expect(try await place.create(at: "seven").status == .failedCheck)
            // Somebody sends it again: what was accepted before does not count.
            #expect(try await place.create("--without-lost-assets", at: "eight").status == .ok)
            try PostgresAdministration.execute(
                ["UPDATE asset SET touched_at = now() + interval '1 hour'"], url: place.url)
            #expect(try await place.create(at: "nine").status == .failedCheck)
        }
    }

    @Test func `R-989: of very many lost assets some are named, and accepted ones are counted apart`() {
        var lost = LostAssets()
        for number in 0..<50 {
            let content = FieldAsset(sha256: [UInt8](repeating: UInt8(number), count: 32), byteCount: 1)
            let loss =
                number % 2 == 0 ? nil : AcceptedLoss(at: Timestamp(milliseconds: Int64(100 - number)), by: "o\(number)")
            let isTold = lost.add(
                BackedUpAsset(
                    asset: AssetKey(database: DatabaseID(1), content: content), isNamed: true,
                    touchedAt: Timestamp(milliseconds: 0), loss: loss))
            #expect(isTold == (loss == nil && number < 2 * AdminBackup.lostToldMax))
        }
        #expect(lost.count == 50 && lost.newCount == 25 && lost.first.count == AdminBackup.lostToldMax)
        #expect(lost.firstAccepted?.by == "o49")
    }

    @Test(arguments: ["--skip-space-check", "--link-assets"])
    func `R-960: a file that does not open ends a backup and is named, or is lost if somebody says so`(
        _ option: String
    ) async throws {
        try await BackupPlace.with { place in
            let file = try place.addSecondAsset()
            // A link is no asset. It does not open, as a file on a broken disk.
            try FileManager.default.moveItem(atPath: file, toPath: place.path("moved"))
            try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: place.path("moved"))
            let (refused, why) = try await place.create(option)
            #expect(refused == .refused)
            let text = why.messages.last ?? ""
            #expect(text.contains(file) && text.contains("--without-lost-assets"), "\(why.messages)")
            #expect(!FileManager.default.fileExists(atPath: "\(place.backup)/manifest.jsonl"))
            let (created, said) = try await place.create(option, "--without-lost-assets", at: "rest")
            #expect(created == .ok && said.messages.contains { $0.contains(file) }, "\(said.messages)")
            let (verified, told) = try await place.verify("rest")
            #expect(verified == .ok && told.messages.contains { $0.contains("It lacks 1 asset") }, "\(told.messages)")
            #expect(FileManager.default.fileExists(atPath: "\(place.path("rest"))/assets/\(BackupPlace.assetName)"))
        }
    }

    @Test func `R-958: pg_restore of 17 and later is not used on an older server`() throws {
        for (tool, server) in [(15, 15), (16, 15), (16, 14), (17, 17), (18, 17), (18, 18)] {
            #expect(BackupToolOptions.restores(tool, into: server))
            try BackupToolOptions.checkRestores(tool, dumpedBy: server, into: server)
        }
        let installed = #expect(throws: AdminFailure.self) {
            try BackupToolOptions.checkRestores(17, dumpedBy: 15, into: 16)
        }
        #expect(installed?.description.contains("postgresql-client-16,") == true, "\(installed as Any)")
        let written = #expect(throws: AdminFailure.self) {
            try BackupToolOptions.checkRestores(18, dumpedBy: 17, into: 16)
        }
        #expect(written?.description.contains("into PostgreSQL 17 or later.") == true, "\(written as Any)")
    }

    @Test func `R-960: of very many lost assets the first are told one by one, and how many more there are`() {
        func manifest(_ count: Int) -> BackupManifest {
            let first = (0..<min(count, AdminBackup.lostToldMax)).map { number in
                AssetKey(
                    database: DatabaseID(Int64(number)),
                    content: FieldAsset(sha256: [UInt8](repeating: UInt8(number), count: 32), byteCount: 3))
            }
            return BackupManifest(
                head: BackupLine.Head(
                    version: 1, time: "T", tidemark: "0.1.0", postgres: 150_006, dumpedBy: 15, incarnation: "00"),
                migrations: [], containers: [], files: [], assetCount: 0, assetBytes: 0, lostCount: count,
                firstLost: first)
        }
        #expect(AdminBackup.lost(manifest(0)) == [])
        let one = AdminBackup.lost(manifest(1))
        #expect(one.count == 2 && one[0].hasPrefix("It lacks 1 asset ") && one[1].contains("of the database 0"))
        #expect(AdminBackup.lost(manifest(20)).count == 21)
        let many = AdminBackup.lost(manifest(1_000_000))
        #expect(many.count == 22 && many.last == "  and 999980 more, which manifest.jsonl lists.")
    }

    @Test func `R-950: a backup that could not be whole, or is in the wrong place, does not begin`() async throws {
        try await BackupPlace.with { place in
            let cases: [([String], TidemarkAdmin.ExitStatus, String)] = [
                (["backup", "create", place.backup], .usage, "--asset-directory"),
                (
                    ["backup", "create", "\(place.assets)/backup", "--asset-directory", place.assets], .usage,
                    "is in the directory of assets"
                ),
                (
                    [
                        "backup", "create", place.backup, "--asset-directory", place.assets, "--postgres-binaries",
                        place.directory.path,
                    ], .refused, "pg_dump was not found"
                ),
            ]
            for (words, status, text) in cases {
                let (ended, said) = try await place.run(words)
                #expect(ended == status && said.messages.last?.contains(text) == true, "\(said.messages)")
            }
            let (dry, said) = try await place.create("--dry-run")
            #expect(dry == .ok && said.messages.last == "Would write a backup into \(place.backup).")
            #expect(!FileManager.default.fileExists(atPath: place.backup))
            // As if the disk of the assets were not mounted.
            try FileManager.default.removeItem(atPath: place.assets)
            try FileManager.default.createDirectory(atPath: place.assets, withIntermediateDirectories: true)
            let (unmounted, told) = try await place.create()
            #expect(
                unmounted == .refused && told.messages.last?.contains("has none of the assets") == true,
                "\(told.messages)")
            #expect(!FileManager.default.fileExists(atPath: place.backup))
        }
    }

    @Test func `R-950: a service never leads the programs elsewhere than the URL does`() throws {
        for (url, service) in [
            ("postgresql://db.example/notes", nil), ("postgresql:///notes", "live"), ("service=test", "live"),
            ("service=test dbname=notes", nil),
        ] as [(String, String?)] {
            _ = try BackupToolOptions.connection(to: url, service: service)
        }
        for (url, service) in [
            ("postgresql://db.example/notes", "live"), ("service=test user=bob", nil), ("service=test port=7", "live"),
        ] as [(String, String?)] {
            let error = #expect(throws: AdminFailure.self) {
                try BackupToolOptions.connection(to: url, service: service)
            }
            #expect(error?.status == .usage && error?.description.contains("PGSERVICE") == true, "\(url)")
        }
    }

    // MARK: Restoring

    @Test func `R-954: a restore goes into an empty database alone, with the keys of the backup`() async throws {
        try await BackupPlace.with { place in
            #expect(try await place.create().status == .ok)
            let (full, said) = try await place.restore("--yes", to: place.url)
            #expect(full == .refused && said.messages.last?.contains("is not empty: it has account, ") == true)
            let url = try await TestPostgres.database().url
            let other = place.path("other.key")
            try Data(String(repeating: "6e", count: 32).utf8).write(to: URL(fileURLWithPath: other))
            let cases: [([String], [String]?, TidemarkAdmin.ExitStatus, String)] = [
                ([], nil, .usage, "--master-key-file"),
                (["--master-key-file", other], nil, .refused, "does not hold the master key of the backup"),
                (["--master-key-file", place.path("none")], nil, .refused, "There is no file"),
                (["--without-keys"], nil, .usage, "nobody can be asked"),
                (["--without-keys"], ["y"], .refused, "Not confirmed"),
            ]
            for (more, answers, status, text) in cases {
                let words = ["backup", "restore", place.backup, "--asset-directory", place.path("restored")]
                let (ended, told) = try await place.run(words + more, url: url, answers: answers)
                #expect(ended == status && told.messages.last?.contains(text) == true, "\(more): \(told.messages)")
            }
            try check("to_regclass('record') IS NULL", "to_regclass('tidemark_restore_under_way') IS NULL", url: url)
            #expect(!FileManager.default.fileExists(atPath: place.path("restored")))
            let (dry, told) = try await place.restore("--dry-run", to: url)
            #expect(dry == .ok && told.messages.last?.hasPrefix("Would restore ") == true, "\(told.messages)")
            try check("to_regclass('record') IS NULL", "to_regclass('tidemark_restore_under_way') IS NULL", url: url)
            // Whoever types the name of the database knows what is lost.
            let name = try #require(url.split(separator: "?").first?.split(separator: "/").last.map(String.init))
            let (restored, last) = try await place.run(
                "backup", "restore", place.backup, "--asset-directory", place.path("restored"), "--without-keys",
                url: url,
                answers: [name])
            #expect(restored == .ok, "\(last.messages)")
        }
    }

    @Test func `R-954: a backup without assets makes the directory that servers look for`() async throws {
        try await BackupPlace.with { place in
            try PostgresAdministration.execute(
                ["DELETE FROM asset_use", "DELETE FROM asset", "UPDATE asset_total SET byte_count = 0"], url: place.url)
            #expect(try await place.create().status == .ok)
            let url = try await TestPostgres.database().url
            let (restored, said) = try await place.restore(to: url)
            #expect(restored == .ok, "\(said.messages)")
            let (whole, found) = try await place.run(
                "store", "verify", "--ci", "--asset-directory", place.path("restored"), url: url)
            #expect(whole == .ok, "\(found.messages) \(found.data)")
        }
    }

    @Test func `R-954: files of another store are left alone, and those of this one are used again`() async throws {
        try await BackupPlace.with { place in
            #expect(try await place.create().status == .ok)
            let url = try await TestPostgres.database().url
            let words = ["backup", "restore", place.backup, "--master-key-file", place.keyFile, "--asset-directory"]
            let (without, no) = try await place.run(
                "backup", "restore", place.backup, "--master-key-file", place.keyFile, url: url)
            #expect(without == .usage && no.messages.last?.contains("--asset-directory") == true)
            try FileManager.default.createDirectory(
                atPath: "\(place.path("foreign"))/1/ab", withIntermediateDirectories: true)
            let (foreign, said) = try await place.run(words + [place.path("foreign")], url: url)
            #expect(foreign == .refused && said.messages.last?.contains("of another store") == true, "\(said.messages)")
            let before = try inode("\(place.assets)/1/\(BackupPlace.assetName)")
            let (own, told) = try await place.run(words + [place.assets], url: url)
            #expect(
                own == .ok && told.messages.contains { $0.contains("Assets that were there already: 1.") },
                "\(told.messages)")
            #expect(told.messages.contains { $0.contains("must be stopped") }, "\(told.messages)")
            #expect(try inode("\(place.assets)/1/\(BackupPlace.assetName)") == before)
        }
    }

    @Test func `R-955: a restore that was cut off is begun anew, once somebody says so`() async throws {
        try await BackupPlace.with { place in
            #expect(try await place.create().status == .ok)
            let url = try await TestPostgres.database().url
            // Where it was cut off there is a part of the tables.
            try PostgresAdministration.execute(
                [
                    "CREATE TABLE tidemark_restore_under_way ()", "CREATE TABLE record (a int)",
                    "CREATE TABLE \"o'ther\" ()",
                ],
                url: url)
            let (refused, said) = try await place.restore(to: url)
            #expect(refused == .usage && said.messages.last?.contains("was cut off here") == true, "\(said.messages)")
            let (restored, told) = try await place.restore("--yes", to: url)
            #expect(restored == .ok, "\(told.messages)")
            try check(
                "(SELECT count(*) FROM record) = 2", "to_regclass('\"o''ther\"') IS NULL",
                "to_regclass('tidemark_restore_under_way') IS NULL", url: url)
        }
    }

    @Test func `R-955: a restore that fails leaves a database that no command takes for a store`() async throws {
        try await BackupPlace.with { place in
            #expect(try await place.create().status == .ok)
            let url = try await TestPostgres.database().url
            // There is no room for assets under a file.
            try Data("x".utf8).write(to: URL(fileURLWithPath: place.path("file")))
            let (status, said) = try await place.run(
                "backup", "restore", place.backup, "--master-key-file", place.keyFile, "--asset-directory",
                "\(place.path("file"))/assets", url: url)
            #expect(status == .refused, "\(said.messages)")
            try check("to_regclass('tidemark_restore_under_way') IS NOT NULL", url: url)
            let (list, told) = try await place.run("accounts", "list", url: url)
            #expect(list == .refused && told.messages.last?.contains("tidemark migrate") == true)
            #expect(try await place.restore("--yes", to: url).status == .ok)
            #expect(try await place.run("accounts", "list", url: url).status == .ok)
        }
    }

    @Test func `R-958: a backup of a newer version, or of no released one, is refused`() throws {
        func manifest(_ steps: [BackupLine.Step]) -> BackupManifest {
            let head = BackupLine.Head(
                version: 1, time: "", tidemark: "9.9.9", postgres: 150_000, dumpedBy: 15, incarnation: "")
            return BackupManifest(
                head: head, migrations: steps, containers: [], files: [], assetCount: 0, assetBytes: 0, lostCount: 0,
                firstLost: [])
        }
        let known = RestoreCommand.knownMigrations
        try RestoreCommand.checkVersion(manifest(known))
        try RestoreCommand.checkVersion(manifest(Array(known.dropLast())))
        let next = BackupLine.Step(number: known.count + 1, name: "next", checksum: "c")
        for (steps, text) in [
            (known + [next], "is newer than this one"), ([], "not of a released version"),
            (known.dropLast() + [next], "not of a released version"),
        ] {
            let error = #expect(throws: AdminFailure.self) { try RestoreCommand.checkVersion(manifest(steps)) }
            #expect(error?.description.contains(text) == true, "\(error as Any)")
        }
    }
}
