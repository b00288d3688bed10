// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain

/// The devices that a server should throttle, for `SessionSettings.throttle`.
///
/// Several devices may share a line: each engine is one, and so are an app's plain calls.
package final class Throttles: Sendable {
    private struct WeakLine {
        weak var object: DeviceLine?
    }

    private let lines = Mutex<[DeviceID: WeakLine]>([:])

    package init() {}

    func add(_ device: DeviceID, of line: DeviceLine) {
        lines.withLock { $0[device] = WeakLine(object: line) }
    }

    /// For how many more seconds the device's requests are refused; nil: they are answered.
    package func seconds(for device: DeviceID) -> Double? {
        lines.withLock { $0[device]?.object }?.throttledSeconds
    }
}
