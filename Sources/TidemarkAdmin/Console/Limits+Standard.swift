// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkServer

extension Limits {
    /// The limits of this program, but for what `tidemark serve` and `tidemark dev` change.
    package static let standard = Limits()
}

extension ConnectionLimits {
    /// Those of a server without options, with TLS.
    static var standard: ConnectionLimits { standard(within: .standard) }
}
