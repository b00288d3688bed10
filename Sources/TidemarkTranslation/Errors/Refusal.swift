// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// A message that cannot be made a value of the rules: refused as a whole, before anything is read.
package struct Refusal: Error, Equatable, CustomStringConvertible {
    package let code: FailureReason
    /// What is wrong, for the developer of the client; nil: the reason's own text says it.
    package let detail: String?

    package init(_ code: FailureReason, _ detail: String? = nil) {
        self.code = code
        self.detail = detail
    }

    /// The same with the numbers, where a limit was passed and the detail does not tell them.
    package func within(_ limits: Limits) -> Refusal {
        Refusal(code, detail ?? code.text(within: limits))
    }

    package var description: String { detail ?? code.text }
}
