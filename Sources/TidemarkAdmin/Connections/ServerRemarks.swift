// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// What an operator is told about servers whose notes are not of this moment.
struct ServerRemarks: Sendable {
    private let roll: ServerRoll
    private let silent: [String]
    /// When each silent server noted its newest line.
    private var newest: [String: Timestamp] = [:]
    private var goneCount = 0
    private var goneServers: [String] = []

    /// More servers that are gone are not named.
    private static let goneServersMax = 3

    init(_ roll: ServerRoll) {
        self.roll = roll
        silent = roll.silent
    }

    /// Takes in a line that is shown.
    ///
    /// - Returns: what is known of its server.
    mutating func add(_ link: DeviceLink, notedAt: Timestamp) -> ServerRoll.Standing {
        let standing = roll.standing(of: link)
        switch standing {
        case .silent:
            let name = roll.name(of: link)
            newest[name] = max(newest[name] ?? notedAt, notedAt)
        case .gone:
            goneCount += 1
            if goneServers.count <= Self.goneServersMax, !goneServers.contains(link.server) {
                goneServers.append(link.server)
            }
        case .answered, .unknown: break
        }
        return standing
    }

    /// One sentence or two for each.
    func texts(at now: Timestamp) -> [String] {
        guard roll.wasAsked else {
            return ["The servers could not be asked what they know now. NOTED says how old a line is."]
        }
        guard !roll.isEmpty else {
            return [
                "No server that notes devices is connected to this database. These are the last notes of servers."
            ]
        }
        let texts = silent.map { server in
            let age = newest[server].map { " Its newest line is \(TimeSpan(from: $0, to: now).text) old." }
            return "\(server) did not answer within \(ServerInquiry.patienceText).\(age ?? "")"
        }
        return texts + (goneCount == 0 ? [] : [goneText])
    }

    private var goneText: String {
        let connections = goneCount == 1 ? "1 connection is" : "\(goneCount) connections are"
        let more = goneServers.count > Self.goneServersMax ? " and others" : ""
        let servers = goneServers.count == 1 ? "a server" : "servers"
        return "\(connections) of \(servers) that died, or cannot reach the database: "
            + "\(goneServers.prefix(Self.goneServersMax).joined(separator: ", "))\(more)."
    }
}
