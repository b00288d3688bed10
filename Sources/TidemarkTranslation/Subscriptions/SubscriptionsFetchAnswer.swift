// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
package import TidemarkDomain
internal import TidemarkWire

/// Makes the answer to a `FetchSubscriptions`, in the order of the request, up to the bytes of a page.
package struct SubscriptionsFetchAnswer: Sendable {
    private let viewpoint: Viewpoint
    private let limits: Limits
    private var answer = WireFetchSubscriptionsAnswer()
    /// Bytes of the results, as they are sent.
    package private(set) var byteCount = 0

    package init(seenFrom viewpoint: Viewpoint, limits: Limits) {
        self.viewpoint = viewpoint
        self.limits = limits
    }

    /// How many results the answer has.
    package var count: Int { answer.subscriptions.count }

    /// Adds the next result, if there is room for it. For the first there always is.
    ///
    /// - Returns: whether it was added. If not, the client must ask again for it and the rest.
    package mutating func append(_ result: Result<Subscription, FailureReason>) -> Bool {
        let next = WireSubscriptionResult(result, seenFrom: viewpoint, within: limits)
        // With the byte that says which field it is.
        let size = 1 + WireSize.message(next)
        guard count == 0 || byteCount + size <= limits.pageSubscriptionBytesMax else { return false }
        byteCount += size
        answer.subscriptions.append(next)
        return true
    }

    /// - Parameter cursor: where a client that asked for all subscriptions goes on. Nil: there is no more.
    package func message(_ id: UInt64, then cursor: SubscriptionsCursor? = nil) -> [UInt8] {
        var answer = answer
        answer.cursor = cursor?.bytes ?? []
        return ServerMessage.answer(id, .fetchSubscriptions(answer))
    }
}
