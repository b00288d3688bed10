// SPDX-License-Identifier: Apache-2.0

/// How many requests an account may send to one server.
package struct RequestRate: Sendable, Hashable {
    /// For a long time, in each second.
    package var perSecond: Int { Int(ratePerSecond) }
    /// At once, after it has sent none for a while.
    package var burst: Int { Int(rateBurst) }

    // Each connection keeps them.
    private let ratePerSecond: Int32
    private let rateBurst: Int32

    /// The largest value of both. The tables have the same bound.
    package static let valueMax = 1_000_000
    /// By default, a burst is the rate times this many seconds.
    package static let burstSeconds = 10

    /// - Parameters:
    ///   - perSecond: from 1 to ``valueMax``.
    ///   - burst: nil: what ``burstSeconds`` allow.
    /// - Returns: nil if one of them is out of its range.
    package init?(perSecond: Int, burst: Int? = nil) {
        let range = 1...Self.valueMax
        guard range.contains(perSecond) else { return nil }
        let burst = burst ?? min(Self.burstSeconds * perSecond, Self.valueMax)
        guard range.contains(burst) else { return nil }
        (ratePerSecond, rateBurst) = (Int32(perSecond), Int32(burst))
    }

    /// The one that allows less in a long time. If both allow the same, the one with the smaller burst.
    package static func tighter(_ one: RequestRate?, _ other: RequestRate?) -> RequestRate? {
        guard let one, let other else { return one ?? other }
        return (one.perSecond, one.burst) <= (other.perSecond, other.burst) ? one : other
    }
}

/// An operator's choice for the requests of an account, or of each account in a container.
package enum RateChoice: Sendable, Hashable {
    /// Nothing: what the server allows.
    case standard
    case unlimited
    case atMost(RequestRate)

    /// - Parameter standard: what holds if nothing was chosen.
    package func rate(standard: RequestRate?) -> RequestRate? {
        switch self {
        case .standard: standard
        case .unlimited: nil
        case .atMost(let rate): rate
        }
    }
}

/// An operator's choices for one account in one container.
package struct AccountLimits: Sendable, Equatable {
    /// For all requests of the account, in all containers.
    package var requests: RateChoice
    /// For the requests of the account in this container. It takes the place of the server's default, and a choice in
    /// ``requests`` holds as well.
    package var requestsInContainer: RateChoice
    /// For the requests of each account without its own choice. It takes the place of the server's default.
    package var requestsOfEach: RateChoice
    /// Connections of the account to each server, in whichever containers. Nil: nothing was chosen.
    package var connections: Int32?
    /// The same for each account without its own choice.
    package var connectionsOfEach: Int32?

    /// The values that ``connections`` can have. The tables have the same bound.
    package static let connectionsRange = 1...1_000_000

    package init(
        requests: RateChoice = .standard, requestsInContainer: RateChoice = .standard,
        requestsOfEach: RateChoice = .standard, connections: Int32? = nil, connectionsOfEach: Int32? = nil
    ) {
        self.requests = requests
        self.requestsInContainer = requestsInContainer
        self.requestsOfEach = requestsOfEach
        self.connections = connections
        self.connectionsOfEach = connectionsOfEach
    }

    /// Connections that the account may have to a server.
    ///
    /// - Parameter standard: what the server allows each account.
    package func connectionsMax(standard: Int) -> Int {
        (connections ?? connectionsOfEach).map { Int($0) } ?? standard
    }

    /// The bound of all requests of the account, in all containers. A choice for the container takes the place of the default there, so nil
    /// is any number.
    ///
    /// - Parameter standard: the server's default.
    package func rate(standard: RequestRate?) -> RequestRate? {
        guard requestsInContainer == .standard || requests != .standard else { return nil }
        return requests.rate(standard: requestsOfEach.rate(standard: standard))
    }

    /// The bound of the account's requests in this container, beside ``rate(standard:)``.
    package var rateInContainer: RequestRate? { requestsInContainer.rate(standard: nil) }
}

extension Limits {
    /// The rate of an account for which an operator chose nothing. Nil: any number.
    package var requestRate: RequestRate? {
        RequestRate(perSecond: requestsPerSecond, burst: requestBurst == 0 ? nil : requestBurst)
    }
}
