// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkService
import TidemarkStore
import TidemarkTestSupport

@testable import TidemarkAdmin

/// How `tail` finds changes of which nobody told.
@Suite(.timeLimit(.minutes(20))) struct TailSweepTests {
    private func mark(_ value: Int64, zones: Int = 1) -> ChangeMark { ChangeMark(value: value, zoneCount: zones) }

    @Test func `R-913: a database is looked at if its mark is another one, or was not known`() {
        let (one, two, three) = (DatabaseID(1), DatabaseID(2), DatabaseID(3))
        var sweep = TailSweep()
        #expect(sweep.compare([one: mark(5), two: mark(0)]) == [one, two])
        #expect(sweep.compare([one: mark(5), two: mark(0)]).isEmpty)
        // Zones that are forgotten make the mark smaller.
        #expect(sweep.compare([one: mark(4), two: mark(1), three: mark(0)]) == [one, two, three])
        // The number of zones is for the steps alone.
        #expect(sweep.compare([two: mark(1, zones: 9), three: mark(0)]).isEmpty)
        #expect(sweep.compare([one: mark(4), two: mark(1), three: mark(0)]) == [one], "it was gone")
    }

    @Test func `R-913: a sweep reads few databases and few zones at once, and each database once`() {
        let databases = (1...120 as ClosedRange<Int64>).map { DatabaseID($0) }
        var sweep = TailSweep()
        #expect(sweep.steps(of: []).isEmpty)
        #expect(sweep.steps(of: databases).map(\.count) == [50, 50, 20])
        _ = sweep.compare(
            Dictionary(uniqueKeysWithValues: databases.map { ($0, mark(1, zones: $0.rawValue == 2 ? 40_000 : 10_000)) })
        )
        let steps = sweep.steps(of: databases)
        #expect(steps.joined().elementsEqual(databases))
        #expect(steps[0].count == 1 && steps[1].count == 1, "one that is too large is alone")
        #expect(steps.dropFirst(2).allSatisfy { $0.count <= 3 } && steps[2].count == 3)
    }

    @Test func `R-913: a sweep may miss a store that comes back, and what ends after one look may not`() {
        #expect(TailFollower.isPassing(StorageError(.unavailable), isSweep: true, once: false))
        #expect(!TailFollower.isPassing(StorageError(.unavailable), isSweep: true, once: true))
        #expect(!TailFollower.isPassing(StorageError(.unavailable), isSweep: false, once: false))
        #expect(!TailFollower.isPassing(StorageError(.rejected), isSweep: true, once: false))
    }

    /// The number that PostgreSQL stores is moved beside all servers and commands, so no notice comes.
    private func changeSilently(_ name: String, _ user: AdminStoreUser, _ place: AdminPlace) throws {
        try PostgresAdministration.execute(
            [
                """
                WITH moved AS (
                    UPDATE zone SET change_number = change_number + 1 WHERE database_id = \(user.database.rawValue)
                 RETURNING database_id, id, change_number)
                INSERT INTO record (database_id, zone_id, change_number, batch_end, created_at, created_by, modified_at,
                                    modified_by, created_by_device, byte_count, is_deleted, name, type, fields)
                SELECT database_id, id, change_number, change_number, now(), \(user.id.rawValue), now(),
                       \(user.id.rawValue), '00000000-0000-0000-0000-000000000001', 0, false, '\(name)', 'Note', ''
                  FROM moved
                """
            ], url: place.url)
    }

    private struct AdminStoreUser {
        let id: UserID
        let database: DatabaseID
    }

    private func user(_ name: String, _ place: AdminPlace) async throws -> AdminStoreUser {
        let user = try await place.user(name)
        return AdminStoreUser(id: user.id, database: user.privateDatabase)
    }

    private func console(_ place: AdminPlace, _ terminal: MemoryTerminal) -> Console {
        place.console(Screen(output: .json, terminal: terminal))
    }

    @Test(arguments: [[], ["alice"]] as [[String]])
    func `R-913, I-4: a change whose notice was lost is shown by the next sweep`(_ choice: [String]) async throws {
        try await AdminPlace.run { place in
            let alice = try await user("alice", place)
            let line = #"{"recordName":"begin","recordType":"Note","fields":{}}"# + "\n"
            let parsed = try Admin.parseAsRoot(
                ["tail"] + choice + ["--limit", "3", "--after", "all-", "-o", "json"])
            let command = try #require(parsed as? AdminTail)
            let terminal = MemoryTerminal(input: "", directory: "")
            let console = console(place, terminal)
            let tail = Task { try await command.run(console, sweepingEvery: .milliseconds(20)) }
            // Once this one is shown, all databases were looked at.
            let saved = try await place.perform("records", "save", "alice", ZoneName.default, "-", input: line)
            #expect(saved.status == .ok, "\(saved.terminal.messages)")
            try await eventually(within: .seconds(60)) { terminal.output.contains("\"begin\"") }
            for name in ["first", "second"] {
                try changeSilently(name, alice, place)
                try await eventually(within: .seconds(60)) { terminal.output.contains("\"\(name)\"") }
            }
            try await tail.value
        }
    }

    @Test func `R-913, I-4: so is a database that is new, if nobody told of it`() async throws {
        try await AdminPlace.run { place in
            _ = try await user("alice", place)
            let parsed = try Admin.parseAsRoot(["tail", "--limit", "1", "-o", "json"])
            let command = try #require(parsed as? AdminTail)
            let terminal = MemoryTerminal(input: "", directory: "")
            let console = console(place, terminal)
            let tail = Task { try await command.run(console, sweepingEvery: .milliseconds(20)) }
            // The first position is told when all databases were looked at.
            try await eventually(within: .seconds(60)) { terminal.output.contains("\"position\"") }
            try changeSilently("unheard", try await user("bob", place), place)
            try await tail.value
            #expect(terminal.output.contains("\"unheard\""), "\(terminal.output)")
        }
    }
}
