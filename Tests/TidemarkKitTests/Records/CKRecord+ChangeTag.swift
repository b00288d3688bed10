// SPDX-License-Identifier: Apache-2.0

@testable import TidemarkKit

extension CKRecord {
    /// The bytes of `recordChangeTag`.
    var changeTag: [UInt8]? { state.withLock { $0.metadata?.tag } }
}
