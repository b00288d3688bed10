// SPDX-License-Identifier: Apache-2.0

import TidemarkKit

/// The `CKError` that `work` fails with.
func failure<Value>(_ work: () async throws -> Value) async throws -> CKError {
    do {
        _ = try await work()
    } catch let error as CKError {
        return error
    }
    throw NeverHappened(description: "the call was to fail and did not")
}

/// Nil if nothing failed.
func code<Value>(_ result: Result<Value, any Error>?) -> CKError.Code? {
    guard case .failure(let error) = result else { return nil }
    return (error as? CKError)?.code
}
