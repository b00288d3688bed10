// SPDX-License-Identifier: Apache-2.0

/// How far a sync is, as one line with a bar.
///
/// How much there is to send is known, how much there is to receive is not: the server tells it page by page. So the bar
/// fills while files are sent, and while files are only received a block in it moves on.
struct SyncProgress: CustomStringConvertible {
    var sent = 0
    var received = 0
    var pending = 0

    /// A few files come and go without a bar.
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
