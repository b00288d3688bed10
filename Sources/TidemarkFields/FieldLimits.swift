// SPDX-License-Identifier: Apache-2.0

/// What a ``FieldMap`` may be at most.
package struct FieldLimits: Sendable, Hashable {
    /// Bytes of the encoded map, keys and framing included. R-082: a record without assets is at most 1 MB; one over it
    /// is refused with `tooLarge`.
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
