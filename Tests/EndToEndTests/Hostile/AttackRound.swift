// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport

/// Attacks that are made at once on one server, each by accounts of its own.
struct AttackRound: CustomTestStringConvertible, Sendable {
    let attacks: [Attack]

    var testDescription: String { attacks.map(\.testDescription).joined(separator: "; ") }

    /// Each attack alone.
    static func alone(_ attacks: [Attack]) -> [AttackRound] { attacks.map { AttackRound(attacks: [$0]) } }

    /// Those of one company together.
    static func together(_ attacks: [Attack]) -> [AttackRound] {
        var rounds: [AttackRound] = []
        for (index, attack) in attacks.enumerated() {
            guard let company = attack.company else {
                rounds.append(AttackRound(attacks: [attack]))
                continue
            }
            guard !attacks[..<index].contains(where: { $0.company == company }) else { continue }
            rounds.append(AttackRound(attacks: attacks.filter { $0.company == company }))
        }
        return rounds
    }

    /// Why somebody cannot make it; nil if they can.
    func reasonAgainst(_ attackers: Attackers) -> String? {
        guard attackers == .nobody else { return nil }
        for attack in attacks {
            if case .none(let why) = attack.byNobody { return why }
        }
        return nil
    }

    /// Runs `body` with a server that is not attacked yet.
    func withPlace(_ body: (OperatorPlace) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        var options = ["--create-containers"] + attacks.flatMap(\.options)
        if attacks.contains(where: \.takesTokens) {
            options += try AttackProvider.options(in: directory)
            // Made before anybody attacks.
            precondition(!AttackProvider.tokens.isEmpty)
        }
        if attacks.contains(where: \.isOnOperators) { options += ["--operators-listen", "127.0.0.1:0"] }
        try await OperatorPlace.with(
            options, keepsAssets: true, keepsKeys: true, isEncrypted: attacks.contains(where: \.isEncrypted), body)
    }

    /// Prepares all of them.
    func makeReady(_ place: OperatorPlace, by attackers: Attackers, isLong: Bool) async throws -> [ReadyAttack] {
        var ready: [ReadyAttack] = []
        for (number, attack) in attacks.enumerated() {
            let accounts = try attackers.accounts(place, for: number)
            let grounds = accounts.map { AttackGround(place: place, account: $0, isLong: isLong) }
            var known: [AttackKnowledge] = []
            for ground in grounds { known.append(try await attack.makeReady(ground)) }
            ready.append(ReadyAttack(attack: attack, attackers: attackers, grounds: grounds, known: known))
        }
        return ready
    }
}

/// An attack that can begin, and begins once.
struct ReadyAttack {
    let attack: Attack
    let attackers: Attackers
    /// Of each attacker.
    let grounds: [AttackGround]
    /// By each attacker.
    let known: [AttackKnowledge]
    private(set) var clients: [[any AttackingClient]] = []

    init(attack: Attack, attackers: Attackers, grounds: [AttackGround], known: [AttackKnowledge]) {
        self.attack = attack
        self.attackers = attackers
        self.grounds = grounds
        self.known = known
    }

    mutating func begin() throws {
        guard let place = grounds.first?.place else { return }
        clients = try attack.begin(place, grounds.map(\.account), known)
    }

    /// Waits until the server has done to each attacker what it must.
    func waitUntilFelt() async {
        for own in clients {
            await #expect(throws: Never.self, "\(attack.testDescription) is no attack: \(Self.told(own))") {
                try await eventually("the server hears an attacker", within: attack.feltWithin) {
                    if !attack.reads { for client in own { client.takeAnswer() } }
                    return attack.isFelt(by: own, attackers)
                }
            }
        }
    }

    func stop() async {
        for client in clients.joined() { await client.stop() }
    }

    /// What its attackers were told.
    var told: HostileClient.Told { Self.told(Array(clients.joined())) }

    private static func told(_ clients: [any AttackingClient]) -> HostileClient.Told {
        clients.map { $0.told }.reduce(HostileClient.Told(), +)
    }
}
