// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Glibc
internal import Synchronization
package import TidemarkLocalPostgres
internal import TidemarkPostgres

/// The private PostgreSQL of this test process: started on first use in a temporary directory, removed at the end.
///
/// With `TIDEMARK_TEST_KEEP=1` in the environment the directory stays, with the databases and the log.
package enum TestPostgres {
    /// The server; the error of its start is every test's that asks for it.
    package static var shared: LocalPostgres {
        get throws { try started.get() }
    }

    /// A fresh, empty database, or a copy of `template`. About 60 ms in memory, and 250 ms on a disk.
    package static func database(_ template: TestTemplate? = nil) async throws -> TestDatabase {
        let template = try await template.asyncMap { try await Templates.shared.name(of: $0) }
        return try await create(template: template)
    }

    static func create(template: String?) async throws -> TestDatabase {
        let name = "test_\(nextNumber.add(1, ordering: .relaxed).newValue)"
        return try await onQueue {
            let server = try shared
            var statement = "CREATE DATABASE \(name)"
            if let template { statement += " TEMPLATE \(template) STRATEGY file_copy" }
            let count = inMemoryCount.load(ordering: .relaxed)
            if let memory, memory.hasRoom(beside: count) {
                statement += " TABLESPACE \(MemoryTablespace.name)"
                inMemoryCount.add(1, ordering: .relaxed)
            }
            try retryWhileInUse { () throws(PostgresError) in
                try PostgresAdministration.execute([statement], url: server.databaseURL("postgres"))
            }
            return TestDatabase(name: name, url: server.databaseURL(name))
        }
    }

    private static let nextNumber = Atomic<Int>(0)
    /// Changed on the queue alone.
    private static let inMemoryCount = Atomic<Int>(0)

    /// One at a time: PostgreSQL copies a template only while nobody else is connected to it.
    private static let queue = DispatchQueue(label: "test-postgres")

    /// Blocking work, off the threads that tasks run on.
    private static func onQueue<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }

    /// A backend whose client has just left still counts as connected to its database for a moment.
    private static func retryWhileInUse(_ work: () throws(PostgresError) -> Void) throws(PostgresError) {
        for _ in 0..<500 {
            do throws(PostgresError) {
                return try work()
            } catch  where error.code == .statement(.objectInUse) {
                usleep(10_000)
            }
        }
        try work()
    }

    private static let started = Result { () throws -> LocalPostgres in
        TestDirectory.removeStale()
        let directory = try TestDirectory()
        let server = try LocalPostgres.start(dataDirectory: directory.path, durability: .fast)
        running.withLock { $0 = (server, directory) }
        atexit { TestPostgres.stop() }
        return server
    }

    private static let running = Mutex<(LocalPostgres, TestDirectory)?>(nil)

    /// Made after the server has started.
    private static let memory = try? MemoryTablespace(on: started.get(), data: running.withLock { $0?.1 })

    private static func stop() {
        guard let (server, directory) = running.withLock({ $0 }) else { return }
        server.stop()
        if getenv("TIDEMARK_TEST_KEEP") == nil {
            directory.remove()
            memory?.directory.remove()
        } else {
            print(
                "PostgreSQL's files of this run: \(directory.path)\(memory.map { " and \($0.directory.path)" } ?? "")")
        }
    }
}

/// A database of a test's own.
package struct TestDatabase: Sendable {
    package let name: String
    /// The connection string for libpq.
    package let url: String

    /// Whether PostgreSQL says so now. Others may be connected to it.
    package func holds(_ condition: String) -> Bool {
        let check = "DO $$ BEGIN IF NOT (\(condition)) THEN RAISE EXCEPTION 'no'; END IF; END $$"
        return (try? PostgresAdministration.execute([check], url: url)) != nil
    }
}

/// How a database looks from which tests get copies, for example with all migrations applied.
package struct TestTemplate: Sendable {
    /// Tells templates apart: two with the same name are the same.
    package let name: String
    /// Fills the empty database with this connection string; is called once in a process, and closes its connections.
    package let prepare: @Sendable (_ url: String) async throws -> Void

    package init(name: String, prepare: @escaping @Sendable (_ url: String) async throws -> Void) {
        self.name = name
        self.prepare = prepare
    }
}

/// The templates that were prepared in this process.
private actor Templates {
    static let shared = Templates()

    private var prepared: [String: Task<String, any Error>] = [:]

    func name(of template: TestTemplate) async throws -> String {
        if let task = prepared[template.name] { return try await task.value }
        let task = Task {
            let database = try await TestPostgres.create(template: nil)
            try await template.prepare(database.url)
            return database.name
        }
        prepared[template.name] = task
        return try await task.value
    }
}

extension Optional where Wrapped: Sendable {
    fileprivate func asyncMap<Result>(_ transform: (Wrapped) async throws -> Result) async rethrows -> Result? {
        guard let self else { return nil }
        return try await transform(self)
    }
}
