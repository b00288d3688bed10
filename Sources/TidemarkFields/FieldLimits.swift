// SPDX-License-Identifier: Apache-2.0

/// The bounds of a ``FieldMap``.
package struct FieldLimits: Sendable, Hashable {
    /// Bytes of the encoded map, including keys and framing. Beyond it, `tooLarge` is thrown. R-082: a record without assets has
    /// at most 1 MB.
    package var byteCountMax: Int

    /// Bytes of one key.
    package static let keyBytesMax = 255

    /// Characters of a record, zone or owner name in a reference.
    package static let nameBytesMax = 255

    package init(byteCountMax: Int) {
        self.byteCountMax = byteCountMax
    }

    package static let standard = FieldLimits(byteCountMax: 1_048_576)
}
