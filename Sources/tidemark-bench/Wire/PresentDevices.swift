// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import TidemarkBytes
internal import TidemarkSockets
internal import TidemarkTransport
internal import TidemarkWebSocket
internal import TidemarkWire

/// Devices that are present in one zone, each of an account of its own, on one thread. Each publishes as often as it may.
///
/// The main thread uses it; its devices are confined to the loop.
final class PresentDevices: @unchecked Sendable {
    /// As often as a connection may.
    static let interval = Duration.milliseconds(100)
    /// Bytes of a state. The first eight say when it was published.
    static let stateByteCount = 100
    /// Whoever measures must cost little. So some devices read what they are pushed, and the others do not.
    private static let readerStride = 10
    private static let patience = DispatchTimeInterval.seconds(120)

    /// Who is present, and how it names the zone.
    struct Person {
        let credential: String
        let zone: MeasuredZone
    }

    struct Outcome: Sendable {
        var updateCount = 0
        /// From the moment at which a state is published to the one at which somebody else has it, in seconds.
        var deliveries: [Double] = []
    }

    private let loop: EventLoop
    private let signal = DispatchSemaphore(value: 0)

    // Confined to the loop, and read by the main thread while nothing is measured.

    private var devices: [PresentDevice] = []
    private var joinedCount = 0
    private var failure: String?
    private var outcome = Outcome()
    private var isMeasuring = false

    /// Returns when all are present.
    init(_ target: WireTarget, _ people: [Person]) throws {
        loop = try EventLoop(name: "present")
        let loop = loop
        loop.execute { [self] in
            devices = people.enumerated().map { index, person in
                PresentDevice(person, reads: index.isMultiple(of: Self.readerStride), on: loop, among: self)
            }
            for device in devices { device.connect(to: target) }
        }
        try awaitSignal()
        loop.execute { [self] in
            // They do not publish in step.
            for (index, device) in devices.enumerated() {
                device.begin(after: Self.interval * index / devices.count)
            }
        }
    }

    func stop() {
        loop.execute { [self] in
            for device in devices { device.close() }
            devices = []
        }
        loop.stop()
    }

    /// What happens in these seconds.
    func measure(seconds: Int) throws -> Outcome {
        loop.execute { [self] in
            (outcome, isMeasuring) = (Outcome(), true)
            _ = loop.schedule(after: .seconds(seconds)) { [self] in
                isMeasuring = false
                signal.signal()
            }
        }
        try awaitSignal()
        return outcome
    }

    private func awaitSignal() throws {
        guard signal.wait(timeout: .now() + Self.patience) == .success else {
            throw BenchError("The server does not answer.")
        }
        if let failure { throw BenchError("Presence failed: \(failure)") }
    }

    // MARK: On the loop

    func fail(_ reason: String) {
        guard failure == nil else { return }
        failure = reason
        signal.signal()
    }

    func joined() {
        joinedCount += 1
        if joinedCount == devices.count { signal.signal() }
    }

    func updated() {
        if isMeasuring { outcome.updateCount += 1 }
    }

    func delivered(after duration: Duration) {
        if isMeasuring { outcome.deliveries.append(duration / .seconds(1)) }
    }
}

/// One of them. Loop-confined.
private final class PresentDevice: MessageHandler, @unchecked Sendable {
    private let person: PresentDevices.Person
    private let reads: Bool
    private let loop: EventLoop
    private weak var all: PresentDevices?
    private var connection: MessageConnection?
    private var lastNumber: UInt64 = 1
    private var topic: UInt64 = 0
    private var member: UInt64 = 0
    private var dueAt = Duration.zero

    private static let helloNumber: UInt64 = 1
    private static let joinNumber: UInt64 = 2
    /// What an answer begins with. A push has no id, so it begins with another byte.
    private static let idTag = UInt8(truncatingIfNeeded: WireServerEnvelope.Tag.id)

    init(_ person: PresentDevices.Person, reads: Bool, on loop: EventLoop, among all: PresentDevices) {
        self.person = person
        self.reads = reads
        self.loop = loop
        self.all = all
    }

    func connect(to target: WireTarget) {
        connection = TransportClient.connect(on: loop, to: target.target, handler: self)
    }

    func close() {
        connection?.close()
        connection = nil
    }

    func begin(after delay: Duration) {
        dueAt = loop.now + delay
        publishLater()
    }

    private func publishLater() {
        _ = loop.schedule(after: max(.zero, dueAt - loop.now)) { [weak self] in
            guard let self, connection != nil else { return }
            publish()
            dueAt += PresentDevices.interval
            publishLater()
        }
    }

    private func publish() {
        lastNumber += 1
        var envelope = WireClientEnvelope()
        envelope.id = lastNumber
        envelope.publishPresence.topic = topic
        envelope.publishPresence.setsState = true
        envelope.publishPresence.state = Self.state(at: loop.now)
        connection?.send(.binary, envelope.encoded)
    }

    private func join() {
        lastNumber = Self.joinNumber
        var envelope = WireClientEnvelope()
        envelope.id = lastNumber
        envelope.joinPresence.database = person.zone.scope
        envelope.joinPresence.zone = person.zone.wire
        envelope.joinPresence.state = Self.state(at: loop.now)
        connection?.send(.binary, envelope.encoded)
    }

    private static func state(at moment: Duration) -> [UInt8] {
        let nanoseconds = UInt64(moment / .nanoseconds(1))
        let time = (0..<8).map { UInt8(truncatingIfNeeded: nanoseconds >> (8 * $0)) }
        return time + [UInt8](repeating: 0, count: PresentDevices.stateByteCount - time.count)
    }

    private static func moment(of state: [UInt8]) -> Duration? {
        guard state.count == PresentDevices.stateByteCount else { return nil }
        return .nanoseconds(Int64((0..<8).reduce(UInt64(0)) { $0 | UInt64(state[$1]) << (8 * UInt64($1)) }))
    }

    // MARK: MessageHandler

    func opened(_ connection: MessageConnection) {
        connection.send(.binary, WireRequest.hello(credential: person.credential))
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        guard reads || payload.withUnsafeBytes({ $0.first == Self.idTag }) else { return }
        guard let envelope = try? WireServerEnvelope(reading: payload.bytes) else {
            all?.fail("a message that is none")
            return
        }
        switch (envelope.id, envelope.answer) {
        case (_, .failure(let failure)): all?.fail("\(failure.code) \(failure.message)")
        case (0, .presence(let push)): take(push)
        case (0, _): break
        case (Self.helloNumber, .hello): join()
        case (Self.joinNumber, .joinPresence(let answer)):
            (topic, member) = (answer.topic, answer.member)
            all?.joined()
        case (_, .publishPresence): all?.updated()
        default: all?.fail("an answer that was not asked for")
        }
    }

    private func take(_ push: WirePresencePush) {
        // Whoever was left out is told all anew, also what it had before.
        guard reads, !push.isWhole else { return }
        let now = loop.now
        for other in push.members where other.number != member {
            if let moment = Self.moment(of: other.state) { all?.delivered(after: now - moment) }
        }
    }

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        self.connection = nil
        if case .local = reason { return }
        all?.fail("a connection ended: \(reason)")
    }
}
