// SPDX-License-Identifier: Apache-2.0

/// The version of a message, `HTTP/major.minor`.
package struct HTTPVersion: Hashable, Comparable, Sendable {
    package let major: UInt8
    package let minor: UInt8

    package init(major: UInt8, minor: UInt8) {
        self.major = major
        self.minor = minor
    }

    package static let http11 = HTTPVersion(major: 1, minor: 1)

    package static func < (left: HTTPVersion, right: HTTPVersion) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    /// Reads exactly the eight characters `HTTP/d.d` (RFC 9112 §2.3; case-sensitive).
    init?(_ text: UnsafeRawBufferPointer) {
        guard text.count == 8, text.prefix(5).elementsEqual("HTTP/".utf8), Characters.isDigit(text[5]),
            text[6] == UInt8(ascii: "."), Characters.isDigit(text[7])
        else { return nil }
        self.init(major: text[5] - UInt8(ascii: "0"), minor: text[7] - UInt8(ascii: "0"))
    }

    var text: String { "HTTP/\(major).\(minor)" }
}
