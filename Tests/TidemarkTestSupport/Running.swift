// SPDX-License-Identifier: Apache-2.0

/// Runs `body`, and then `end`, whatever comes of it.
package func running<Value>(
    _ body: () async throws -> Value, finally end: () async -> Void
) async throws -> Value {
    do {
        let value = try await body()
        await end()
        return value
    } catch {
        await end()
        throw error
    }
}
