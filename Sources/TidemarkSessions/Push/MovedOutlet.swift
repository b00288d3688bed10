// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkService

/// Leads a service's `onMoved` to the hub that is made after the service.
package final class MovedOutlet: Sendable {
    private let receiver = Mutex<(@Sendable ([ZoneNotice]) -> Void)?>(nil)

    package init() {}

    /// For `CloudService.init(…, onMoved:)`. Notices before ``connect(_:)`` are dropped: nobody is connected yet.
    package func moved(_ notices: [ZoneNotice]) {
        receiver.withLock { $0 }?(notices)
    }

    package func connect(_ receiver: @escaping @Sendable ([ZoneNotice]) -> Void) {
        self.receiver.withLock { $0 = receiver }
    }
}
