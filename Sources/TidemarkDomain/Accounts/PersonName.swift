// SPDX-License-Identifier: Apache-2.0

/// The name of an account's person, which others see who take part in the same shares.
package struct PersonName: Hashable, Sendable {
    /// Empty if there is none.
    package let given: String
    /// Empty if there is none.
    package let family: String

    /// Nil if both parts are empty, because that is not a name.
    package init?(given: String, family: String) {
        guard !given.isEmpty || !family.isEmpty else { return nil }
        self.given = given
        self.family = family
    }

    /// Whether an account can have this name. No part may be long or blank, or have control characters or line breaks:
    /// others show it in one line.
    package func isValid(limits: Limits) -> Bool {
        [given, family].allSatisfy { part in
            guard !part.isEmpty else { return true }
            return part.utf8.count <= limits.personNameBytesMax && !part.allSatisfy(\.isWhitespace)
                && !part.unicodeScalars.contains(where: Self.isControl)
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    package var byteCount: Int { given.utf8.count + family.utf8.count }
}
