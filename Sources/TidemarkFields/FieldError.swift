// SPDX-License-Identifier: Apache-2.0

/// Why bytes or values are not a record's fields.
package struct FieldError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The causes of the error, one for each rule of the format.
    package enum Code: String, Sendable, CaseIterable {
        /// The bytes end too early: a length reaches past the end of what holds it.
        case truncated
        /// An unexpected field, or one that is not in its canonical form.
        case malformed
        /// The keys are not in ascending order.
        case unsorted
        /// A key occurs twice, or once plain and once encrypted.
        case duplicateKey
        /// The key breaks R-042.
        case badKey
        /// This version does not know the type code.
        case unknownType
        /// The value does not fit its type: invalid UTF-8, an impossible name in a reference, or elements of several types.
        case badValue
        /// The map exceeds ``FieldLimits``.
        case tooLarge
    }

    package var code: Code

    /// The offset at or before which the fault was found. 0 if values were given instead of bytes.
    package var offset: Int

    package init(_ code: Code, at offset: Int = 0) {
        self.code = code
        self.offset = offset
    }

    package var description: String { "bad fields: code=\(code.rawValue) offset=\(offset)" }
}
