// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkDomain
internal import TidemarkServer
internal import TidemarkStore

struct AdminDebug: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "debug", abstract: "What a bug report needs.", subcommands: [Bundle.self])

    struct Bundle: AdminCommand {
        static let configuration = CommandConfiguration(
            "bundle", abstract: "Write one archive for a report: doctor, stats, limits, versions, settings and a log.",
            discussion: """
                Passwords, credentials, tokens and keys are taken out. Names of accounts and containers stay in: read the \
                archive before you send it. Of a log the last 4 MB are taken.
                """,
            examples: "tidemark admin debug bundle --file tidemark.tar.gz --log /var/log/tidemark.log")
        static let role = OperatorRole.viewer

        @Option(help: ArgumentHelp("Where to write it.", valueName: "file")) var file = "tidemark-debug.tar.gz"
        @Option(help: ArgumentHelp("A server's log.", valueName: "file")) var log: String?
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        private static let logBytesMax: UInt64 = 4_194_304

        func run(_ console: Console) async throws {
            try console.screen.requireLocalFiles("A server writes no archive for others: it would be on that machine.")
            guard !FileManager.default.fileExists(atPath: file) else {
                throw AdminFailure(.refused, "\(file) exists already: remove it, or give another name with --file.")
            }
            let end = try log.map { path throws(AdminFailure) in try Self.end(of: path) }
            guard FileManager.default.isWritableFile(atPath: Self.directory(of: file)) else { throw cannotWrite }
            try console.plan("write \(file)")
            var archive = TarArchive()
            let seconds = console.now.milliseconds / 1_000
            for (name, text) in try await BundleTexts(console: console).all() {
                archive.add("tidemark-debug/\(name)", Array(Redaction.text(text).utf8), at: seconds)
            }
            if let end { archive.add("tidemark-debug/log.txt", Array(Redaction.text(end).utf8), at: seconds) }
            guard let bytes = archive.gzipped,
                FileManager.default.createFile(
                    atPath: file, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
            else { throw cannotWrite }
            console.say("Wrote \(file), \(Amount.bytes(Int64(bytes.count))). Read it before you send it.")
        }

        private var cannotWrite: AdminFailure {
            AdminFailure(
                .refused, "\(file) cannot be written. Check that its directory exists, and who may write there.")
        }

        private static func directory(of path: String) -> String {
            URL(fileURLWithPath: path).deletingLastPathComponent().path
        }

        private static func end(of path: String) throws(AdminFailure) -> String {
            do {
                let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
                defer { try? handle.close() }
                let size = try handle.seekToEnd()
                let isCut = size > logBytesMax
                try handle.seek(toOffset: isCut ? size - logBytesMax : 0)
                let text = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
                return isCut ? Redaction.wholeLines(ofEnd: text) : text
            } catch {
                throw AdminFailure(
                    .refused, "The log \(path) cannot be read. Check that it exists and who may read it.")
            }
        }
    }
}

/// The texts of a bundle, before secrets are taken out.
struct BundleTexts: Sendable {
    let console: Console

    func all() async throws -> [(name: String, text: String)] {
        let store = console.store
        let facts = try await store.databaseFacts()
        var findings: [DoctorFinding] = []
        try await Doctor(console: console, places: Doctor.Places(), isDeep: false).run { findings += $0 }
        let settings = facts.settings.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)\n" }.joined()
        return [
            (
                "versions.txt",
                "tidemark \(Server.version)\nmigration \(Migrations.all.count)\npostgres \(facts.version)\n"
            ),
            ("settings.txt", settings),
            ("doctor.jsonl", Self.lines(findings, AdminDoctor.columns)),
            ("containers.jsonl", Self.lines(try await store.containerCounts(), AdminStats.containerColumns)),
            ("tables.jsonl", Self.lines(try await store.relations(), AdminStats.tableColumns)),
            (
                "limits.jsonl",
                Self.lines(LimitRow.of(console.serverLimits, console.serverConnections), AdminLimits.columns)
            ),
        ]
    }

    private static func lines<Row: Sendable>(_ rows: [Row], _ columns: [Column<Row>]) -> String {
        var writer = OutputFormat.json.writer(hasColor: false)
        return writer.text(columns.map(\.head), rows.map { row in columns.map { $0.value(row) } })
    }
}
