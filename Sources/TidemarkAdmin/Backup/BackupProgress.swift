// SPDX-License-Identifier: Apache-2.0

/// A line on the terminal that says how far a backup, its check or a restore is, drawn at most ten times a second.
final class BackupProgress {
    private let screen: Screen
    private let step: String
    /// Of the step; nil: unknown.
    private let bytesMax: Int64?
    private let start = ContinuousClock.now
    private var drawn: ContinuousClock.Instant?
    /// Of what has ended.
    private(set) var done: Int64 = 0

    private static let interval = Duration.milliseconds(100)

    /// - Parameter step: such as "Copying assets".
    init(_ screen: Screen, _ step: String, of bytesMax: Int64? = nil) {
        (self.screen, self.step, self.bytesMax) = (screen, step, bytesMax)
    }

    /// Something of this size has ended.
    func add(_ bytes: Int64) {
        done += bytes
        show(done)
    }

    /// So much is done of something that has not ended.
    func showPart(_ bytes: Int64) { show(done + bytes) }

    func show(_ done: Int64) {
        let now = ContinuousClock.now
        guard drawn.map({ now - $0 >= Self.interval }) ?? true else { return }
        drawn = now
        screen.showProgress(Self.text(step, done, of: bytesMax, seconds: (now - start) / .seconds(1)))
    }

    static func text(_ step: String, _ done: Int64, of bytesMax: Int64?, seconds: Double) -> String {
        var text = "\(step): \(Amount.bytes(done))"
        if let bytesMax { text += " of \(Amount.bytes(max(done, bytesMax)))" }
        guard seconds >= 1 else { return text }
        text += ", \(Amount.bytes(Int64(Double(done) / seconds))) per second"
        guard let bytesMax, done > 0, bytesMax > done else { return text }
        let left = Double(bytesMax - done) * seconds / Double(done)
        if left < 60 { return "\(text), \(Int(left.rounded(.up))) s left" }
        let minutes = (left / 60).rounded(.up)
        return "\(text), \(Int(minutes)) min left"
    }
}
