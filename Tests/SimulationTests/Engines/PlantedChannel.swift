// SPDX-License-Identifier: Apache-2.0

import TidemarkWire

@testable import TidemarkKit

/// A device's way to its server, with one ``PlantedFault`` on it.
enum PlantedChannel {
    /// Whether a message gets through to the app.
    static func isHeard(_ fault: PlantedFault?, by app: SimulatedApp) -> ([UInt8]) -> Bool {
        guard fault == .copyHearsNoPushes, app.isCopy else { return { _ in true } }
        return { message in
            guard case .push? = try? WireServerEnvelope(received: message).answer else { return true }
            return false
        }
    }
}
