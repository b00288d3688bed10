// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkLocalPostgres
import TidemarkTestSupport

/// Transactions that stop as they commit, and the end of their connection or of PostgreSQL there.
///
/// Deferred triggers run within the COMMIT, before it is durable. There a transaction waits, or decides to wait after
/// that for a standby server that does not exist: then it is durable, and nobody is told.
extension CutServer {
    enum CommitMoment: String, CaseIterable, Sendable {
        case before, after
    }

    static var makingCommitTriggers: [String] {
        let function = """
            CREATE FUNCTION cut_commit() RETURNS trigger LANGUAGE plpgsql AS $$
            DECLARE target cut_at%ROWTYPE;
            BEGIN
                IF current_setting('cut.transaction', true) = pg_current_xact_id()::text THEN RETURN NULL; END IF;
                PERFORM set_config('synchronous_commit', 'local', true);
                SELECT * INTO target FROM cut_at;
                IF TG_ARGV[0] <> 'counts' OR target.number = 0 OR target.place = 'statement' THEN
                    RETURN NULL;
                END IF;
                PERFORM set_config('cut.transaction', pg_current_xact_id()::text, true);
                IF nextval('cut_count') <> target.number THEN RETURN NULL; END IF;
                PERFORM setval('cut_backend', pg_backend_pid());
                IF target.place = 'after' THEN
                    PERFORM set_config('synchronous_commit', 'on', true);
                    RETURN NULL;
                END IF;
                FOR turn IN 1..300 LOOP
                    PERFORM pg_sleep(0.01);
                    EXIT WHEN (SELECT number FROM cut_at) = 0;
                END LOOP;
                RETURN NULL;
            END $$
            """
        // Where no trigger says otherwise, a commit would wait.
        let everywhere = """
            DO $$
            DECLARE name text;
            BEGIN
                FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'cut_at' LOOP
                    EXECUTE format('CREATE CONSTRAINT TRIGGER cut_commit AFTER INSERT OR UPDATE OR DELETE ON %I '
                        'DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION cut_commit(%L)', name,
                        CASE WHEN name IN (\(tables.map { "'\($0)'" }.joined(separator: ", ")))
                            THEN 'counts' ELSE 'passes' END);
                END LOOP;
            END $$
            """
        return ["CREATE SEQUENCE cut_backend", function, everywhere]
    }

    /// From now on commits wait for a standby server, unless a trigger says otherwise.
    func makeCommitsWait() async throws {
        try await execute(["ALTER SYSTEM SET synchronous_standby_names = 'nobody'", "SELECT pg_reload_conf()"])
        try await eventually("commits wait") {
            await holds("current_setting('synchronous_standby_names') = 'nobody'")
        }
    }

    // MARK: Cutting

    /// From now on commits are counted, and that one waits, before or after it is durable.
    func cut(atCommit number: Int, _ moment: CommitMoment) async throws {
        try await execute([
            "ALTER SEQUENCE cut_count RESTART",
            "UPDATE cut_at SET number = \(number), kills = false, place = '\(moment.rawValue)'",
        ])
    }

    /// Whether a commit waits where it is to be cut.
    func stands(atCommit number: Int, _ moment: CommitMoment) async -> Bool {
        guard await hasComeTo(number) else { return false }
        return await holds(
            """
            EXISTS (SELECT FROM pg_stat_activity AS a, cut_backend AS b
                WHERE a.pid = b.last_value AND a.wait_event = '\(moment == .after ? "SyncRep" : "PgSleep")')
            """)
    }

    /// Ends the connection whose commit waits.
    func killBackend() async throws {
        try await execute(["SELECT pg_terminate_backend(last_value::int) FROM cut_backend"])
        try await stopCutting()
    }

    /// Kills all of PostgreSQL, and returns when it serves again.
    func killPostgres() async throws {
        guard let postgres else { throw NeverHappened(description: "this PostgreSQL belongs to all tests") }
        let killed = postgres.processID
        kill(killed, SIGKILL)
        try await eventually("PostgreSQL runs again") { ![0, killed].contains(postgres.processID) }
        try await eventually("PostgreSQL serves again", within: .seconds(60)) {
            do {
                try await stopCutting()
                return true
            } catch {
                return false
            }
        }
    }
}
