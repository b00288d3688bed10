// SPDX-License-Identifier: Apache-2.0

/// Why bytes or values are not a record's fields.
package struct FieldError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The causes of the error, one for each rule of the format.
    package enum Code: String, Sendable, CaseIterable {
        /// Something ends before it should: a length points past the end of what holds it.
        case truncated
        /// An element that is not expected there, or one that is not in its canonical form.
        case malformed
        /// The keys are not in ascending order.
        case unsorted
        /// A key occurs twice, be it once plain and once encrypted.
        case duplicateKey
        /// The key breaks R-042.
        case badKey
        /// A type code that this version does not know.
        case unknownType
        /// The value is not one of its type: bad UTF-8, an impossible name in a reference, elements of several types.
        case badValue
        /// The whole is over ``FieldLimits``.
        case tooLarge
    }

    package var code: Code

    /// The number of the byte at or before which the trouble was found; 0 when values were given, not bytes.
    package var offset: Int

    package init(_ code: Code, at offset: Int = 0) {
        self.code = code
        self.offset = offset
    }

    package var description: String { "bad fields: code=\(code.rawValue) offset=\(offset)" }
}
