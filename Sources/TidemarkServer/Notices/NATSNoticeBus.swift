// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkSockets
internal import TidemarkStore
internal import TidemarkTLS
internal import TidemarkTelemetry
internal import TidemarkTransport

/// A bus of servers of NATS: each message goes only to the servers whose devices need it.
///
/// It carries changes of zones alone. Whatever closes connections or asks servers goes by the database, so that nobody on the
/// bus can do more than make servers look.
final class NATSNoticeBus: NoticeBus, @unchecked Sendable {
    private let loop: EventLoop
    private let settings: NoticeBusSettings
    private let name: String
    private let context: TLSContext?
    private let lookUp: HostLookUp

    // Only the loop's thread touches the following.
    private var subscriptions: NATSSubscriptions
    private var connection: NATSConnection?
    private var isOpen = false
    /// Changes of the subscriptions while a server of NATS was greeted. They are sent when it has answered.
    private var later: [UInt8] = []
    private var isStarted = false
    private var isStopped = false
    private var backOff = BackOff()
    /// The index of the next server. Our servers begin at different ones.
    private var turn: Int
    private var timer: ScheduledTimer?
    private var onNotices: (@Sendable ([ServerNotice]) -> Void)?
    private var onGap: (@Sendable () -> Void)?

    /// - Parameter name: of this server, for those who operate the bus.
    init(
        on loop: EventLoop, _ settings: NoticeBusSettings, name: String,
        subscriptionsMax: Int = NATSSubscriptions.standardCountMax,
        lookUp: @escaping HostLookUp = Resolver.resolve(host:port:completion:)
    ) throws(ServerError) {
        self.loop = loop
        self.settings = settings
        self.name = name
        self.lookUp = lookUp
        subscriptions = NATSSubscriptions(prefix: settings.prefix, countMax: subscriptionsMax)
        turn = Int(loop.randomBits() % UInt64(settings.places.count))
        guard settings.isSecured else {
            context = nil
            return
        }
        do {
            context = try TLSContext(
                client: .init(additionalRootsFile: settings.authorityFile, applicationProtocols: ["nats"]))
        } catch {
            throw ServerError(.noticeBusAuthorityUnusable, detail: error.debugDescription, underlying: error)
        }
    }

    /// A message costs the same however many servers there are.
    var pace: PostingPace { .quickest }
    var returnsOwn: Bool { false }

    func publish(_ notices: [ServerNotice]) async -> Bool {
        await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: self.publishNow(notices)) }
        }
    }

    private func publishNow(_ notices: [ServerNotice]) -> Bool {
        var zones: [DatabaseID: [ServerNotice]] = [:]
        for case .zone(let zone) in notices { zones[zone.database, default: []].append(.zone(zone)) }
        var messages: [UInt8] = []
        var count = 0
        for (database, notices) in zones.sorted(by: { $0.key < $1.key }) {
            for payload in NoticePayload.encode(notices) {
                messages += NATSMachine.publish(payload.utf8, to: subscriptions.subject(of: database))
                count += 1
            }
        }
        guard isOpen, let connection, connection.send(messages) else {
            NoticeBusMetrics.shared.dropped.increment(by: count)
            return false
        }
        NoticeBusMetrics.shared.messages.increment(.out, by: count)
        return true
    }

    func follow(_ topics: [BusTopic]) {
        let databases = Self.databases(of: topics)
        guard !databases.isEmpty else { return }
        loop.execute { self.send(self.subscriptions.follow(databases)) }
    }

    func leave(_ topics: [BusTopic]) {
        let databases = Self.databases(of: topics)
        guard !databases.isEmpty else { return }
        loop.execute { self.send(self.subscriptions.leave(databases)) }
    }

    private static func databases(of topics: [BusTopic]) -> [DatabaseID] {
        topics.compactMap { if case .database(let database) = $0 { database } else { nil } }
    }

    /// As many bytes as one follows and leaves in seconds.
    private static let laterBytesMax = 1_048_576

    /// A new connection begins with all of them. So one that cannot take them in is given up.
    private func send(_ bytes: [UInt8]) {
        guard let connection, !bytes.isEmpty else { return }
        if isOpen {
            guard !connection.send(bytes) else { return }
        } else {
            later += bytes
            guard later.count > Self.laterBytesMax else { return }
        }
        connection.close()
        ended(.silent)
    }

    func start(
        onNotices: @escaping @Sendable ([ServerNotice]) -> Void, onGap: @escaping @Sendable () -> Void
    ) {
        loop.execute {
            guard !self.isStarted else { return }
            self.isStarted = true
            self.onNotices = onNotices
            self.onGap = onGap
            self.connect()
        }
    }

    func stop() {
        loop.execute {
            self.isStopped = true
            self.timer?.cancel()
            self.closed()
            self.connection?.close()
            self.connection = nil
        }
    }

    // MARK: The connection

    private func connect() {
        guard !isStopped else { return }
        let place = settings.places[turn % settings.places.count]
        turn += 1
        let connection = NATSConnection(
            on: loop, to: place, context: context, lookUp: lookUp,
            greeting: { [unowned self] in
                // It has all that there are now.
                later = []
                return NATSMachine.hello(name: name, secret: settings.secret, isSecured: settings.isSecured)
                    + subscriptions.all
            },
            onEvent: { [weak self] in self?.take($0) })
        self.connection = connection
        connection.start()
    }

    private func take(_ event: NATSConnection.Event) {
        guard !isStopped else { return }
        switch event {
        case .opened:
            isOpen = true
            let bytes = later
            later = []
            send(bytes)
            guard isOpen else { return }
            NoticeBusMetrics.shared.connected.set(1)
            NoticeBusMetrics.shared.gaps.increment()
            onGap?()
        // NB: not when it has opened. One that opens and closes again and again makes servers look each time.
        case .alive: backOff.reset()
        case .heard(let subject, let payload): hear(payload, on: subject)
        case .passedOver: NoticeBusMetrics.shared.dropped.increment()
        case .denied(let text):
            if text.lowercased().contains("publish") { NoticeBusMetrics.shared.dropped.increment() }
            FailureLog.shared.note(
                .warning, "the notice bus denies a right", cause: "denied",
                ["error": text, "advice": "allow this user to publish and subscribe to \(settings.prefix).>"],
                request: nil)
        case .ended(let failure): ended(failure)
        }
    }

    /// Anybody with rights on the bus may have sent it. So it must be what this subject is for.
    private func hear(_ payload: [UInt8], on subject: String) {
        guard let database = subscriptions.database(of: subject) else {
            return NoticeBusMetrics.shared.dropped.increment()
        }
        let zones = NoticePayload.decode(String(decoding: payload, as: UTF8.self)).filter { notice in
            if case .zone(let zone) = notice { zone.database == database } else { false }
        }
        guard !zones.isEmpty else { return NoticeBusMetrics.shared.dropped.increment() }
        NoticeBusMetrics.shared.messages.increment(.in)
        onNotices?(zones)
    }

    private func ended(_ failure: NATSFailure) {
        closed()
        connection = nil
        var pairs = ["error": failure.kind, "advice": failure.advice]
        if case .refused(let text) = failure { pairs["error"] = text }
        FailureLog.shared.note(
            .warning, "the notice bus cannot be used", cause: failure.kind, pairs, request: nil)
        guard !isStopped else { return }
        // Servers that lost the same one do not come to the next in step.
        timer = loop.schedule(after: backOff.next(randomBits: loop.randomBits())) { [weak self] in self?.connect() }
    }

    private func closed() {
        isOpen = false
        later = []
        NoticeBusMetrics.shared.connected.set(0)
    }
}
