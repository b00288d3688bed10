// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import TidemarkSockets
internal import TidemarkTransport
internal import TidemarkWebSocket
internal import TidemarkWire

/// Devices in use, on one thread: each saves a record now and then. A server that restarts sends them away, and they go on at
/// another one.
///
/// The main thread uses it; its devices are confined to the loop.
final class MovingDevices: @unchecked Sendable {
    /// Between the answer to a save and the next one.
    fileprivate static let pause = Duration.milliseconds(500)
    private static let patience = DispatchTimeInterval.seconds(120)

    /// Who uses a device, and where it saves.
    struct Place {
        let credential: String
        let zone: MeasuredZone
    }

    private let loop: EventLoop
    private let signal = DispatchSemaphore(value: 0)

    // Confined to the loop, and read by the main thread while no device moves.

    private var devices: [MovingDevice] = []
    /// How long each had no answer when it moved last, or when it came, in seconds: to the next answered save from the end of a
    /// connection, or from its first attempt.
    private(set) var gaps: [Double] = []
    private var failure: String?
    /// Where devices connect next.
    fileprivate private(set) var target: WireTarget

    /// Returns when each has saved a record.
    init(_ target: WireTarget, _ places: [Place]) throws {
        self.target = target
        loop = try EventLoop(name: "moving")
        let loop = loop
        loop.execute { [self] in
            devices = places.map { MovingDevice($0, on: loop, among: self) }
            for device in devices { device.connect() }
        }
        try awaitSignal()
    }

    func stop() {
        loop.execute { [self] in
            for device in devices { device.close() }
            devices = []
        }
        loop.stop()
    }

    /// Devices connect here from now on.
    func turn(to target: WireTarget) {
        loop.execute { [self] in self.target = target }
    }

    /// Waits until all have moved: once for each time.
    func awaitMoves() throws {
        try awaitSignal()
    }

    private func awaitSignal() throws {
        guard signal.wait(timeout: .now() + Self.patience) == .success else {
            throw BenchError("The server does not answer.")
        }
        if let failure { throw BenchError("A device could not move: \(failure)") }
    }

    // MARK: On the loop

    fileprivate func fail(_ reason: String) {
        guard failure == nil else { return }
        failure = reason
        signal.signal()
    }

    fileprivate func arrived(after gap: Duration) {
        if gaps.count == devices.count { gaps = [] }
        gaps.append(gap / .seconds(1))
        if gaps.count == devices.count { signal.signal() }
    }
}

/// One of them. Loop-confined.
private final class MovingDevice: MessageHandler, @unchecked Sendable {
    private let place: MovingDevices.Place
    private let loop: EventLoop
    private weak var all: MovingDevices?
    private let records = RecordSupply()
    private var connection: MessageConnection?
    /// Since when it has had no answer; nil: it does not move.
    private var leftAt: Duration?
    private var lastNumber: UInt64 = 1
    /// Of the save under way.
    private var save: SaveMessage?
    /// How many connections have ended. A pause that began on one of them counts no longer.
    private var endCount = 0

    /// The close code of a server that restarts (RFC 6455's registry: service restart).
    private static let restarting: UInt16 = 1012

    init(_ place: MovingDevices.Place, on loop: EventLoop, among all: MovingDevices) {
        self.place = place
        self.loop = loop
        self.all = all
    }

    func connect() {
        guard let all else { return }
        if leftAt == nil { leftAt = loop.now }
        lastNumber = 1
        connection = TransportClient.connect(on: loop, to: all.target.target, handler: self)
    }

    func close() {
        connection?.close()
        connection = nil
    }

    /// Sends the save that has no answer, or the next one.
    private func sendSave() {
        guard let connection, connection.isOpen, let next = save ?? records.following(1).first else { return }
        save = next
        lastNumber += 1
        var stamp = WireRequestStamp()
        (stamp.counter, stamp.lowestUnanswered, stamp.epoch) = (lastNumber, lastNumber, 1)
        let request = WireRequest.saves([next], in: place.zone)
        connection.send(.binary, request.envelope(id: lastNumber, stamp: stamp, tags: [:]))
    }

    // MARK: MessageHandler

    func opened(_ connection: MessageConnection) {
        connection.send(.binary, WireRequest.hello(credential: place.credential))
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        guard let answer = payload.withUnsafeBytes({ WireAnswer($0) }) else {
            all?.fail("a message that is no answer")
            return
        }
        if let failure = answer.failure { return all?.fail(failure) ?? () }
        guard answer.id != 1 else { return sendSave() }
        guard answer.id == lastNumber, save != nil else {
            all?.fail("an answer to nothing")
            return
        }
        save = nil
        if let leftAt {
            self.leftAt = nil
            all?.arrived(after: loop.now - leftAt)
        }
        let count = endCount
        _ = loop.schedule(after: MovingDevices.pause) { [weak self] in
            if let self, endCount == count { sendSave() }
        }
    }

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        self.connection = nil
        endCount += 1
        switch reason {
        case .local: break
        case .peer(let code, _) where code?.rawValue == Self.restarting: connect()
        case .peer, .failed: all?.fail("a connection ended: \(reason)")
        }
    }
}
