// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A progress bar: a line at the bottom of a terminal, and nothing anywhere else.
struct ProgressBar {
    private let isTerminal = isatty(STDERR_FILENO) == 1
    private let start = ContinuousClock.now
    private var drawn: ContinuousClock.Instant?

    private static let width = 30
    private static let interval = Duration.milliseconds(100)

    /// - Parameter fraction: nil if it is unknown.
    mutating func show(_ fraction: Double?, recordCount: Int) {
        let now = ContinuousClock.now
        guard isTerminal, drawn.map({ now - $0 >= Self.interval }) ?? true else { return }
        drawn = now
        let seconds = max((now - start) / .seconds(1), 0.001)
        writeError("\r\u{1B}[K" + Self.text(fraction, recordCount: recordCount, seconds: seconds))
    }

    static func text(_ fraction: Double?, recordCount: Int, seconds: Double) -> String {
        let rate = "\(recordCount) records, \(Int(Double(recordCount) / seconds)) per second"
        guard let fraction else { return rate }
        let done = Int((min(max(fraction, 0), 1) * Double(width)).rounded(.down))
        let bar = String(repeating: "#", count: done) + String(repeating: ".", count: width - done)
        return "[\(bar)] \(Int(min(max(fraction, 0), 1) * 100)) %  \(rate)"
    }

    /// Removes the bar, so that a line of text can be written.
    mutating func clear() {
        guard isTerminal, drawn != nil else { return }
        writeError("\r\u{1B}[K")
        drawn = nil
    }
}
