// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

/// How many requests somebody may send (R-934).
struct RateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Requests in a second, for a long time; none for any number, default for no choice.",
            discussion: "1 to \(RequestRate.valueMax), at each server. Parts of files do not count.",
            valueName: "count"))
    var requestsPerSecond: RateArgument?

    @Option(
        help: ArgumentHelp(
            "Requests at once, after none were sent for a while.",
            discussion: "Default: what \(RequestRate.burstSeconds) seconds allow.", valueName: "count"))
    var requestBurst: Int?

    var isGiven: Bool { requestsPerSecond != nil }

    func validate() throws {
        guard let requestBurst else { return }
        guard case .count? = requestsPerSecond else {
            throw ValidationError("--request-burst needs --requests-per-second with a number.")
        }
        guard (1...RequestRate.valueMax).contains(requestBurst) else {
            throw ValidationError("--request-burst must be between 1 and \(RequestRate.valueMax).")
        }
    }

    /// Nil: nothing is said.
    func choice() throws(AdminFailure) -> RateChoice? {
        switch requestsPerSecond {
        case nil: return nil
        case .standard?: return .standard
        case .unlimited?: return .unlimited
        case .count(let perSecond)?:
            guard let rate = RequestRate(perSecond: perSecond, burst: requestBurst) else {
                throw AdminFailure(.usage, "--requests-per-second must be between 1 and \(RequestRate.valueMax).")
            }
            return .atMost(rate)
        }
    }
}

/// A number of requests, `none` or `default`.
enum RateArgument: ExpressibleByArgument, Sendable, Equatable {
    case standard, unlimited
    case count(Int)

    init?(argument: String) {
        switch argument {
        case "default": self = .standard
        case "none": self = .unlimited
        default:
            guard let count = Int(argument), (1...RequestRate.valueMax).contains(count) else { return nil }
            self = .count(count)
        }
    }
}

extension RateChoice {
    /// As an operator reads it.
    ///
    /// - Parameter standard: what holds without a choice.
    func words(standard: String) -> String {
        switch self {
        case .standard: standard
        case .unlimited: "any number of requests"
        case .atMost(let rate): "\(rate.perSecond) requests a second (at once: \(rate.burst))"
        }
    }
}

/// A number of connections, or `default`.
enum ConnectionsArgument: ExpressibleByArgument, Sendable, Equatable {
    case standard
    case count(Int)

    init?(argument: String) {
        guard argument != "default" else {
            self = .standard
            return
        }
        guard let count = Int(argument), AccountLimits.connectionsRange.contains(count) else { return nil }
        self = .count(count)
    }

    /// What is stored; nil: nothing is chosen.
    var stored: Int? {
        switch self {
        case .standard: nil
        case .count(let count): count
        }
    }
}

extension AdminAccounts {
    struct SetAccountLimit: AdminCommand {
        static let configuration = CommandConfiguration(
            "set-limit", abstract: "Set how many requests an account may send, and how many connections it may have.",
            discussion: """
                At each server, in all containers together. It takes the place of what serve allows each account \
                (--requests-per-second, --connections-per-account). Without an account it is for all accounts that have no \
                choice of their own, on all servers of the store; a choice of requests for a container takes its place there. \
                Requests beyond it get requestRateLimited, with a delay after which devices send them again: nothing is lost. \
                The limit of requests holds at once. That of connections holds for new ones: those that are open stay, and \
                `connections close` ends them.
                """,
            examples: "tidemark admin accounts set-limit alice --requests-per-second 50 --request-burst 200",
            "tidemark admin accounts set-limit alice --requests-per-second default --connections 20",
            "tidemark admin accounts set-limit --requests-per-second 20")
        static let role = OperatorRole.editor

        @Argument(
            help: "The account's name. Without it: every account that has no limit of its own.",
            completion: .live(.accounts))
        var account: String?
        @OptionGroup var rate: RateOptions
        @Option(
            help: ArgumentHelp(
                "Connections at once; default for no choice.",
                discussion:
                    "1 to \(AccountLimits.connectionsRange.upperBound), to each server. A device has one for each container.",
                valueName: "count"))
        var connections: ConnectionsArgument?
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func validate() throws {
            guard rate.isGiven || connections != nil else {
                throw ValidationError("Give --requests-per-second, --connections or both.")
            }
        }

        func run(_ console: Console) async throws {
            let id: AccountID? = if let account { try await console.account(account) } else { nil }
            let choice = try rate.choice()
            let words = words(choice)
            let whose = account ?? "each account without a limit of its own"
            try console.plan("let \(whose) \(words)")
            if let choice {
                guard try await console.store.setRequestRate(choice, of: id) else {
                    throw AdminFailure.noAccount(account ?? "")
                }
            }
            if let connections {
                guard try await console.store.setConnectionsMax(connections.stored, of: id) else {
                    throw AdminFailure.noAccount(account ?? "")
                }
            }
            console.say("\(account ?? "Each account without a limit of its own") may \(words).")
        }

        private func words(_ choice: RateChoice?) -> String {
            let isOne = account != nil
            let sends = choice.map { choice in
                let standard = isOne ? "what each account may send" : "what its server allows each account"
                return "send \(choice.words(standard: standard))"
            }
            let has = connections.map { connections in
                let standard = isOne ? "as each account may have" : "as its server allows each account"
                return connections.stored.map { "have \(Amount.text($0, "connection")) to each server" }
                    ?? "have as many connections \(standard)"
            }
            return [sends, has].compactMap(\.self).joined(separator: ", and ")
        }
    }
}
