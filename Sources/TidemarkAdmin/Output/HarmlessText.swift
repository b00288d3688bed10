// SPDX-License-Identifier: Apache-2.0

extension Unicode.Scalar {
    /// Whether it could move the cursor, break a line, or turn the direction of what follows.
    var controlsTerminals: Bool {
        switch value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: return true
        default: break
        }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}

extension String {
    /// With spaces in place of line breaks and control characters: text from users must not control an operator's
    /// terminal.
    package var inOneLine: String {
        let scalars = unicodeScalars.map { $0.controlsTerminals ? " " : $0 }
        return String(String.UnicodeScalarView(scalars))
    }

    /// How many cells a terminal needs for it.
    var cellCount: Int {
        reduce(0) { $0 + ($1.unicodeScalars.contains(where: \.isTwoCellsWide) ? 2 : 1) }
    }
}

extension Unicode.Scalar {
    /// East Asian wide and full-width characters, and emoji (Unicode Standard Annex 11).
    fileprivate var isTwoCellsWide: Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F,
            0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x20000...0x3FFFD, 0xFE0F:
            true
        default: false
        }
    }
}
