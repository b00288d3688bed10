// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// How long something is valid: `90m`, `12h`, `30d`, `8w`.
package struct Lifetime: ExpressibleByArgument, Equatable, Sendable {
    package let seconds: Int64

    /// Ten years. A longer time is probably a mistaken unit.
    private static let secondsMax: Int64 = 315_360_000

    package init?(argument: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
        guard let last = argument.last, let unit = units[last], let count = Int64(argument.dropLast()), count > 0 else {
            return nil
        }
        let (seconds, overflow) = count.multipliedReportingOverflow(by: unit)
        guard !overflow, seconds <= Self.secondsMax else { return nil }
        self.seconds = seconds
    }
}
