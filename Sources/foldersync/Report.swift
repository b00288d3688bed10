// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// What the person at the terminal sees: a progress bar while much is on its way, a line for what matters. Used by one
/// `Syncer` alone.
final class Report: @unchecked Sendable {
    private let isVerbose: Bool
    private let isTerminal = isatty(STDOUT_FILENO) == 1
    private var sentCount = 0
    private var receivedCount = 0
    private var pendingCount = 0
    private var barIsShown = false
    private var saidOnce: Set<String> = []

    init(isVerbose: Bool) {
        self.isVerbose = isVerbose
    }

    func show(pending: Int) {
        pendingCount = pending
        drawBar()
    }

    func sent(_ count: Int, pending: Int) {
        sentCount += count
        show(pending: pending)
    }

    /// What others have changed: a device's own uploads come back with its next fetch, and are not news.
    func received(_ count: Int) {
        receivedCount += count
        drawBar()
    }

    /// A pass is over: the counts so far become a line.
    func settled(pending: Int) {
        guard pending == 0, sentCount + receivedCount > 0 else { return }
        clearBar()
        say("in sync: \(sentCount) sent, \(receivedCount) received\n")
        (sentCount, receivedCount, pendingCount) = (0, 0, 0)
    }

    func finish() {
        clearBar()
    }

    func line(_ text: String) {
        clearBar()
        say(text + "\n")
    }

    func detail(_ text: String) {
        if isVerbose { line(text) }
    }

    func problem(_ text: String, once: Bool = false) {
        guard !once || saidOnce.insert(text).inserted else { return }
        clearBar()
        FileHandle.standardError.write(Data("foldersync: \(text)\n".utf8))
    }

    /// At once, also into a pipe: whoever watches sees what has happened so far.
    private func say(_ text: String) {
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    private func drawBar() {
        let total = sentCount + pendingCount
        guard isTerminal, total + receivedCount > 20 else { return }
        let width = 30
        let filled = total == 0 ? width : width * sentCount / total
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
        say("\r\u{1B}[K\(bar) sent \(sentCount)/\(total), received \(receivedCount)")
        barIsShown = true
    }

    private func clearBar() {
        guard barIsShown else { return }
        say("\r\u{1B}[K")
        barIsShown = false
    }
}
