// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The terminal, pipes or files of this process.
package final class ProcessTerminal: OperatorTerminal {
    package let hasColor: Bool
    package let canAsk: Bool
    package var hasLocalFiles: Bool { true }
    package let showsProgress: Bool
    private let hasProgress = Mutex(false)
    private let endKey = Mutex(EndKey())

    /// How often a question looks whether it was taken back.
    private static let askMilliseconds: Int32 = 100
    private static let clearLine = "\r\u{1B}[K"

    /// - Parameter variables: of the environment; a `NO_COLOR` that is not empty turns colours off (no-color.org).
    package init(variables: [String: String]) {
        let isPlain = !(variables["NO_COLOR"] ?? "").isEmpty || variables["TERM"] == "dumb"
        hasColor = isatty(STDOUT_FILENO) == 1 && !isPlain
        showsProgress = isatty(STDERR_FILENO) == 1 && variables["TERM"] != "dumb"
        canAsk = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1
    }

    package func write(_ text: String) async throws {
        showProgress(nil)
        let code = Self.write(text, to: STDOUT_FILENO)
        if code == EPIPE { throw CommandEnd.readerGone }
        if code != 0 {
            throw AdminFailure(.refused, "The output cannot be written: \(String(cString: strerror(code))). Make room.")
        }
    }

    package func say(_ text: String) {
        showProgress(nil)
        Self.writeError(text + "\n")
    }

    package func showProgress(_ text: String?) {
        guard showsProgress else { return }
        let hadProgress = hasProgress.withLock { hasProgress in
            defer { hasProgress = text != nil }
            return hasProgress
        }
        if let text {
            Self.writeError(Self.clearLine + text)
        } else if hadProgress {
            Self.writeError(Self.clearLine)
        }
    }

    package func ask(_ question: String) async -> String? {
        showProgress(nil)
        // To a question, Ctrl-D is an answer.
        endKey.withLock { $0.questionCount += 1 }
        defer { endKey.withLock { $0.questionCount -= 1 } }
        Self.writeError(question)
        // A console takes the question back by cancelling the command. Nobody else may then read the next line.
        var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        while poll(&descriptor, 1, Self.askMilliseconds) == 0 {
            if Task.isCancelled { return nil }
        }
        return Task.isCancelled ? nil : readLine()
    }

    /// Keeps Ctrl-D for whoever reads the next line, while a command runs that reads none.
    package func keepEndKey() { endKey.withLock { $0.isKept = true } }

    /// Ends ``keepEndKey()``.
    package func releaseEndKey() { endKey.withLock { $0.isKept = false } }

    package func open(_ path: String) throws(AdminFailure) -> InputFile { try InputFile(path: path) }

    /// Writes to standard error, whether or not anybody reads it.
    package static func writeError(_ text: String) { _ = write(text, to: STDERR_FILENO) }

    /// NB: not with `FileHandle`, which ends the process if the reader is gone.
    ///
    /// - Returns: the number of the system's error; 0 if everything was written.
    private static func write(_ text: String, to descriptor: Int32) -> Int32 {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count == 0 ? EIO : errno }
            bytes = bytes.dropFirst(count)
        }
        return 0
    }
}

/// Whether the terminal of standard input takes Ctrl-D as the end of the input.
///
/// The kernel keeps such an end for a reader of lines. The editor of the next line reads keys, and would find a null byte
/// instead. While the key means nothing to the kernel, it waits as any other key.
private struct EndKey {
    var isKept = false { didSet { apply() } }
    /// Questions that are open.
    var questionCount = 0 { didSet { apply() } }
    /// The key that is switched off; nil: it is not.
    private var key: cc_t?

    /// As Linux has it: `VEOF` of `termios`, and `_POSIX_VDISABLE`.
    private static let off = cc_t(0)

    private mutating func apply() {
        let isWanted = isKept && questionCount == 0
        guard isWanted != (key != nil) else { return }
        var modes = termios()
        guard tcgetattr(STDIN_FILENO, &modes) == 0 else { return }
        let index = Int(VEOF)
        withUnsafeMutableBytes(of: &modes.c_cc) { keys in
            if let key {
                keys[index] = key
                self.key = nil
            } else if keys[index] != Self.off {
                key = keys[index]
                keys[index] = Self.off
            }
        }
        tcsetattr(STDIN_FILENO, TCSANOW, &modes)
    }
}
