// SPDX-License-Identifier: Apache-2.0

/// An address by which somebody is invited (R-314), in its normal form. Invitations and the verified addresses of accounts
/// are compared in this form.
package enum PersonAddress: Hashable, Sendable {
    /// In lower case.
    case email(String)
    /// `+` and digits.
    case phone(String)

    /// Nil if it is not an e-mail address: it needs text on both sides of its last `@`.
    package init?(email text: String) {
        let bytes = text.utf8
        guard let sign = bytes.lastIndex(of: UInt8(ascii: "@")), sign != bytes.startIndex,
            bytes.index(after: sign) != bytes.endIndex, bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { return nil }
        self = .email(text.lowercased())
    }

    /// Nil if it is not an international telephone number. Separators between digits are left out.
    package init?(phone text: String) {
        let kept = text.utf8.filter { !Self.separators.contains($0) }
        guard kept.first == UInt8(ascii: "+"), Self.digitCounts.contains(kept.count - 1),
            kept.dropFirst().allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        self = .phone(String(decoding: kept, as: UTF8.self))
    }

    /// From the normal form.
    package init(normal text: String) {
        self =
            text.utf8.first == UInt8(ascii: "+") && !text.utf8.contains(UInt8(ascii: "@")) ? .phone(text) : .email(text)
    }

    /// The normal form, as it is stored.
    package var text: String {
        switch self {
        case .email(let text), .phone(let text): text
        }
    }

    private static let separators = Array(" -./()".utf8)
    /// ITU-T E.164: at most 15.
    private static let digitCounts = 4...15
}
