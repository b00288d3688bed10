// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore
internal import TidemarkTelemetry

/// Reads what is new in the databases that `tail` follows, and shows it.
struct TailFollower {
    private let command: AdminTail
    private let places: TailedPlaces
    private let console: Console
    /// Those that are known, by age.
    private var databases: [PlacedDatabase] = []
    /// Databases of which there was news, and that are not chosen.
    private var dismissed: Set<DatabaseID> = []
    private var progress: TailProgress
    private var sweep = TailSweep()
    /// How many changes are still wanted.
    private(set) var left: Int
    /// When the position was told; nil: not yet.
    private var told: ContinuousClock.Instant?
    private var isToldWhole = false

    /// The most zones that are followed at once in one database.
    private static let zonesOfOneMax = 20_000
    /// And in several: their position must fit into an argument.
    private static let zonesOfAllMax = 10_000
    private static let zonesOfPage = 1_000
    private static let changesOfPage = 500
    private static let positionPause = Duration.seconds(10)

    init(_ command: AdminTail, _ places: TailedPlaces, _ console: Console) {
        self.command = command
        self.places = places
        self.console = console
        progress = TailProgress(after: command.after)
        left = command.limit == 0 ? Int.max : command.limit
    }

    /// For a later call.
    var position: TailStart { progress.position }

    mutating func begin() async throws {
        databases = try await places.databases()
        for database in databases { progress.begin(database.id, try await zones(of: database.id)) }
        try checkRoom()
    }

    /// Shows what is new.
    ///
    /// - Returns: whether it looked for what nobody told (``TailSweep``).
    mutating func follow() async throws -> Bool {
        let news = places.takeNews()
        let looked: Set<DatabaseID>?
        do {
            looked = try await changed(news)
        } catch let error as StorageError where Self.isPassing(error, isSweep: news.isSweepDue, once: command.once) {
            // Nothing was heard that must be shown now. The listener comes back with the store, and the next sweep looks again.
            places.mayHaveMissed()
            return true
        }
        for database in databases where left > 0 && looked?.contains(database.id) ?? true {
            try await follow(database)
        }
        try checkRoom()
        try await tellPosition()
        return news.isSweepDue
    }

    /// Whether the failure of a look may be forgotten. What ends after one look has no next one.
    static func isPassing(_ error: StorageError, isSweep: Bool, once: Bool) -> Bool {
        error.code == .unavailable && isSweep && !once
    }

    /// The databases to look at; nil: all.
    private mutating func changed(_ news: TailedPlaces.News) async throws -> Set<DatabaseID>? {
        // A database that nobody knows here is new, or not chosen.
        let unknown = news.databases.subtracting(dismissed).subtracting(databases.map(\.id))
        guard news.mayBeAny || news.isSweepDue || !unknown.isEmpty else { return news.databases }
        try await findDatabases()
        dismiss(unknown)
        guard news.mayBeAny || news.isSweepDue else { return news.databases }
        // What ends after one look needs no marks for a later one.
        guard !command.once else { return nil }
        var marks: [DatabaseID: ChangeMark] = [:]
        for step in sweep.steps(of: databases.map(\.id)) {
            marks.merge(try await console.storage.changeMarks(of: step)) { $1 }
        }
        let changed = sweep.compare(marks)
        return news.mayBeAny ? nil : changed.union(news.databases)
    }

    private mutating func findDatabases() async throws {
        let known = Set(databases.map(\.id))
        // Not only those with higher numbers: one that was begun earlier may come later.
        let all = try await places.databases()
        for database in all where !known.contains(database.id) {
            progress.begin(database.id, try await zones(of: database.id), isNew: true)
        }
        databases = all
    }

    private mutating func dismiss(_ unknown: Set<DatabaseID>) {
        if dismissed.count > TailedPlaces.databasesMax { dismissed = [] }
        dismissed.formUnion(unknown.subtracting(databases.map(\.id)))
    }

    private func checkRoom() throws {
        let zonesMax = places.areMany ? Self.zonesOfAllMax : Self.zonesOfOneMax
        guard progress.zoneCount <= zonesMax else {
            throw AdminFailure(
                .refused, "There are more than \(zonesMax) zones: choose with --container, --account or --zone.")
        }
    }

    private mutating func follow(_ database: PlacedDatabase) async throws {
        let zones = try await zones(of: database.id)
        progress.keep(only: zones, in: database.id)
        for zone in zones {
            guard var start = progress.start(of: zone) else { continue }
            while left > 0 {
                let page = try await console.store.changes(in: zone, after: start, countMax: Self.changesOfPage)
                guard let last = page.last else { break }
                let wanted = page.filter(command.wants).prefix(left)
                try await show(wanted.map { TailLine(database: database, zone: zone.key.name, change: $0) })
                left -= wanted.count
                start = left == 0 ? wanted.last?.changeNumber ?? last.changeNumber : last.changeNumber
                progress.advance(zone, to: start)
                isToldWhole = false
            }
        }
    }

    private func zones(of database: DatabaseID) async throws -> [ZoneState] {
        if let zone = command.zone {
            return [try await console.store.livingZone(ZoneKey(database: database, name: zone))].compactMap { $0 }
        }
        var zones: [ZoneState] = []
        while true {
            let page = try await console.store.livingZones(
                in: database, after: zones.last?.id, zonesMax: Self.zonesOfPage)
            zones += page
            guard page.count == Self.zonesOfPage else { return zones }
            guard zones.count <= Self.zonesOfOneMax else {
                throw AdminFailure(.refused, "There are more than \(Self.zonesOfOneMax) zones: choose one with --zone.")
            }
        }
    }

    // MARK: Showing

    private mutating func tellPosition() async throws {
        let isProgram = console.output == .json || console.output == .yaml
        guard places.areMany, isProgram, command.exec == nil, !isToldWhole else { return }
        // At first too: whoever has no position yet would go on without what comes until then.
        let isSoon = told.map { $0.duration(to: .now) < Self.positionPause } ?? false
        guard left == 0 || command.once || !isSoon else { return }
        try await console.show([TailLine(position: position)], as: TailLine.columns(ofMany: true))
        (told, isToldWhole) = (.now, true)
    }

    private func show(_ lines: [TailLine]) async throws {
        let columns = TailLine.columns(ofMany: places.areMany)
        guard let exec = command.exec else { return try await console.show(lines, as: columns) }
        for line in lines {
            var writer = OutputFormat.json.writer(hasColor: false)
            let text = writer.text(columns.map(\.head), [columns.map { $0.value(line) }])
            let status = try Self.start(exec, with: text)
            if status != 0 { console.say("The command ended with status \(status) for \(line.change?.name ?? "").") }
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
}

/// A change as `tail` shows it, or the position of all databases up to it.
struct TailLine: Sendable {
    let database: PlacedDatabase?
    let zone: String?
    let change: AdminStore.RecordHistory?
    let position: TailStart

    init(database: PlacedDatabase, zone: String, change: AdminStore.RecordHistory) {
        self.database = database
        self.zone = zone
        self.change = change
        position = .zone(TailPosition(zone: change.zoneID, change: change.changeNumber))
    }

    init(position: TailStart) {
        (database, zone, change) = (nil, nil, nil)
        self.position = position
    }

    private var what: String { change.map { $0.isDeleted ? "deleted" : "saved" } ?? "position" }

    private var type: String? { change.flatMap { $0.type.isEmpty ? nil : $0.type } }

    /// - Parameter many: whether a table says of which database a change is.
    static func columns(ofMany many: Bool) -> [Column<TailLine>] {
        [
            Column("MODIFIED", key: "modified") { .optional($0.change?.modifiedAt) },
            Column("CONTAINER", key: "container", wide: !many) { .optional($0.database?.container.identifier) },
            Column("ENVIRONMENT", key: "environment", wide: true) {
                .optional($0.database?.container.environment.name)
            },
            Column("DATABASE", key: "database", wide: !many) { line in
                .optional(line.database.flatMap { $0.isPublic ? "public" : $0.account })
            },
            Column("ZONE", key: "zone") { .optional($0.zone) },
            Column("RECORD", key: "recordName", isName: true) { .optional($0.change?.name) },
            Column("TYPE", key: "recordType") { .optional($0.type) },
            Column("WHAT", key: "change") { .text($0.what) },
            Column("BY", key: "modifiedBy") { .optional($0.change?.modifiedBy) },
            Column("POSITION", key: "position") { .text($0.position.description) },
            Column("BYTES", key: "bytes", wide: true) { .optional($0.change?.byteCount) },
            Column("REQUEST", key: "request", wide: true) { line in
                .optional(line.change?.cause.map { "\(RequestUUID($0))" })
            },
        ]
    }
}
