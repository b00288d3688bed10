// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TidemarkTestSupport

/// A program on a terminal of its own, and somebody who types there. The terminal is made by `script` of util-linux.
final class TerminalProgram: @unchecked Sendable {
    private let process: Process
    private let keyboard: FileHandle
    private let screenPath: String
    /// How much of the screen has been looked at.
    private let place = Mutex(0)

    /// - Parameters:
    ///   - command: a command of the shell.
    ///   - environment: added to what is set, without any `TIDEMARK_…` of the person who runs the tests.
    ///   - directory: for its files.
    init(_ command: String, environment: [String: String], directory: String) throws {
        let process = Process()
        screenPath = "\(directory)/screen-\(UUID().uuidString.prefix(8))"
        process.executableURL = URL(fileURLWithPath: "/usr/bin/script")
        // -e: its status is the command's. -f: what is written is there at once.
        process.arguments = ["-qefc", command, "/dev/null"]
        let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TIDEMARK_") }
        let own = [
            "XDG_CONFIG_HOME": "\(directory)/config", "XDG_STATE_HOME": "\(directory)/state", "HOME": directory,
            "TERM": "xterm", "LC_ALL": "C.UTF-8", "PATH": "\(Program.directory):/usr/bin:/bin", "NO_COLOR": "1",
            "SHELL": "/bin/sh",
        ]
        process.environment = inherited.merging(own) { $1 }.merging(environment) { $1 }
        let pipe = Pipe()
        process.standardInput = pipe
        _ = FileManager.default.createFile(atPath: screenPath, contents: nil)
        guard let screen = FileHandle(forWritingAtPath: screenPath) else {
            throw NeverHappened(description: "\(screenPath) cannot be written")
        }
        defer { try? screen.close() }
        (process.standardOutput, process.standardError) = (screen, screen)
        keyboard = pipe.fileHandleForWriting
        self.process = process
        try process.start()
    }

    /// Everything that has been shown so far, with the codes that move the cursor.
    var screen: String {
        String(decoding: FileManager.default.contents(atPath: screenPath) ?? Data(), as: UTF8.self)
    }

    func type(_ text: String) throws { try keyboard.write(contentsOf: Data(text.utf8)) }

    /// Waits until `text` is shown, after what earlier calls waited for.
    ///
    /// - Returns: what was shown before it.
    @discardableResult
    func see(_ text: String, within limit: Duration = .seconds(30)) async throws -> String {
        var before = ""
        do {
            try await eventually("\(text) is shown", within: limit) {
                let bytes = Array(self.screen.utf8)
                return self.place.withLock { place in
                    let rest = String(decoding: bytes[min(place, bytes.count)...], as: UTF8.self)
                    guard let range = rest.range(of: text) else { return false }
                    place += rest[..<range.upperBound].utf8.count
                    before = String(rest[..<range.lowerBound])
                    return true
                }
            }
        } catch {
            throw NeverHappened(description: "\(error)\n\(screen)")
        }
        return before
    }

    /// Presses Tab until `text` is shown. A name that arrives too late is there when Tab is pressed again.
    func complete(_ text: String) async throws {
        for _ in 0..<20 {
            try type("\t")
            if (try? await see(text, within: .seconds(1))) != nil { return }
        }
        throw NeverHappened(description: "\(text) was not completed:\n\(screen)")
    }

    /// Waits for its end.
    func exit(within limit: Duration = .seconds(30)) async throws -> Int32 {
        do {
            try await eventually("the program ends", within: limit) { !self.process.isRunning }
        } catch {
            kill(process.processIdentifier, SIGKILL)
            throw NeverHappened(description: "\(error)\n\(screen)")
        }
        return process.terminationStatus
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}
