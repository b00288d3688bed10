// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkWire

/// A request with a part of an asset, whole but for its id, which it gets when it is made. Taken once, so that the part is
/// copied nowhere.
final class EncodedRequest: Sendable {
    private let bytes: Mutex<[UInt8]>

    /// - Parameter bytes: with room for `ChunkEnvelope.idBytesMax` more.
    init(_ bytes: consuming [UInt8]) {
        self.bytes = Mutex(bytes)
    }

    func take(id: UInt64) -> [UInt8] {
        bytes.withLock { kept in
            var bytes: [UInt8] = []
            swap(&bytes, &kept)
            ChunkEnvelope.append(id: id, to: &bytes)
            return bytes
        }
    }
}
