// SPDX-License-Identifier: Apache-2.0

/// The progress of a sync, as one line with a bar.
///
/// The number of files to send is known; the number to receive is not, because the server reports it page by page. So
/// the bar fills while files are sent, and a block moves in it while files are only received.
struct SyncProgress: CustomStringConvertible {
    var sent = 0
    var received = 0
    var pending = 0

    /// For a few files no bar is shown.
    var isWorthShowing: Bool { sent + pending + received > 20 }

    var description: String {
        let total = sent + pending
        let isFilling = total > 0 && (pending > 0 || received == 0)
        let start = received % (Self.width - Self.blockWidth + 1)
        return Self.bar(isFilling ? 0..<Self.width * sent / total : start..<start + Self.blockWidth)
            + (total > 0 ? " sent \(sent)/\(total)," : "") + " received \(received)"
    }

    private static let width = 30
    private static let blockWidth = 6

    private static func bar(_ filled: Range<Int>) -> String {
        (0..<width).map { filled.contains($0) ? "█" : "░" }.joined()
    }
}
