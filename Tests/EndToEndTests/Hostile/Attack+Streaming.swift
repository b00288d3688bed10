// SPDX-License-Identifier: Apache-2.0

import TidemarkBytes
import TidemarkTestSupport
import TidemarkWebSocket
import TidemarkWire

/// Attacks below the level of requests: by TLS, HTTP and WebSocket, and by what is read of an answer.
///
/// The server agrees to no compression, so none of them is a bomb: a compressed frame ends the connection.
extension Attack {
    static let streaming = [
        lastBytes, crowdedSubscriptions, keyUpdatesFirst, keyUpdatesInSessions, healthQuestions, pipelines, hugeHeads,
        halfHeads, emptyFragments, pings,
    ]

    private static let head = Array("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)

    /// Each asks for three answers of four megabytes, takes a part of the first, and lets the rest wait. A message keeps its memory until all of it
    /// was sent. If only what is left of it counted, 40 of them would not be too much, and none would be cut off.
    private static let lastBytes = Attack(
        testDescription: "answers that are read in part", connections: 40, isShared: true, underWay: 0,
        course: StreamCourse(
            opening: .session, first: { scope in (1...3).flatMap { RawPeer.frame(.binary, largeAnswer(scope, $0)) } },
            // The server's kernel takes two to four megabytes more, and ours no more than this.
            readBytesMax: 500_000,
            receiveBufferBytes: 65_536, host: 2),
        // Sooner than a connection ends of which nothing is taken for long.
        feltWithin: .seconds(15), byNobody: .onPublicRecords,
        prepare: { database, _ in try await fill(database, "partial", count: 5, textBytes: 800_000) }
    ) { _, _ in }

    private static func largeAnswer(_ scope: WireDatabaseScope, _ number: UInt64) -> [UInt8] {
        var envelope = WireClientEnvelope()
        envelope.id = HostileClient.helloID + number
        envelope.fetchRecords = fetch((0..<5).map { "partial \($0)" }, scope)
        return envelope.encoded
    }

    /// Two devices in each of many containers, which all have subscriptions of a megabyte, and are told of all of them. If an
    /// event loop remembered what it has read, two loops would take 340 MiB.
    private static let crowdedSubscriptions = Attack(
        testDescription: "an account's subscriptions in 150 containers", connections: 300, isShared: true, underWay: 0,
        course: StreamCourse(opening: .session, host: 11, stagger: .milliseconds(10), must: .beTold),
        byNobody: .none("nobody has subscriptions"),
        prepare: { database, _ in
            try await subscribe(database, count: 1, text: String(repeating: "x", count: 4_000))
        },
        arrange: { try $0.subscribeInContainers() },
        enter: {
            let connection = Int($0.device[0]) + Int($0.device[1]) << 8
            $0.container = AttackGround.containerPrefix(of: Int($0.device[2]) - 1) + "\(connection / 2)"
        }
    ) { _, _ in }

    // without a bound for the steps of handshakes, nobody would be cut off who updates keys.

    private static let keyUpdatesFirst = Attack(
        testDescription: "key updates instead of a request", company: .keys, underWay: 0,
        course: StreamCourse(opening: .bytes([]), flood: .keyUpdates, host: 3), isEncrypted: true
    ) { _, _ in }

    private static let keyUpdatesInSessions = Attack(
        testDescription: "key updates in sessions", company: .keys, underWay: 0,
        course: StreamCourse(opening: .session, flood: .keyUpdates, host: 4), isEncrypted: true
    ) { _, _ in }

    /// The server answers by what it has found out itself. If each question went to the store, the neighbour would wait for
    /// thousands of them, and longer than a campaign allows.
    private static let healthQuestions = Attack(
        testDescription: "questions for health", company: .questions, connections: 40, isShared: true, underWay: 0,
        course: StreamCourse(opening: .bytes(head), host: 5, pause: .milliseconds(5))
    ) { _, _ in }

    /// The answers are not read. If each request of a connection were answered, and not the first alone, nobody would be
    /// cut off until all that waits is too much.
    private static let pipelines = Attack(
        testDescription: "requests of HTTP one after the other", company: .questions, underWay: 0,
        course: StreamCourse(
            opening: .bytes(head), flood: .bytes(Array(repeatElement(head, count: 1_500).joined())), readBytesMax: 0,
            host: 6)
    ) { _, _ in }

    /// If a head had no bound (I-7), the server would grow by all that comes in the ten seconds of a handshake.
    private static let hugeHeads = Attack(
        testDescription: "heads without an end", company: .heads, underWay: 0,
        course: StreamCourse(
            opening: .bytes(RawPeer.upgrade("/", subprotocol: "tidemark.v1").dropLast(2) + Array("X-Long: ".utf8)),
            flood: .bytes([UInt8](repeating: UInt8(ascii: "x"), count: 65_536)), readBytesMax: 0, host: 7)
    ) { _, _ in }

    /// More than the server's connections. If newcomers had no bound of their own, they would take all places, and
    /// the neighbour would be refused.
    private static let halfHeads = Attack(
        testDescription: "halves of heads", company: .heads, connections: 560, isShared: true, underWay: 0,
        course: StreamCourse(
            opening: .bytes(Array("GET / HTTP/1.1\r\nHost: localhost\r\n".utf8)), host: 8, pause: .milliseconds(200)),
        options: ["--connections", "512"]
    ) { _, _ in }

    /// If they were not counted (`MessageLimits.emptyFragmentCountMax`), nobody would be cut off.
    private static let emptyFragments = Attack(
        testDescription: "fragments without bytes", company: .streams, underWay: 0,
        course: StreamCourse(
            opening: .session, first: { _ in RawPeer.frame(.binary, isFinal: false) },
            flood: .bytes(Array(repeatElement(RawPeer.frame(.continuation, isFinal: false), count: 5_000).joined())),
            host: 9)
    ) { _, _ in }

    /// Between the parts of a message. The pongs are not read. If each ping were answered, and not the newest alone, the
    /// pongs of all would be more than the memory that the server may take, or it would cut off who sends them.
    private static let pings = Attack(
        testDescription: "fragments of one byte with pings between them", company: .streams, underWay: 0,
        course: StreamCourse(
            opening: .session, first: { _ in RawPeer.frame(.binary, [1], isFinal: false) },
            flood: .bytes(Array(repeatElement(pingAndFragment, count: 500).joined())), readBytesMax: 0, host: 10,
            must: .enter)
    ) { _, _ in }

    private static let pingAndFragment =
        RawPeer.frame(.ping, [UInt8](repeating: 1, count: 125)) + RawPeer.frame(.continuation, [1], isFinal: false)
}
