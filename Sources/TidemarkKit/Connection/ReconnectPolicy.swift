// SPDX-License-Identifier: Apache-2.0

/// How long a device waits before it connects again.
///
/// The first attempt after a working connection comes within 100 ms, because most cuts are short. Then the wait doubles
/// from 200 ms up to 15 s. So a laptop that wakes up finds a server within seconds, and so does a server that is back.
/// Each wait is a random time between half and all of its nominal length. After a server's restart, five thousand
/// devices must not come back in the same instant: a TLS handshake costs a server some 400 µs.
struct ReconnectPolicy: Sendable {
    static let firstWait: Duration = .milliseconds(100)
    static let base: Duration = .milliseconds(200)
    static let waitMax: Duration = .seconds(15)
    /// The wait after a refusal that only a person can undo (credential, certificate).
    static let refusedWait: Duration = .seconds(60)

    /// - Parameters:
    ///   - failures: failed attempts since the last working connection.
    ///   - randomBits: they choose the time between half and all of the nominal length.
    static func wait(failures: Int, randomBits: UInt64) -> Duration {
        let nominal = failures == 0 ? firstWait : min(waitMax, base * (1 << min(failures - 1, 10)))
        return jittered(nominal, randomBits: randomBits)
    }

    static func jittered(_ nominal: Duration, randomBits: UInt64) -> Duration {
        nominal / 2 + nominal / 2 * (Double(randomBits >> 11) / Double(UInt64(1) << 53))
    }
}
