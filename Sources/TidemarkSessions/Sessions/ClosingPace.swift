// SPDX-License-Identifier: Apache-2.0

/// How fast a server that stops closes its sessions. A pure value.
///
/// Each device comes to another server within 100 ms. A TLS handshake costs that one some 400 µs, and the device's fetches as
/// much again. So thousands do not come in the same instant.
struct ClosingPace: Equatable {
    /// From one session to the next.
    let interval: Duration

    /// Devices that come at this interval take some hundredths of a processor. So few of them are not held back for longer.
    private static let longest = Duration.milliseconds(20)

    init(sessionCount: Int, within spread: Duration) {
        interval = sessionCount > 0 ? min(max(.zero, spread) / sessionCount, Self.longest) : .zero
    }
}
