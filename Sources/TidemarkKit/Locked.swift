// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A value that several threads read and change, one at a time.
///
/// For values that are not Sendable (Foundation's objects). Sendable values use `Mutex`.
final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    /// `body` must not use this lock again.
    func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
