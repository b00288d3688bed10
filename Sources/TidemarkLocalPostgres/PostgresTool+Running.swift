// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

extension PostgresTool {
    /// How often a program is looked at.
    private static let pause = Duration.milliseconds(50)
    private static let tailBytes = 2_000

    /// Runs the program to its end. It ends with this process, however this process ends, and when the task is cancelled.
    ///
    /// - Parameters:
    ///   - variables: of its environment, beside a path and a plain locale.
    ///   - meanwhile: is called again and again while it runs. If it throws, the program is ended.
    /// - Throws: ``LocalPostgresError`` with `toolFailed` and the end of what the program said; what `meanwhile` throws;
    ///   `CancellationError`.
    package func run(
        _ arguments: [String], variables: [String: String], meanwhile: () async throws -> Void = {}
    ) async throws {
        try Task.checkCancellation()
        let run = try ToolRun(path, arguments, variables: variables.map { "\($0.key)=\($0.value)" })
        do {
            while run.exit == nil {
                try await Task.sleep(for: Self.pause)
                try await meanwhile()
            }
        } catch {
            run.end()
            // It must not write any more when this returns. NB: a cancelled task does not sleep.
            while run.exit == nil { usleep(5_000) }
            throw error
        }
        guard let exit = run.exit, !exit.isSuccess else { return }
        let how = exit.signal == 0 ? "with status \(exit.status)" : "by signal \(exit.signal)"
        throw LocalPostgresError(
            .toolFailed, "\(name) ended \(how): \(run.tail(Self.tailBytes))", detail: run.tail(Self.tailBytes))
    }
}

/// A program on a thread of its own: the kernel ends the program when the *thread* that forked it ends.
final class ToolRun: Sendable {
    private struct State {
        var process: ChildProcess?
        var exit: ChildProcess.Exit?
        /// Whether it is to end. It may not have started yet.
        var isEnding = false
    }

    private let path: String
    private let arguments: [String]
    private let variables: [String]
    /// What the program says: a file without a name.
    private let output: Int32
    private let state = Mutex(State())

    init(_ path: String, _ arguments: [String], variables: [String]) throws(LocalPostgresError) {
        (self.path, self.arguments, self.variables) = (path, arguments, variables)
        var template = Array("/tmp/tidemark-tool-XXXXXX".utf8CString)
        output = mkstemp(&template)
        guard output >= 0 else {
            throw LocalPostgresError(.toolFailed, "A file in /tmp cannot be made. Make room there.")
        }
        unlink(template)
        _ = fcntl(output, F_SETFD, FD_CLOEXEC)
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self)
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<ToolRun>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard result == 0 else {
            context.release()
            throw LocalPostgresError(.toolFailed, "A thread cannot be started.")
        }
        pthread_detach(thread)
    }

    deinit { close(output) }

    /// Nil while it runs.
    var exit: ChildProcess.Exit? { state.withLock { $0.exit } }

    /// Asks it to end, which a program of PostgreSQL's does at once. One that has not started yet ends when it does.
    func end() {
        state.withLock { state in
            state.isEnding = true
            if let process = state.process { _ = kill(process.id, SIGTERM) }
        }
    }

    /// The end of what it has said.
    func tail(_ count: Int) -> String {
        let size = lseek(output, 0, SEEK_END)
        var bytes = [UInt8](repeating: 0, count: count)
        let got = pread(output, &bytes, count, max(0, size - count))
        var text = String(decoding: bytes[..<max(0, got)], as: UTF8.self)
        while text.last?.isNewline == true { text.removeLast() }
        return text
    }

    private func run() {
        let started: ChildProcess
        do throws(ChildProcess.SpawnError) {
            started = try ChildProcess.start(
                path, arguments: arguments, log: output, variables: variables, deathSignal: SIGTERM)
        } catch {
            let reason = Array("\(path) could not be started: \(String(cString: strerror(error.errorNumber)))".utf8)
            _ = write(output, reason, reason.count)
            return state.withLock { $0.exit = ChildProcess.Exit(status: 127, signal: 0) }
        }
        state.withLock { state in
            state.process = started
            if state.isEnding { _ = kill(started.id, SIGTERM) }
        }
        started.waitForEnd()
        // Reaped under the lock, so that no other process with its number is ended.
        state.withLock { state in
            state.process = nil
            state.exit = started.reap()
        }
    }
}
