// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes

/// The field of both envelopes that counts pushes: `pushes_sent` and `pushes_heard`.
///
/// It is appended to an encoded message. It is known only when the message is sent, and differs between the receivers of the same
/// push.
package enum PushCount {
    /// Larger messages do not get it, because appending would copy them. The next message or a reminder has it.
    private static let messageBytesMax = 65_536

    /// Whether a message of this length can get a count.
    package static func fits(_ message: [UInt8]) -> Bool { message.count <= messageBytesMax }

    /// Appends the count to a `ServerEnvelope` that has none.
    package static func append(sent count: UInt64, to message: inout [UInt8]) {
        WireWriter.add(to: &message) { WireServerEnvelope.write(pushesSent: count, to: &$0) }
    }

    /// Appends the count to a `ClientEnvelope` that has none.
    package static func append(heard count: UInt64, to message: inout [UInt8]) {
        WireWriter.add(to: &message) { WireClientEnvelope.write(pushesHeard: count, to: &$0) }
    }
}
