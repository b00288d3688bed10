// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkServer

/// A limit with its value, its unit and where it is set.
struct LimitRow: Sendable, Equatable {
    let name: String
    /// Nil: there is none.
    let value: Int64?
    let unit: String
    /// The option or command that sets it; nil: it is the same everywhere.
    let setting: String?
    var source = Source.store

    /// From where the value is.
    enum Source: String, Sendable {
        /// The server that was asked.
        case server
        /// This program: a server has it if no option changes it.
        case `default`
        /// The database, so that all servers have it.
        case store
    }

    /// All limits of a server.
    ///
    /// - Parameters:
    ///   - running: nil: there is none, and those are shown that no option has changed.
    ///   - connections: likewise.
    static func of(_ running: Limits?, _ connections: ConnectionLimits?) -> [LimitRow] {
        rows(of: running ?? .standard, running == nil ? .default : .server)
            + rows(of: connections ?? .standard, connections == nil ? .default : .server)
    }

    private static func rows(of limits: some Sendable, _ source: Source) -> [LimitRow] {
        Mirror(reflecting: limits).children.compactMap { child in
            // What is either so or not is no limit.
            guard let name = child.label, !(child.value is Bool) else { return nil }
            let value: Int64? =
                switch child.value {
                case let number as Int: Int64(number)
                case let number as Int64: number
                case let time as Duration: Int64(time / .milliseconds(1))
                default: nil
                }
            return LimitRow(
                name: name, value: value, unit: unit(of: name), setting: options[name],
                source: source)
        }
    }

    /// What an account may send.
    ///
    /// - Parameter standard: the row of a choice that was not made: what holds then, and where that is from.
    static func of(
        _ choice: RateChoice, of whom: String, setting: String, standard: (rate: RequestRate?, source: Source)
    ) -> [LimitRow] {
        let rate = choice.rate(standard: standard.rate)
        let source = choice == .standard ? standard.source : .store
        return [
            LimitRow(
                name: "requestsPerSecond of \(whom)", value: rate.map { Int64($0.perSecond) }, unit: "a second",
                setting: setting, source: source),
            LimitRow(
                name: "requestBurst of \(whom)", value: rate.map { Int64($0.burst) }, unit: "count", setting: setting,
                source: source),
        ]
    }

    /// How many connections an account may have to a server.
    ///
    /// - Parameters:
    ///   - choice: nil: nothing was chosen for it.
    ///   - standard: what holds then, and where that is from.
    static func of(
        connections choice: Int?, of whom: String, setting: String, standard: (count: Int, source: Source)
    ) -> LimitRow {
        LimitRow(
            name: "connectionsMax of \(whom)", value: Int64(choice ?? standard.count), unit: "count", setting: setting,
            source: choice == nil ? standard.source : .store)
    }

    /// What an account may send in a container.
    ///
    /// - Parameters:
    ///   - inContainer: the choice for the container; nil: no container is looked at.
    ///   - standard: what holds where nothing was chosen, and where that is from.
    static func of(
        _ choice: RateChoice, inContainer: RateChoice?, of account: String,
        standard: (rate: RequestRate?, source: Source)
    ) -> [LimitRow] {
        // It takes the place of the default there. A choice for the account holds beside it.
        if choice == .standard, let inContainer, inContainer != .standard {
            return of(
                inContainer, of: "\(account) in the container", setting: "admin containers set-limit",
                standard: standard)
        }
        return of(choice, of: account, setting: "admin accounts set-limit \(account)", standard: standard)
    }

    /// By the end of the name: units stand there.
    static func unit(of name: String) -> String {
        let units = [
            ("PerSecond", "a second"), ("Bytes", "bytes"), ("Characters", "characters"), ("Seconds", "seconds"),
            ("Epochs", "epochs"), ("Step", "milliseconds"),
            ("lookups", "a minute"), ("Lookups", "a minute"), ("Depth", "levels"),
        ]
        return units.first { name.contains($0.0) }?.1 ?? "count"
    }

    /// Which options of `tidemark serve` set which limits. A test compares it with what they do.
    static let options = [
        "itemsMax": "serve --request-items", "requestBytesMax": "serve --request-kilobytes",
        "containersMax": "serve --containers-per-account", "assetBytesMax": "serve --asset-megabytes",
        "uploadBytesMax": "serve --upload-megabytes",
        "connectionsMax": "serve --connections", "connectionsPerAccountMax": "serve --connections-per-account",
        "anonymousConnectionsMax": "serve --anonymous-connections",
        "anonymousConnectionsPerAddressMax": "serve --anonymous-connections-per-address",
        "anonymousIdleSeconds": "serve --anonymous-idle-seconds",
        "requestsPerSecond": "serve --requests-per-second", "requestBurst": "serve --request-burst",
    ]
}
