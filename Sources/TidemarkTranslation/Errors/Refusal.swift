// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// Why a message cannot be translated for the rules. It is refused as a whole, before anything is read from the store.
package struct Refusal: Error, Equatable, CustomStringConvertible {
    package let code: FailureReason
    /// What is wrong, for the developer of the client. Nil: the reason's own text says it.
    package let detail: String?
    /// Seconds after which to try again. Nil: the reason's own delay.
    package let retryAfter: Double?
    /// For a refused `Hello`: why the credential opens no session.
    package let problem: SignInProblem?

    package init(
        _ code: FailureReason, _ detail: String? = nil, retryAfter: Double? = nil, problem: SignInProblem? = nil
    ) {
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter
        self.problem = problem
    }

    /// The same with the numbers, if a limit was exceeded and the detail does not have them.
    package func within(_ limits: Limits) -> Refusal {
        Refusal(code, detail ?? code.text(within: limits), retryAfter: retryAfter, problem: problem)
    }

    package var description: String { detail ?? code.text }
}
