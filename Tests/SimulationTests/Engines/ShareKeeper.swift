// SPDX-License-Identifier: Apache-2.0

import TidemarkScheduling
import TidemarkTestSupport

/// Somebody who changes shares beside the engines, one change after another: the owner invites, removes and ends, a guest
/// accepts and leaves.
final class ShareKeeper: @unchecked Sendable {
    // NB: unchecked, as all of the simulation: one thread runs it.
    private let device: SimulatedDevice
    private var isBusy = false

    init(_ device: SimulatedDevice) {
        self.device = device
    }

    /// Returns when the change was answered, or given up.
    func change() async {
        guard !isBusy else { return }
        isBusy = true
        await device.learnEpoch()
        await device.changeShare()
        isBusy = false
    }

    /// As ``change()``, while others go on.
    func beginChange() {
        device.world.scheduler.run { [self] in await change() }
    }
}
