// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

extension Limits {
    /// The limits of this program, but for what `tidemark serve` and `tidemark dev` change.
    package static let standard = Limits()
}
