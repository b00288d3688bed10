// SPDX-License-Identifier: Apache-2.0

/// Takes out of a command's text what is another in each run. A mask is as long as what it covers, because columns of tables
/// are as wide as their widest cell.
enum GoldenNormalizer {
    /// What is taken out.
    enum Mask: Sendable {
        /// Dates of this century, identifiers that are drawn, credentials, ports, milliseconds and files' paths.
        case usual
        /// All numbers too, and with them the order of the lines: PostgreSQL decides how much its files hold.
        case numbers
    }

    /// - Parameter directory: that of the run's files, which stay as their names.
    static func text(_ text: String, _ mask: Mask = .usual, directory: String) -> String {
        let text = usual(text.replacing(directory + "/", with: ""))
        return mask == .numbers ? withoutNumbers(text) : text
    }

    private static func usual(_ text: String) -> String {
        text
            .replacing(/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/) { match in
                "YYYY-MM-DDThh:mm:ss\(match.1 == nil ? "" : ".sss")Z"
            }
            .replacing(/[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}/) { _ in uuid }
            .replacing(/_[0-9a-f]{32}/) { _ in user }
            .replacing(/tidemark_[A-Za-z0-9_-]{43}/) { _ in credential }
            .replacing(/127\.0\.0\.1:(\d+)/) { "127.0.0.1:" + String(repeating: "P", count: $0.1.count) }
            .replacing(/\d+(\.\d+)? ms\b/) { _ in "N ms" }
            // How far the feed has seen a zone depends on when the server looked.
            .replacing(/"feed":(null|\d+)/) { _ in "\"feed\":N" }
    }

    static let uuid = "UUUUUUUU-UUUU-UUUU-UUUU-UUUUUUUUUUUU"
    static let user = "_" + String(repeating: "u", count: 32)
    static let credential = "tidemark_" + String(repeating: "c", count: 43)

    /// The head of a table stays first.
    private static func withoutNumbers(_ text: String) -> String {
        guard !text.isEmpty else { return "" }
        var lines = text.replacing(/\d[\d.]*/) { _ in "N" }.replacing(/\ {2,}/) { _ in "  " }
            .split(separator: "\n", omittingEmptySubsequences: false)
        let hasEnd = lines.last == ""
        if hasEnd { lines.removeLast() }
        let head = lines.first.map { $0.hasPrefix("{") ? [] : [$0] } ?? []
        let rows = lines.dropFirst(head.count).sorted()
        return (head + rows).joined(separator: "\n") + (hasEnd ? "\n" : "")
    }
}
