// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing
import TidemarkDomain
import TidemarkPostgres
import TidemarkTestSupport

@testable import TidemarkAdmin

/// Lines of a console on a real database, in this process.
@Suite struct ConsoleSessionTests {
    private struct Place {
        let database: TestDatabase
        let session: ConsoleSession
        let directory: TestDirectory

        /// - Returns: how the line ended, what it wrote and what it said.
        func perform(_ text: String, line: Int? = nil) async -> (
            outcome: ConsoleSession.Outcome, data: String, messages: [String]
        ) {
            let recording = RecordingTerminal()
            let outcome = await session.perform(
                ConsoleText(text).words, on: CommandTerminal(recording, line: line))
            return (outcome, recording.data, recording.messages)
        }

        private static let others =
            "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"

        func noteConnections() throws {
            try PostgresAdministration.execute(["CREATE TABLE seen AS SELECT pid \(Self.others)"], url: database.url)
        }

        /// Whether one that was noted is there.
        var hasNotedConnection: Bool {
            database.holds("EXISTS (SELECT 1 \(Self.others) AND pid IN (SELECT pid FROM seen))")
        }
    }

    private func with(_ options: [String] = [], _ body: (Place) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let database = try await TestPostgres.database(AdminPlace.template)
        let session = ConsoleSession(
            try AdminOptions.parse(options),
            variables: ["TIDEMARK_DATABASE_URL": database.url, "XDG_CONFIG_HOME": directory.path])
        try await body(Place(database: database, session: session, directory: directory))
        await session.close()
    }

    /// The connections that are there after the first command are there after the others.
    @Test func `R-900: commands share one connection, and each has its own outcome`() async throws {
        try await with { place in
            #expect(await place.perform("accounts create alice").outcome.status == .ok)
            try place.noteConnections()
            #expect(await place.perform("accounts create alice").outcome.status == .refused)
            #expect(await place.perform("accounts list -o name").data == "alice\n")
            #expect(place.hasNotedConnection)
            // Without them, the next command opens others.
            await place.session.abandon()
            #expect(await place.perform("accounts list -o name").data == "alice\n")
            #expect(await place.perform("exit").outcome == ConsoleSession.Outcome(status: .ok, isOver: true))
        }
    }

    @Test func `R-900: what holds for the console holds for its commands, if they say nothing else`() async throws {
        try await with(["-o", "name", "--container", "iCloud.one"]) { place in
            #expect(await place.session.prompt == "database iCloud.one development> ")
            _ = await place.perform("containers create iCloud.one")
            _ = await place.perform("accounts create alice")
            #expect(await place.perform("containers list").data == "iCloud.one\n")
            let json = await place.perform("containers list -o json").data
            #expect(json.hasPrefix("{"))
            #expect(await place.perform(".output json").outcome.status == .ok)
            #expect(await place.perform("containers list").data == json)
            #expect(await place.perform("zones list alice").messages.first?.contains("no data in iCloud.one") == true)
            #expect(await place.perform("use iCloud.two production").outcome.status == .ok)
            #expect(await place.session.prompt == "database iCloud.two production> ")
            #expect(
                await place.perform("zones list alice").messages.first?.contains("no data in iCloud.two, production")
                    == true)
            let other = await place.perform("zones list alice --container iCloud.one --environment development")
            #expect(other.messages.first?.contains("no data in iCloud.one, development") == true)
        }
    }

    @Test func `R-900: errors name the line of a script, and what is wrong`() async throws {
        try await with { place in
            for (text, status, message) in [
                ("accounts show nobody", ExitStatus.refused, "Error in line 7: There is no account"),
                ("nonsense", .usage, "Error in line 7: "), ("accounts list -o xml", .usage, "Error in line 7: "),
                ("use", .usage, "Error in line 7: Write: use CONTAINER"),
                ("context nowhere", .refused, "Error in line 7: There is no context nowhere"),
                ("credentials issue alice", .usage, "Error in line 7: "),
            ] {
                let ended = await place.perform(text, line: 7)
                #expect(ended.outcome.status == status, "\(text)")
                #expect(ended.messages.first?.hasPrefix(message) == true, "\(text): \(ended.messages)")
                #expect(ended.data.isEmpty)
            }
            #expect(await place.perform("accounts show nobody").messages.first?.hasPrefix("Error: There") == true)
            let help = await place.perform("help accounts show")
            #expect(help.outcome.status == .ok && help.data.contains("USAGE: tidemark admin accounts show"))
            #expect(await place.perform("help nonsense").outcome.status == .usage)
        }
    }

    @Test func `R-900: an abandoned command says nothing more, and changes nothing more that it would ask for`()
        async throws
    {
        let recording = RecordingTerminal(answers: ["y"])
        let terminal = CommandTerminal(recording, line: nil)
        terminal.abandon()
        terminal.say("late")
        #expect(await terminal.ask("Really?") == nil)
        await #expect(throws: CommandEnd.self) { try await terminal.write("late") }
        #expect(recording.messages.isEmpty && recording.data.isEmpty)
    }

    /// Its commands would go to the context, and leave the database alone that was named.
    @Test func `R-900: a console goes to one place`() throws {
        for words in [[], ["console"]] {
            #expect(throws: (any Error).self) {
                try Admin.parseAsRoot(words + ["--context", "home", "--database-url", "postgresql:///test"])
            }
            #expect(try Admin.parseAsRoot(words + ["--context", "home"]) is AdminConsole)
            #expect(try Admin.parseAsRoot(words + ["--database-url", "postgresql:///test"]) is AdminConsole)
        }
    }

    @Test func `R-902: names come from the store, of the account that is typed`() async throws {
        try await with { place in
            try PostgresAdministration.execute(
                [
                    "INSERT INTO account (name) VALUES ('alice'), ('albert')",
                    "INSERT INTO container (identifier, environment) VALUES ('iCloud.one', 1), ('iCloud.one', 2)",
                ], url: place.database.url)
            _ = await place.perform("use iCloud.one")
            let target = AdminTarget(
                place: .database(url: place.database.url), container: "iCloud.one", environment: .development,
                context: nil)
            try await AdminProgram.withConsole(target, Screen(output: .table, terminal: RecordingTerminal())) {
                _ = try await $0.user(ofAccount: "alice")
            }
            try PostgresAdministration.execute(
                [
                    """
                    INSERT INTO zone (database_id, name, created_at)
                    SELECT id, name, now() FROM database, (VALUES ('Notes'), ('Lists')) AS z (name) WHERE scope = 2
                    """
                ], url: place.database.url)
            func complete(_ text: String) async throws -> ConsoleCompletion {
                // A name that comes too late is there the next time.
                var completion = ConsoleCompletion()
                for _ in 0..<400 where completion == ConsoleCompletion() {
                    completion = try await blocking { [session = place.session] in session.completion(of: text) }
                }
                return completion
            }
            #expect(try await complete("accounts show ").insertion == "al")
            #expect(try await complete("accounts show al").choices == ["albert", "alice"])
            #expect(try await complete("containers show ").insertion == "iCloud.one ")
            #expect(try await complete("zones show alice N").insertion == "otes ")
            #expect(try await complete("zones show alice ").choices.contains("Lists"))
            #expect(try await complete("tail p").insertion == "ublic ")
            // Names are of the place where the command would go.
            #expect(try await complete("zones show alice N").insertion == "otes ")
            _ = await place.perform("use iCloud.two")
            #expect(try await complete("zones show alice N") == ConsoleCompletion())
        }
    }

    @Test func `R-902: names of another place leave commands their connection`() async throws {
        try await with { place in
            let other = try await TestPostgres.database(AdminPlace.template)
            try PostgresAdministration.execute(["INSERT INTO account (name) VALUES ('olga')"], url: other.url)
            #expect(await place.perform("context add other --database-url '\(other.url)'").outcome.status == .ok)
            #expect(await place.perform("accounts create alice").outcome.status == .ok)
            try place.noteConnections()
            var completion = ConsoleCompletion()
            for _ in 0..<400 where completion == ConsoleCompletion() {
                completion = try await blocking { [session = place.session] in
                    session.completion(of: "accounts show --context other ")
                }
            }
            #expect(completion.insertion == "olga ")
            #expect(await place.perform("accounts list -o name").data == "alice\n")
            #expect(place.hasNotedConnection)
        }
    }

    @Test func `R-900: a command that was abandoned while it connects leaves no connection behind`() async throws {
        try await with { place in
            let kept = KeptConnection()
            let abandoned = Task { [url = place.database.url] in
                withUnsafeCurrentTask { $0?.cancel() }
                return try await kept.connection(to: url)
            }
            await #expect(throws: (any Error).self) { try await abandoned.value }
            let next = try await kept.connection(to: place.database.url)
            let again = try await kept.connection(to: place.database.url)
            #expect(next.storage === again.storage)
            await kept.close()
        }
    }
}
