// SPDX-License-Identifier: Apache-2.0

internal import TidemarkTelemetry

/// The metrics of tokens and their issuers for operators.
final class TokenMetrics: Sendable {
    /// The outcome of a fetch of keys.
    enum FetchResult: Int, MetricLabel {
        case ok
        case failed

        static let label = "result"
    }

    static let shared = TokenMetrics()

    let refused = CounterFamily<TokenRefusal>(
        "tidemark_tokens_refused_total", "Tokens of identity providers that opened no session, and why.")
    let accounts = Counter(
        "tidemark_token_accounts_total", "Accounts that were created because somebody signed in with a token.")
    let fetches = CounterFamily<FetchResult>(
        "tidemark_issuer_fetches_total",
        "Fetches of the keys of identity providers. With failures, devices whose tokens have new keys must come again.")

    private init() {}
}
