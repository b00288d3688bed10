// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkPostgres

/// The lines that an operator typed into consoles, in a file that only its owner can read:
/// `$XDG_STATE_HOME/tidemark/console-history`, or in `~/.local/state`.
package struct ConsoleHistory: Sendable {
    /// Nil: there is no home.
    package let path: String?

    package static let linesMax = 1_000
    /// The size of the file. What has grown beyond it, or beyond so many lines, is cut when the next console begins.
    private static let bytesMax = 1_048_576
    /// A longer line is no command that somebody types again.
    private static let lineBytesMax = 4_096

    /// - Parameter variables: of the environment.
    package init(variables: [String: String]) {
        // XDG Base Directory Specification: a relative path is invalid and counts as unset.
        if let home = variables["XDG_STATE_HOME"], home.hasPrefix("/") {
            path = "\(home)/tidemark/console-history"
        } else if let home = variables["HOME"], home.hasPrefix("/") {
            path = "\(home)/.local/state/tidemark/console-history"
        } else {
            path = nil
        }
    }

    /// Whether a line may be kept: it is one line of usual length, and has nothing in it that looks like a secret.
    package static func mayKeep(_ text: String) -> Bool {
        guard text.utf8.count <= lineBytesMax else { return false }
        let lowered = text.lowercased()
        return !text.contains(where: \.isNewline) && text.contains { !$0.isWhitespace }
            && !secretMarks.contains { lowered.contains($0) }
            && !ConsoleText(text).words.contains { word in
                PostgresURL.hasPassword(word) || word.split(separator: "=", maxSplits: 1).last.map(hasUserInfo) == true
            }
    }

    /// Credentials begin with the first one. The others are words of connection strings, variables and options.
    private static let secretMarks = ["tidemark_", "password", "passwd", "secret", "token="]

    /// Whether a URL has a password, also one of a form that libpq does not know.
    private static func hasUserInfo(_ word: Substring) -> Bool {
        word.contains(/:\/\/[^\/@]*:[^\/]*@/)
    }

    /// The last lines, the oldest first. Empty if there are none, or if they cannot be read.
    package func read() -> [String] {
        guard let path, let (data, isCut) = Self.end(of: path) else { return [] }
        // What the first line has lost is not known.
        let all = String(decoding: data, as: UTF8.self).split(separator: "\n").dropFirst(isCut ? 1 : 0)
        let lines = all.suffix(Self.linesMax).map(String.init)
        if isCut || all.count > Self.linesMax {
            let kept = lines.map { $0 + "\n" }.joined()
            try? AtomicFile.write(Data(kept.utf8), to: path, mode: 0o600)
        }
        return lines
    }

    /// The last bytes of a file, and whether there are more. Nil if it cannot be read.
    private static func end(of path: String) -> (data: Data, isCut: Bool)? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let size = try? file.seekToEnd() else { return nil }
        let start = size > UInt64(bytesMax) ? size - UInt64(bytesMax) : 0
        guard (try? file.seek(toOffset: start)) != nil else { return nil }
        return ((try? file.read(upToCount: bytesMax)) ?? Data(), start > 0)
    }

    /// Adds a line at the end of the file, if it may be kept. Other consoles may do so at the same time. A console works
    /// without its history, so a failure is not told.
    package func add(_ text: String) {
        guard Self.mayKeep(text), let path else { return }
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try? FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // The file may be an older one, with other rights.
        guard fchmod(descriptor, 0o600) == 0 else { return }
        let bytes = Array((text + "\n").utf8)
        // In one call, so that lines of two consoles do not mix.
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }
}
