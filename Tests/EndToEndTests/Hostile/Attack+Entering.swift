// SPDX-License-Identifier: Apache-2.0

import TidemarkBytes
import TidemarkTestSupport
import TidemarkWebSocket
import TidemarkWire

/// Attacks by those who want in: with tokens of a provider that it has not made, and at the address of operators.
extension Attack {
    static let entering = [madeUpTokens, wrongOperators, silentOperators, busyChannels]

    /// Each with each connection. Without TLS the server does not know from where they come, so nobody has to wait for the next
    /// try (R-926). If a token with an unknown key asked the provider each time, or its wait held a place (R-922), the
    /// neighbour could not sign in.
    private static let madeUpTokens = Attack(
        testDescription: "tokens that the provider has not made", company: .doors, connections: 100, isShared: true,
        underWay: 0, takesTokens: true, enters: false,
        enter: { $0.credential = AttackProvider.tokens.randomElement() ?? "" }
    ) { _, _ in }

    /// More than the connections of that address. If they gave way to nobody, or took the place of whoever comes from elsewhere,
    /// the neighbour's operator would be kept out.
    private static let wrongOperators = Attack(
        testDescription: "credentials that no operator has", company: .doors, connections: 300, isShared: true,
        underWay: 0,
        course: StreamCourse(
            opening: .bytes(
                RawPeer.upgrade("/admin", subprotocol: "tidemark.operator.v1")
                    + RawPeer.frame(.binary, operatorsHello("nobody's"))),
            host: 12),
        isOnOperators: true
    ) { _, _ in }

    private static let silentOperators = Attack(
        testDescription: "operators who say nothing", company: .doors, connections: 300, isShared: true, underWay: 0,
        course: StreamCourse(
            opening: .bytes(RawPeer.upgrade("/admin", subprotocol: "tidemark.operator.v1")), host: 13,
            pause: .milliseconds(200)),
        isOnOperators: true
    ) { _, _ in }

    /// A later version may have such messages, so they are passed over. If they had no bound, nobody would be cut off, and
    /// operators would wait for them.
    private static let busyChannels = Attack(
        testDescription: "users of cktool whose messages say nothing", company: .doors, underWay: 0,
        course: StreamCourse(
            opening: .channel, flood: .bytes(Array(repeatElement(RawPeer.frame(.binary), count: 5_000).joined())),
            host: 14),
        isOnOperators: true
    ) { _, _ in }

    /// What somebody says first at the address of operators.
    static func operatorsHello(_ credential: String) -> [UInt8] {
        var message = WireOperatorClientMessage()
        message.hello.credential = Array(credential.utf8)
        return message.encoded
    }
}

/// The identity provider of an attacked server, and two that sign tokens in its name.
enum AttackProvider {
    private static let provider = TokenSigner()
    private static let impostor = TokenSigner(keyID: provider.keyID)
    private static let withOtherKey = TokenSigner(keyID: "another key")

    /// Which no server takes.
    static let tokens: [String] = {
        let subjects = (0..<32).map { "somebody \($0)" }
        let manyClaims = (0..<600).map { #""claim\#($0)":\#($0)"# }
        return subjects.map { impostor.token($0) } + subjects.map { withOtherKey.token($0) }
            + subjects.map { provider.token($0, lifetime: -3_600) }
            + (0..<8).map { impostor.token("long \($0)", claims: manyClaims) }
            + ["a.b." + String(repeating: "c", count: 60_000)]
    }()

    /// Of a server that takes the provider's own tokens.
    static func options(in directory: TestDirectory) throws -> [String] {
        ["--issuers", try provider.issuersFile(in: directory)]
    }
}
