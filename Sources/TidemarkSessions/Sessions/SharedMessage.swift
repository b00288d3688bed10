// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// One message for many peers. The transport encodes its frame once and keeps it here.
package final class SharedMessage: Sendable {
    package let bytes: [UInt8]
    private let frameBytes = Mutex<[UInt8]?>(nil)

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The frame, which `encode` made when it was first asked for.
    package func frame(_ encode: ([UInt8]) -> [UInt8]) -> [UInt8] {
        frameBytes.withLock { frame in
            if let frame { return frame }
            let made = encode(bytes)
            frame = made
            return made
        }
    }
}
