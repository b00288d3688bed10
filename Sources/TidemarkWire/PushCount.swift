// SPDX-License-Identifier: Apache-2.0

/// The field of both envelopes that counts pushes: `pushes_sent` and `pushes_heard`.
///
/// It is added to a message that is encoded already, since it is not known before the message is sent, and differs between those
/// who get the same push.
package enum PushCount {
    /// Of larger messages it is left out: they would be copied. It comes with the next one, or a reminder does.
    private static let messageBytesMax = 65_536
    /// The tag of field 61, a number.
    private static let tag: [UInt8] = [0xE8, 0x03]

    /// Whether a message of this length can be given a count.
    package static func fits(_ message: [UInt8]) -> Bool { message.count <= messageBytesMax }

    /// Adds the count to an envelope that has none.
    package static func append(_ count: UInt64, to message: inout [UInt8]) {
        message += tag
        var rest = count
        while rest >= 0x80 {
            message.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        message.append(UInt8(rest))
    }
}
