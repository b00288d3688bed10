// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes

/// The field of both envelopes that counts pushes: `pushes_sent` and `pushes_heard`.
///
/// It is added to a message that is encoded already, since it is not known before the message is sent, and differs between those
/// who get the same push.
package enum PushCount {
    /// Of larger messages it is left out: they would be copied. It comes with the next one, or a reminder does.
    private static let messageBytesMax = 65_536

    /// Whether a message of this length can be given a count.
    package static func fits(_ message: [UInt8]) -> Bool { message.count <= messageBytesMax }

    /// Adds the count to a `ServerEnvelope` that has none.
    package static func append(sent count: UInt64, to message: inout [UInt8]) {
        WireWriter.add(to: &message) { WireServerEnvelope.write(pushesSent: count, to: &$0) }
    }

    /// Adds the count to a `ClientEnvelope` that has none.
    package static func append(heard count: UInt64, to message: inout [UInt8]) {
        WireWriter.add(to: &message) { WireClientEnvelope.write(pushesHeard: count, to: &$0) }
    }
}
