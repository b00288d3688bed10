// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
package import TidemarkScheduling

/// Which devices a server is to slow down, for `SessionSettings.throttle`.
///
/// Several devices may share a line: each engine is one, and so are an app's plain calls.
package final class Throttles: Sendable {
    private struct State {
        /// By device.
        var lines: [DeviceID: ObjectIdentifier] = [:]
        /// By line, on the scheduler's clock.
        var ends: [ObjectIdentifier: Duration] = [:]
    }

    private let timers: any Scheduler
    private let state = Mutex(State())

    package init(timers: any Scheduler) {
        self.timers = timers
    }

    func add(_ device: DeviceID, of line: DeviceLine) {
        state.withLock { $0.lines[device] = ObjectIdentifier(line) }
    }

    func throttle(_ line: DeviceLine, until end: Duration) {
        state.withLock { $0.ends[ObjectIdentifier(line)] = end }
    }

    /// For how many seconds more the device's requests are refused; nil: they are answered.
    package func seconds(for device: DeviceID) -> Double? {
        let now = timers.now
        return state.withLock { state in
            guard let line = state.lines[device], let end = state.ends[line], end > now else { return nil }
            return (end - now) / .seconds(1)
        }
    }
}
