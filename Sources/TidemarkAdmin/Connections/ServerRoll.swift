// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore

/// Which servers have answered a question of an operator, and which are still to answer. Servers are expected by
/// ``ListenerName/part(of:)`` of their names.
struct ServerRoll: Sendable {
    /// What is known of the server of a connection.
    enum Standing: Sendable, Equatable {
        /// It has just written down what it knows.
        case answered
        /// It is connected to the database, and did not answer in time.
        case silent
        /// It is not connected to the database, or another process has its name now.
        case gone
        /// Nobody could be asked.
        case unknown
    }

    /// Whether servers could be asked.
    let wasAsked: Bool
    private var expected: [String: Int]
    private var answers: [DeviceAnswer] = []

    /// Servers could not be asked.
    static let unasked = ServerRoll(wasAsked: false, expected: [:])

    private init(wasAsked: Bool, expected: [String: Int]) {
        (self.wasAsked, self.expected) = (wasAsked, expected)
    }

    /// - Parameter servers: each name as often as there are servers of that name.
    init(expecting servers: [String]) {
        self.init(wasAsked: true, expected: Self.counts(servers))
    }

    private static func counts(_ names: [String]) -> [String: Int] {
        names.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }

    mutating func heard(_ answer: DeviceAnswer) { answers.append(answer) }

    /// The servers have had time enough. Those that went away meanwhile are not waited for.
    mutating func isLate(_ servers: [String]) {
        let left = Self.counts(servers)
        expected = Dictionary(
            uniqueKeysWithValues: expected.compactMap { name, count in
                left[name].map { (name, min(count, $0)) }
            })
    }

    var isComplete: Bool { silent.isEmpty }

    /// Whether no server was there to ask.
    var isEmpty: Bool { wasAsked && expected.isEmpty && answers.isEmpty }

    /// The servers that have not answered, by name.
    var silent: [String] {
        let heard = Self.counts(answers.map { ListenerName.part(of: $0.server) })
        return expected.filter { heard[$0.key, default: 0] < $0.value }.keys.sorted()
    }

    /// The name by which the server of a connection would be in ``silent``.
    func name(of link: DeviceLink) -> String { ListenerName.part(of: link.server) }

    /// What is known of the server that noted a connection.
    func standing(of link: DeviceLink) -> Standing {
        guard wasAsked else { return .unknown }
        if answers.contains(where: { $0.server == link.server && $0.serverSince <= link.since }) { return .answered }
        return silent.contains(name(of: link)) ? .silent : .gone
    }
}
