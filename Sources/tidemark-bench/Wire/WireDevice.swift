// SPDX-License-Identifier: Apache-2.0

internal import TidemarkSockets
internal import TidemarkTransport
internal import TidemarkWebSocket
internal import TidemarkWire

/// A device that speaks the protocol and stores nothing. Loop-confined.
final class WireDevice: MessageHandler, @unchecked Sendable {
    let zone: MeasuredZone
    /// The token of the zone's feed so far; empty at its beginning.
    private(set) var token: [UInt8] = []
    /// That of the database's feed.
    private(set) var databaseToken: [UInt8] = []
    private(set) var isReady = false
    private let credential: String
    private let container: String
    private let loop: EventLoop
    private weak var fleet: WireFleet?
    private var connection: MessageConnection?
    /// When each request under way was sent, by its number.
    private var starts: [UInt64: Duration] = [:]
    /// What each of them saves.
    private var savedNames: [UInt64: [String]] = [:]
    /// Of the records that the device has saved: it names the version that it changes, as an app does. Otherwise each
    /// answer would bring the record.
    private var tags: [String: [UInt8]] = [:]
    private var lastNumber: UInt64 = 1

    init(zone: MeasuredZone, credential: String, container: String, loop: EventLoop, fleet: WireFleet) {
        self.zone = zone
        self.credential = credential
        self.container = container
        self.loop = loop
        self.fleet = fleet
    }

    func connect(to target: WireTarget) {
        connection = TransportClient.connect(on: loop, to: target.target, handler: self)
    }

    func close() {
        connection?.close()
    }

    var underWayCount: Int { starts.count }

    func send(_ request: WireRequest) {
        lastNumber += 1
        var stamp = WireRequestStamp()
        stamp.counter = lastNumber
        stamp.lowestUnanswered = starts.keys.min() ?? lastNumber
        // A first sending, whose epoch does not matter.
        stamp.epoch = 1
        starts[lastNumber] = loop.now
        savedNames[lastNumber] = request.savedNames
        connection?.send(.binary, request.envelope(id: lastNumber, stamp: stamp, tags: tags))
    }

    // MARK: MessageHandler

    func opened(_ connection: MessageConnection) {
        connection.send(.binary, WireRequest.hello(credential: credential, container: container))
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        guard let answer = payload.withUnsafeBytes({ WireAnswer($0) }) else {
            fleet?.fail("a message that is no answer")
            return
        }
        if let failure = answer.failure { return fleet?.fail(failure) ?? () }
        guard isReady else { return takeGreeting(answer) }
        guard let start = starts.removeValue(forKey: answer.id) else {
            fleet?.fail("an answer to nothing")
            return
        }
        let names = savedNames.removeValue(forKey: answer.id) ?? []
        for (name, tag) in zip(names, answer.savedTags) { tags[name] = tag }
        if let page = answer.page { token = page.isLast ? [] : page.token }
        if let page = answer.databaseFeed { databaseToken = page.token }
        let page = answer.page ?? answer.databaseFeed
        fleet?.answered(self, after: loop.now - start, recordCount: page?.recordCount ?? 0)
    }

    private func takeGreeting(_ answer: WireAnswer) {
        if answer.id == 1, zone.isOwn {
            send(.createZone(zone.name))
        } else {
            (starts, savedNames) = ([:], [:])
            isReady = true
            fleet?.becameReady()
        }
    }

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        self.connection = nil
        if case .local = reason { return }
        fleet?.fail("a connection ended: \(reason)")
    }
}
