// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// A private PostgreSQL. It is created on first use. It is reachable through a Unix socket that only its owner can
/// open. It is restarted when it dies, and ends with this process, however this process ends.
///
/// `tidemark dev` and the tests keep their data in one. Its superuser needs no password. If this process is root,
/// PostgreSQL runs as the user `postgres`. All methods block for a while (a first start takes about 0.6 s): call them
/// off the event loops.
package final class LocalPostgres: Sendable {
    /// Which crashes a commit survives. Weaker durability makes commits faster.
    package enum Durability: Sendable {
        /// A commit survives a crash of the machine.
        case durable
        /// A commit survives a kill of PostgreSQL, but not a crash of the machine: for tests.
        case fast
    }

    /// What happens to the server, reported on a thread of its own.
    package enum Event: Sendable {
        case started(processID: Int32)
        /// It exited or was ended by a signal. It is restarted unless ``LocalPostgres/stop()`` was called.
        case ended(status: Int32, signal: Int32)
        case startFailed(LocalPostgresError)
    }

    /// The only role of a new server.
    package static let superuser = "postgres"

    private let directory: DataDirectory
    private let socket: SocketDirectory
    private let keeper: PostgresKeeper
    private let isStopped = Mutex(false)

    /// A start after a crash replays the log, which takes time.
    private static let readySeconds = 120.0
    /// After this many ends before it was ready, the start has failed. It is more than one, because processes of a
    /// server that was killed may hold its shared memory for another moment.
    private static let startFailureCountMax = 6
    private static let stopSeconds = 30.0

    private init(directory: DataDirectory, socket: SocketDirectory, keeper: PostgresKeeper) {
        self.directory = directory
        self.socket = socket
        self.keeper = keeper
    }

    /// Starts a server and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - dataDirectory: keeps everything that outlasts the process; created if it is missing. It may be anywhere,
    ///     even where the user `postgres` cannot reach it by its path.
    ///   - binaries: the directory of `initdb` and `postgres`; by default they are searched for.
    package static func start(
        dataDirectory: String, durability: Durability, binaries: String? = nil,
        onEvent: @escaping @Sendable (Event) -> Void = { _ in }
    ) throws(LocalPostgresError) -> LocalPostgres {
        let binaries = try PostgresBinaries.find(explicit: binaries)
        let directory = try DataDirectory.open(home: dataDirectory)
        do throws(LocalPostgresError) {
            try Orphans(directory: directory).clear()
            directory.rotateLog()
            try directory.initializeIfNeeded(binaries, durability: durability)
            let socket = try SocketDirectory.prepare(home: directory.home, user: directory.user)
            let arguments = serverArguments(socket: socket, durability: durability)
            let keeper = try PostgresKeeper(
                launch: { () throws(LocalPostgresError) in
                    try launch(binaries, arguments: arguments, in: directory)
                }, wasReady: { PostmasterFile.saysReady(directory.processIDFile, processID: $0) }, onEvent: onEvent)
            let server = LocalPostgres(directory: directory, socket: socket, keeper: keeper)
            try server.waitUntilReady()
            return server
        } catch {
            directory.unlock()
            throw error
        }
    }

    /// libpq's connection string for the database `name`.
    package func databaseURL(_ name: String) -> String {
        "postgresql:///\(percentEncoded(name))?host=\(percentEncoded(socket.path))&port=5432&user=\(Self.superuser)"
    }

    /// The process ID of the server's first process; 0 while none runs.
    package var processID: Int32 { keeper.processID }

    /// The path of the server's log.
    package var logPath: String { directory.log }

    /// Ends the server: open transactions are rolled back, and connections are closed. The data stays. A second call
    /// does nothing.
    package func stop() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        keeper.stop(seconds: Self.stopSeconds)
        socket.remove()
        directory.unlock()
    }

    private func waitUntilReady() throws(LocalPostgresError) {
        let deadline = MonotonicTime.seconds + Self.readySeconds
        while MonotonicTime.seconds < deadline, keeper.failureCount < Self.startFailureCountMax {
            let isReady = PostmasterFile.saysReady(directory.processIDFile, processID: keeper.processID)
            if isReady { return keeper.markReady() }
            usleep(2000)
        }
        keeper.stop(seconds: Self.stopSeconds)
        socket.remove()
        throw LocalPostgresError(
            .startFailed, "PostgreSQL did not start in \(directory.home). Its log is \(directory.log).",
            detail: Directory.tail(of: directory.log, count: 2000))
    }

    private static func launch(
        _ binaries: PostgresBinaries, arguments: [String], in directory: DataDirectory
    ) throws(LocalPostgresError) -> ChildProcess {
        let started = try directory.withLogAndData(at: directory.data) { log, data in
            Result { () throws(ChildProcess.SpawnError) in
                try ChildProcess.start(
                    binaries.postgres, arguments: arguments, user: directory.user, log: log, directory: data,
                    deathSignal: SIGINT)
            }
        }
        switch started {
        case .success(let process): return process
        case .failure(let error):
            throw LocalPostgresError(
                .startFailed, "\(binaries.postgres) could not be started.",
                detail: String(cString: strerror(error.errorNumber)))
        }
    }

    private static func serverArguments(socket: SocketDirectory, durability: Durability) -> [String] {
        var settings = [
            "listen_addresses=", "port=5432", "unix_socket_directories=\(socket.path)", "unix_socket_permissions=0700",
            "max_connections=200", "logging_collector=off", "jit=off",
        ]
        if durability == .fast {
            // Many servers of tests share one PostgreSQL, and each has some 25 connections.
            settings += ["max_connections=500"]
            settings += ["fsync=off", "full_page_writes=off", "shared_buffers=64MB", "max_wal_size=256MB"]
        }
        return ["-D", DataDirectory.descriptorPath] + settings.flatMap { ["-c", $0] }
    }
}

/// Escapes everything but letters, digits and `-._~` for a URL (RFC 3986 §2.1).
private func percentEncoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            result.unicodeScalars.append(Unicode.Scalar(byte))
        default:
            let digits = String(byte, radix: 16, uppercase: true)
            result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
        }
    }
    return result
}
