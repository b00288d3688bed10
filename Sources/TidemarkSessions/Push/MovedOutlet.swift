// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkService

/// Passes a service's `onMoved` to the hub, which is created after the service.
package final class MovedOutlet: Sendable {
    /// NB: a structure. A closure that is itself the value of a generic type is wrapped again whenever it is read in
    /// place. Each call would leave it two calls deeper, until the stack overflows.
    private struct State {
        var receiver: (@Sendable (ZonesMoved) -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// For `CloudService.init(…, onMoved:)`. Notices before ``connect(_:)`` are dropped: nobody is connected yet.
    package func moved(_ moved: ZonesMoved) {
        state.withLock { $0.receiver }?(moved)
    }

    /// Passes notices on to `receiver` from now on, on the threads on which they come. It takes the place of an earlier one.
    package func connect(_ receiver: @escaping @Sendable (ZonesMoved) -> Void) {
        state.withLock { $0.receiver = receiver }
    }
}
