// SPDX-License-Identifier: Apache-2.0

/// A file's path in the folder, with "/" between its parts. The folder itself is "".
///
/// Not a `String`, because strings compare by meaning: an "é" of one code point equals one of two, but for Linux they
/// are two files.
struct RelativePath: Hashable, Comparable, Codable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    let text: String

    init(_ text: String) { self.text = text }
    init(stringLiteral text: String) { self.init(text) }
    init(from decoder: any Decoder) throws { self.init(try decoder.singleValueContainer().decode(String.self)) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    static func < (left: Self, right: Self) -> Bool { left.text.utf8.lexicographicallyPrecedes(right.text.utf8) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(0xFF as UInt8)
    }

    var description: String { text }

    func appending(_ name: String) -> RelativePath {
        RelativePath(text.isEmpty ? name : "\(text)/\(name)")
    }

    /// The directories that contain it, outermost first.
    var directories: [RelativePath] {
        // By bytes, as Linux does: in a String, a "/" and a combining mark behind it are one character.
        text.utf8.indices.filter { text.utf8[$0] == UInt8(ascii: "/") }
            .map { RelativePath(String(decoding: text.utf8[..<$0], as: UTF8.self)) }
    }

    func isBelow(_ directories: Set<RelativePath>) -> Bool { self.directories.contains(where: directories.contains) }

    /// The last part.
    var name: String {
        let slash = text.utf8.lastIndex(of: UInt8(ascii: "/"))
        let start = slash.map { text.utf8.index(after: $0) } ?? text.utf8.startIndex
        return String(decoding: text.utf8[start...], as: UTF8.self)
    }

    /// Whether a path that another device chose stays inside the folder, and outside this program's own data.
    var isSafe: Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return text.utf8.count <= 4_000 && !text.utf8.contains(0)
            && parts.allSatisfy {
                (1...255).contains($0.count) && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8)
            }
            && parts.first?.elementsEqual(FileTree.stateDirectoryName.utf8) == false
    }
}
