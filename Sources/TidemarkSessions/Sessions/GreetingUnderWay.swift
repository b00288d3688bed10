// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkTelemetry
internal import TidemarkTranslation

/// A `Hello` that has no answer yet.
struct GreetingUnderWay: Sendable {
    /// That of the request.
    let id: UInt64
    /// When its answering began.
    let began: Duration
    let trace: RequestTrace
}

// Why a `Hello` is refused, but for what its credential is.
extension Refusal {
    static let foreignPage = Refusal(
        .notAuthenticated,
        "This page may not connect without a credential. The server's operator names the pages that may: "
            + "--allowed-origins.")

    static func tooManyOfAccount(_ limits: AccountLimits?, _ settings: SessionSettings) -> Refusal {
        let standard = settings.sessionsPerAccountMax
        let isChosen = limits?.connections != nil || limits?.connectionsOfEach != nil
        let count = limits?.connectionsMax(standard: standard) ?? standard
        let source = isChosen ? "admin accounts set-limit --connections" : "--connections-per-account"
        return Refusal(
            .tooManyRequests,
            "The account has too many connections: this server takes \(count) of one account (\(source)). Close another "
                + "one, or try again later.",
            retryAfter: settings.noPlaceRetrySeconds)
    }

    static func crowded(retryAfter delay: Duration) -> Refusal {
        Refusal(
            .tooManyRequests, "Too many devices connect at the same time. Connect again after the delay.",
            retryAfter: delay / .seconds(1))
    }

    /// - Parameter isOfAddress: whether others could have a place, because this address has too many.
    static func noPlace(ofAddress isOfAddress: Bool, _ settings: SessionSettings) -> Refusal {
        let text =
            isOfAddress
            ? "This address has too many connections without a credential. Try again later."
            : "The server has too many connections. Try again later."
        return Refusal(.tooManyRequests, text, retryAfter: settings.noPlaceRetrySeconds)
    }
}
