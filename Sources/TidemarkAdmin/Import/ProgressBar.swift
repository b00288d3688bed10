// SPDX-License-Identifier: Apache-2.0

/// A progress bar, drawn at most ten times a second.
struct ProgressBar {
    private let screen: Screen
    private let start = ContinuousClock.now
    private var drawn: ContinuousClock.Instant?

    private static let width = 30
    private static let interval = Duration.milliseconds(100)

    init(_ screen: Screen) {
        self.screen = screen
    }

    /// - Parameter fraction: nil if it is unknown.
    mutating func show(_ fraction: Double?, recordCount: Int) {
        let now = ContinuousClock.now
        guard drawn.map({ now - $0 >= Self.interval }) ?? true else { return }
        drawn = now
        let seconds = max((now - start) / .seconds(1), 0.001)
        screen.showProgress(Self.text(fraction, recordCount: recordCount, seconds: seconds))
    }

    static func text(_ fraction: Double?, recordCount: Int, seconds: Double) -> String {
        let rate = "\(recordCount) records, \(Int(Double(recordCount) / seconds)) per second"
        guard let fraction else { return rate }
        let done = Int((min(max(fraction, 0), 1) * Double(width)).rounded(.down))
        let bar = String(repeating: "#", count: done) + String(repeating: ".", count: width - done)
        return "[\(bar)] \(Int(min(max(fraction, 0), 1) * 100)) %  \(rate)"
    }

    func end() { screen.showProgress(nil) }
}
