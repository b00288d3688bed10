// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The home of one private PostgreSQL: its data, its log, and a lock that keeps a second server out.
///
///     HOME/data           what initdb made; belongs to the user that PostgreSQL runs as
///     HOME/postgres.log   what PostgreSQL prints
///     HOME/run            a link to the directory of its socket
struct DataDirectory {
    /// At a start, a longer log is renamed to `postgres.log.1`.
    static let logBytesMax: Int64 = 16 * 1024 * 1024

    let home: String
    let user: PostgresUser
    /// While it is open, the home is locked.
    let lock: Int32

    var data: String { home + "/data" }
    var log: String { home + "/postgres.log" }
    var processIDFile: String { data + "/postmaster.pid" }

    /// Creates the home if it is missing, and locks it.
    static func open(home: String) throws(LocalPostgresError) -> DataDirectory {
        guard Directory.create(home, mode: 0o755), let home = Directory.resolved(home) else {
            throw notUsable("\(home) cannot be created.")
        }
        let lock = Glibc.open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else {
            throw notUsable("\(home) cannot be opened.")
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw LocalPostgresError(
                .directoryInUse,
                "Another process runs a PostgreSQL in \(home). Stop that process, or choose another data directory.")
        }
        do {
            let data = home + "/data"
            let user = Directory.isDirectory(data) ? try PostgresUser.ofData(at: data) : try .forNewData()
            return DataDirectory(home: home, user: user, lock: lock)
        } catch {
            close(lock)
            throw error
        }
    }

    /// Creates a database cluster if there is none. It gets its name only when it is complete.
    func initializeIfNeeded(_ binaries: PostgresBinaries, durability: LocalPostgres.Durability)
        throws(LocalPostgresError)
    {
        guard !Directory.isDirectory(data) else { return }
        let new = data + ".new"
        Directory.remove(new)
        guard mkdir(new, 0o700) == 0, !user.isSwitchNeeded || chown(new, user.id, user.group) == 0 else {
            throw Self.notUsable("\(new) cannot be created.")
        }
        var arguments = [
            "-D", Self.descriptorPath, "-U", LocalPostgres.superuser, "-E", "UTF8", "--locale=C", "-A", "trust",
            "--no-instructions",
        ]
        if durability == .fast { arguments.append("--no-sync") }
        let exit: ChildProcess.Exit? = try withLogAndData(at: new) { log, descriptor in
            let child = try? ChildProcess.start(
                binaries.initdb, arguments: arguments, user: user, log: log, directory: descriptor,
                deathSignal: SIGKILL)
            return child?.reap()
        }
        guard exit?.isSuccess == true, rename(new, data) == 0 else {
            throw LocalPostgresError(
                .initializationFailed, "\(binaries.initdb) could not make a database in \(home).",
                detail: Directory.tail(of: log, count: 2000))
        }
        if durability == .durable { fsync(lock) }
    }

    /// The path of the data directory for the started programs: descriptor 3.
    ///
    /// NB: a user other than root cannot search the directories above a clone under /root, and PostgreSQL does not
    /// accept a relative path. With an open descriptor it needs no rights beyond the data directory itself.
    static let descriptorPath = "/proc/self/fd/3"

    /// Opens the log and the data directory for a program to be started, and closes them afterwards.
    func withLogAndData<Result>(
        at path: String, _ body: (_ log: Int32, _ data: Int32) -> Result
    ) throws(LocalPostgresError) -> Result {
        let logFile = Glibc.open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { if logFile >= 0 { close(logFile) } }
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard logFile >= 0, descriptor >= 0 else {
            throw Self.notUsable("\(home) cannot be used.")
        }
        return body(logFile, descriptor)
    }

    private static func notUsable(_ what: String) -> LocalPostgresError {
        let reason = systemErrorText()
        return LocalPostgresError(
            .directoryNotUsable, "\(what) Check who may write there, or choose another data directory.", detail: reason)
    }

    func rotateLog() {
        var status = stat()
        if stat(log, &status) == 0, Int64(status.st_size) > Self.logBytesMax { rename(log, log + ".1") }
    }

    func unlock() {
        close(lock)
    }
}
