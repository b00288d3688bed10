// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The output in the terminal: a progress bar during larger transfers, and a line for what matters. Only one `Syncer`
/// uses it.
final class TerminalReport: @unchecked Sendable {
    private let isVerbose: Bool
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private var progress = SyncProgress()
    private var barIsShown = false
    private var saidOnce: Set<String> = []

    init(isVerbose: Bool) {
        self.isVerbose = isVerbose
    }

    func show(pending: Int) {
        progress.pending = pending
        drawBar()
    }

    func sent(_ count: Int, pending: Int) {
        progress.sent += count
        show(pending: pending)
    }

    /// Counts changes of other devices. A device's own uploads come back with its next fetch, and are not news.
    func received(_ count: Int) {
        progress.received += count
        drawBar()
    }

    /// A pass is over: the counts so far become a line.
    ///
    /// - Parameter missing: files that could not be read or written when they arrived.
    func settled(pending: Int, missing: Int) {
        guard pending == 0, progress.sent + progress.received > 0 else { return }
        clearBar()
        say(missing == 0 ? "in sync" : "not in sync, \(missing) files could not be received")
        say(": \(progress.sent) sent, \(progress.received) received\n")
        progress = SyncProgress()
    }

    func finish() {
        clearBar()
    }

    func line(_ text: String) {
        clearBar()
        say(Self.printable(text) + "\n")
    }

    func detail(_ text: String) {
        if isVerbose { line(text) }
    }

    func problem(_ text: String, once: Bool = false) {
        guard !once || saidOnce.insert(text).inserted else { return }
        clearBar()
        FileHandle.standardError.write(Data("foldersync: \(Self.printable(text))\n".utf8))
    }

    /// File names may contain control sequences for the terminal.
    static func printable(_ text: String) -> String {
        text.unicodeScalars.map { $0.properties.generalCategory == .control ? $0.escaped(asASCII: true) : String($0) }
            .joined()
    }

    /// Written at once, even into a pipe, so that the reader sees what has happened so far.
    private func say(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    private func drawBar() {
        guard isTerminal, progress.isWorthShowing else { return }
        say("\r\u{1B}[K\(progress)")
        barIsShown = true
    }

    private func clearBar() {
        guard barIsShown else { return }
        say("\r\u{1B}[K")
        barIsShown = false
    }
}
