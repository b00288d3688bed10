// SPDX-License-Identifier: Apache-2.0

import CloudKit

extension Notes {
    func sync() async throws {
        try await engine?.fetchChanges()
        // A conflict was merged in handleEvent: the next sync sends what came out.
        do { try await engine?.sendChanges() } catch CKError.partialFailure {}
        try await engine?.fetchChanges()
    }
}
