// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkKit

/// ``KeyStore`` in memory, for one device.
package final class MemoryKeyStore: KeyStore {
    private let keys = Mutex<[String: [UInt8]]>([:])

    package init() {}

    package func key(for account: String) throws(CKError) -> [UInt8]? { keys.withLock { $0[account] } }

    package func keep(_ key: [UInt8], for account: String) throws(CKError) -> [UInt8] {
        keys.withLock { keys in
            let kept = keys[account] ?? key
            keys[account] = kept
            return kept
        }
    }

    package func replace(_ old: [UInt8]?, by key: [UInt8]?, for account: String) throws(CKError) {
        keys.withLock { keys in
            if keys[account] == old { keys[account] = key }
        }
    }
}
