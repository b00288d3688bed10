// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a test waited for, in vain.
struct NeverHappened: Error, CustomStringConvertible {
    let description: String
}

/// Waits for a state: of another process, or of something that several events lead to.
func eventually(
    _ what: String, within limit: Duration = .seconds(30), _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < deadline else { throw NeverHappened(description: "\(what): not within \(limit)") }
        try await Task.sleep(for: .milliseconds(10))
    }
}

/// The same; a failure tells what the devices have heard.
func eventually(_ what: String, of devices: Device..., condition: () -> Bool) async throws {
    do {
        try await eventually(what, condition)
    } catch {
        throw NeverHappened(description: "\(error)\n" + devices.map(\.story).joined(separator: "\n"))
    }
}
