// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
package import TidemarkTelemetry
internal import TidemarkTranslation
internal import TidemarkWire

/// What operators see of sessions, requests and pushes.
package final class SessionMetrics: Sendable {
    /// Whose session it is.
    enum Caller: Int, MetricLabel {
        /// `Hello` has not been answered.
        case newcomer
        case account
        /// Without a credential.
        case anonymous

        static let label = "caller"

        /// - Parameter member: nil before `Hello` was answered.
        init(_ member: SessionMember?) {
            self = member.map { $0.identity == nil ? .anonymous : .account } ?? .newcomer
        }
    }

    /// What a push brings.
    enum PushContent: Int, MetricLabel {
        /// The changes themselves.
        case changes
        /// Only that there are some. The device fetches them.
        case hint

        static let label = "content"
    }

    package static let shared = SessionMetrics()

    let sessions = GaugeFamily<Caller>(
        "tidemark_sessions_open", "Sessions that there are now, by who is here. A newcomer has not been answered yet.")
    let requests = CounterGrid<WireRequestKind, RequestResult>(
        "tidemark_requests_total",
        "Requests that were answered. The result is ok, or the code of the first failure of the request or of an item.")
    let requestTime = HistogramFamily<WireRequestKind>(
        "tidemark_request_seconds",
        "Time from the arrival of a request to its answer, with the wait for its account's turn and for PostgreSQL.",
        .times)
    let underWay = Gauge("tidemark_requests_under_way", "Requests that have begun and have no answer yet.")
    let pushes = CounterFamily<PushContent>("tidemark_pushes_sent_total", "Pushes that were sent to devices.")
    let acknowledgedPushes = Counter(
        "tidemark_pushes_acknowledged_total", "Pushes that devices have acknowledged. Older devices acknowledge none.")
    /// When reminded or until its connection ended.
    let unacknowledgedPushes = Counter(
        "tidemark_pushes_unacknowledged_total",
        "Pushes that a device did not acknowledge in time. It fetches what it missed when it is reminded or comes back."
    )
    let present = Gauge("tidemark_presence_members", "Devices that are present in a zone now, each zone apart.")
    let presencePushes = Counter(
        "tidemark_presence_pushes_total", "News of presence, for each device to which it was sent.")
    package let budgetUsed = ObservedGauge<MemoryBudget>(
        "tidemark_memory_budget_used_bytes", "Memory that is in use of each budget that all accounts share.")
    package let budgetLimit = ObservedGauge<MemoryBudget>(
        "tidemark_memory_budget_limit_bytes", "How much memory each budget has. Beyond it requests are refused.")

    private init() {}

    func begins(_ message: ClientMessage) -> WireRequestKind {
        underWay.add(1)
        return message.request?.kind ?? .unread
    }

    /// A request has its answer.
    func answered(_ kind: WireRequestKind, _ result: RequestResult, after time: Duration) {
        underWay.add(-1)
        requests.increment(kind, result)
        requestTime.observe(time, kind)
    }
}

/// Memory that all accounts of a process share.
package enum MemoryBudget: Int, MetricLabel {
    /// Requests that have been read and not answered.
    case requests
    /// Fields of records that wait to be written.
    case writes

    package static let label = "budget"
}
