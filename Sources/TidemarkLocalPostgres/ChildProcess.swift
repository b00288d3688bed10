// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkSpawn
internal import Glibc

/// A program that this process started and that ends with it.
struct ChildProcess {
    /// How a program ended.
    struct Exit: Sendable, Equatable {
        /// Its exit status; 0 if a signal ended it.
        var status: Int32
        /// The signal that ended it; 0 if it exited.
        var signal: Int32

        var isSuccess: Bool { status == 0 && signal == 0 }
    }

    /// The errno of a program that could not be started.
    struct SpawnError: Error {
        let errorNumber: Int32
    }

    let id: Int32

    /// Starts a program as `user` with a small environment, because PostgreSQL reads variables such as `PGPORT` and the
    /// locale.
    ///
    /// - Parameters:
    ///   - log: becomes standard output and standard error.
    ///   - directory: becomes the program's descriptor 3.
    ///   - variables: further ones, as `NAME=value`.
    ///   - deathSignal: the signal that it gets when the calling **thread** ends, for whatever reason.
    static func start(
        _ path: String, arguments: [String], user: PostgresUser = .current, log: Int32, directory: Int32 = -1,
        variables: [String] = [], deathSignal: Int32
    ) throws(SpawnError) -> ChildProcess {
        var environment = ["LC_ALL=C", "PATH=" + (ProcessEnvironment.value("PATH") ?? "/usr/bin:/bin")]
        if let libraries = ProcessEnvironment.value("LD_LIBRARY_PATH") {
            environment.append("LD_LIBRARY_PATH=" + libraries)
        }
        environment += variables
        let id = withCStrings([path] + arguments) { arguments in
            withCStrings(environment) { environment in
                path.withCString { path in
                    var spawn = tidemark_spawn(
                        path: path, arguments: arguments, environment: environment,
                        switch_user: user.isSwitchNeeded ? 1 : 0, user: user.id, group: user.group,
                        log_descriptor: log, directory_descriptor: directory, death_signal: deathSignal)
                    return tidemark_spawn(&spawn)
                }
            }
        }
        guard id > 0 else { throw SpawnError(errorNumber: -id) }
        return ChildProcess(id: id)
    }

    /// Blocks until the program has ended. Its process ID stays reserved until ``reap()``.
    func waitForEnd() {
        var info = siginfo_t()
        while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    }

    /// Returns the exit status of the program, after waiting for its end. Its process ID may then be used by another
    /// process.
    func reap() -> Exit {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 {
            guard errno == EINTR else { return Exit(status: 255, signal: 0) }
        }
        let signal = status & 0x7f
        return Exit(status: signal == 0 ? (status >> 8) & 0xff : 0, signal: signal)
    }

    /// Runs a program to its end and returns the beginning of its output; nil if it failed.
    static func output(of path: String, arguments: [String]) throws(SpawnError) -> String? {
        guard let pipe = Pipe() else { throw SpawnError(errorNumber: errno) }
        let child = try start(path, arguments: arguments, log: pipe.writingEnd, deathSignal: SIGKILL)
        pipe.closeWritingEnd()
        let bytes = pipe.read(count: 4096)
        return child.reap().isSuccess ? String(decoding: bytes, as: UTF8.self) : nil
    }
}

/// Passes an array of C strings to `body`, with a null pointer at its end.
private func withCStrings<Result>(
    _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    var pointers = strings.map { strdup($0) }
    defer { pointers.forEach { free($0) } }
    pointers.append(nil)
    return pointers.withUnsafeBufferPointer { buffer in
        guard let base = buffer.baseAddress else { preconditionFailure("An array with a null pointer has an address.") }
        return body(base)
    }
}
