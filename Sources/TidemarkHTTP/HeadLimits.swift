// SPDX-License-Identifier: Apache-2.0

/// Bounds of a head (I-7).
package struct HeadLimits: Equatable, Sendable {
    /// Bytes of the first line with its line break. RFC 9112 §3 recommends at least 8000. Beyond: 414.
    package var startLineBytesMax = 8192
    /// Bytes of the whole head. Browsers with many cookies stay below 16 KiB. Beyond: 431.
    package var headBytesMax = 16_384
    /// Field lines. Real clients send 10 to 30. Beyond: 431.
    package var fieldCountMax = 100

    package init() {}
}
