// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore

struct AdminTail: AdminCommand {
    static let configuration = CommandConfiguration(
        "tail", abstract: "Show changes of records as they happen.",
        discussion: """
            It hears of commits as servers do. Of a record that changes twice meanwhile the last change is shown. Each line has \
            a position. Give the last position of each zone with --after to go on where it ended. --exec starts a command for \
            each line, one after the other, with the line as JSON on its standard input.
            """,
        examples: "tidemark admin tail alice --container iCloud.org.example.notes -o json",
        "tidemark admin tail public --type Airport --exec 'curl -sd @- http://127.0.0.1:9000/changed'")
    static let role = OperatorRole.viewer

    @Argument(help: "public, or an account's name for its private database.", completion: .live(.databases))
    var database: DatabaseArgument
    @Option(help: "Only this zone.", completion: .live(.zones)) var zone: String?
    @Option(help: ArgumentHelp("Only records of this type.", valueName: "type")) var type: String?
    @Option(help: ArgumentHelp("Go on after this position. May be repeated.", valueName: "zone.change"))
    var after: [TailPosition] = []
    @Option(help: "End after so many changes; 0: do not end.") var limit = 0
    @Flag(help: "End when there is nothing new.") var once = false
    @Option(help: ArgumentHelp("A command of the shell that gets each line.", valueName: "command")) var exec: String?
    @OptionGroup(title: "Options of all commands") var options: AdminOptions

    func validate() throws {
        guard limit >= 0 else { throw ValidationError("--limit must be 0 (do not end) or more, not \(limit).") }
    }

    /// The most zones that are followed at once.
    private static let zonesMax = 20_000
    private static let zonesOfPage = 1_000
    private static let changesOfPage = 500

    func run(_ console: Console) async throws {
        if exec != nil { try console.screen.requireLocalFiles("Commands are started on the machine of the terminal.") }
        let database = try await console.place(database).database
        let (news, tell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let listener = try console.storage.listen(
            onNotices: { notices in
                if notices.contains(where: { $0.isAbout(database) }) { tell.yield() }
            }, onListening: { tell.yield() })
        defer { listener.stop() }
        var progress = TailProgress(try await zones(of: database, console), after: after)
        var left = limit == 0 ? Int.max : limit
        // The first word comes when the listener is connected, so nothing is missed in between.
        for await _ in news {
            try await follow(database, &progress, &left, console)
            if left == 0 || once { break }
        }
    }

    private func zones(of database: DatabaseID, _ console: Console) async throws -> [ZoneState] {
        if let zone {
            return [try await console.store.livingZone(ZoneKey(database: database, name: zone))].compactMap { $0 }
        }
        var zones: [ZoneState] = []
        while true {
            let page = try await console.store.livingZones(
                in: database, after: zones.last?.id, zonesMax: Self.zonesOfPage)
            zones += page
            guard page.count == Self.zonesOfPage else { return zones }
            guard zones.count <= Self.zonesMax else {
                throw AdminFailure(.refused, "There are more than \(Self.zonesMax) zones: choose one with --zone.")
            }
        }
    }

    private func follow(
        _ database: DatabaseID, _ progress: inout TailProgress, _ left: inout Int, _ console: Console
    ) async throws {
        let zones = try await zones(of: database, console)
        progress.keep(only: zones)
        for zone in zones {
            guard var start = progress.start(of: zone) else { continue }
            while left > 0 {
                let page = try await console.store.changes(in: zone, after: start, countMax: Self.changesOfPage)
                guard let last = page.last else { break }
                let wanted = page.filter { type == nil || $0.type == type }.prefix(left)
                try await show(wanted.map { Line(zone: zone.key.name, change: $0) }, console)
                left -= wanted.count
                start = left == 0 ? wanted.last?.changeNumber ?? last.changeNumber : last.changeNumber
                progress.advance(zone.id, to: start)
            }
        }
    }

    /// A change, as it is shown.
    private struct Line: Sendable {
        let zone: String
        let change: AdminStore.RecordHistory
    }

    private func show(_ lines: [Line], _ console: Console) async throws {
        guard let exec else { return try await console.show(lines, as: Self.columns) }
        for line in lines {
            var writer = OutputFormat.json.writer(hasColor: false)
            let text = writer.text(Self.columns.map(\.head), [Self.columns.map { $0.value(line) }])
            let status = try Self.start(exec, with: text)
            if status != 0 { console.say("The command ended with status \(status) for \(line.change.name).") }
        }
    }

    /// The line goes through a file: a command that does not read it would otherwise end this program with SIGPIPE.
    private static func start(_ command: String, with line: String) throws -> Int32 {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("tidemark-tail-\(UUID().uuidString)")
        try Data(line.utf8).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", command]
        process.standardInput = try FileHandle(forReadingFrom: path)
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    private static let columns: [Column<Line>] = [
        Column("MODIFIED", key: "modified") { .date($0.change.modifiedAt) },
        Column("ZONE", key: "zone") { .text($0.zone) },
        Column("RECORD", key: "recordName", isName: true) { .text($0.change.name) },
        Column("TYPE", key: "recordType") { .optional($0.change.type.isEmpty ? nil : $0.change.type) },
        Column("WHAT", key: "change") { .text($0.change.isDeleted ? "deleted" : "saved") },
        Column("BY", key: "modifiedBy") { .optional($0.change.modifiedBy) },
        Column("POSITION", key: "position") {
            .text(TailPosition(zone: $0.change.zoneID, change: $0.change.changeNumber).description)
        },
        Column("BYTES", key: "bytes", wide: true) { .number($0.change.byteCount) },
    ]
}

extension ServerNotice {
    fileprivate func isAbout(_ database: DatabaseID) -> Bool {
        if case .zone(let notice) = self { notice.database == database } else { false }
    }
}
