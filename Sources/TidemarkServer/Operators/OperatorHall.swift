// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkHTTP
internal import TidemarkScheduling
internal import TidemarkService
internal import TidemarkSessions
internal import TidemarkSockets
internal import TidemarkStore
internal import TidemarkTelemetry
internal import TidemarkTransport
internal import TidemarkWebSocket

/// The operators who are connected to a server: who may come in, how many commands run, and whose credentials are still
/// valid. Loop-confined; Sendable so that work on the loop can capture it.
final class OperatorHall: @unchecked Sendable {
    /// The path of the channel, and the subprotocol: the version of its protocol.
    static let path = "/admin"
    static let subprotocol = "tidemark.operator.v1"
    /// Of `refused` in the table of exit statuses.
    static let refusedStatus: Int32 = 5
    /// More than commands run at once (``OperatorPlaces``), because channels come and go.
    static let channelsOfOperatorMax = 16
    /// So many looks at credentials may fail one after the other: with the usual interval that is a minute.
    private static let failedChecksMax = 12
    private static let log = Log("operators")

    let loop: EventLoop
    let commands: any OperatorCommands
    let databaseURL: String
    let limits: Limits
    /// Where the long queries of all operators take turns, apart from those of apps: neither waits for the other's.
    let longQueries: FairGate
    /// How long a channel may take until its command begins.
    let commandDeadline = Duration.seconds(10)
    private let storage: PostgresStorage
    private let checkInterval: Duration
    private let refusals: SharedRefusals
    private var channels: [ObjectIdentifier: OperatorConnection] = [:]
    private var places = OperatorPlaces()
    private var isChecking = false
    private var failedChecks = 0
    private var isStopped = false

    init(
        loop: EventLoop, storage: PostgresStorage, commands: any OperatorCommands, _ configuration: ServerConfiguration
    ) {
        self.loop = loop
        self.storage = storage
        self.commands = commands
        databaseURL = configuration.databaseURL
        checkInterval = configuration.operators.checkInterval
        refusals = configuration.refusals
        longQueries = PostgresStorage.longQueryTurns(1, within: configuration.limits, on: loop)
        limits = configuration.limits
    }

    /// Decides on a request.
    func accept(_ head: RequestHead, from address: SocketAddress) -> AcceptDecision {
        guard head.path == Self.path else { return .response(.answer(head, found: nil)) }
        // A page in an operator's browser must not even try.
        guard head.fields.values("Origin").isEmpty else {
            return .response(.text(.forbidden, "Web pages give no commands here."))
        }
        let offer = ServerHandshake.Offer(subprotocols: [Self.subprotocol], requiresSubprotocol: true)
        return .webSocket(offer, OperatorConnection(hall: self, address: address.host))
    }

    /// - Returns: false if the server stops.
    func enter(_ channel: OperatorConnection) -> Bool {
        guard !isStopped else { return false }
        channels[ObjectIdentifier(channel)] = channel
        return true
    }

    func leave(_ channel: OperatorConnection) { channels[ObjectIdentifier(channel)] = nil }

    /// Whether an operator may have one more channel. Nobody shall take those of all others.
    func admits(_ sender: SignedInOperator) -> Bool {
        channels.values.count { $0.sender?.id == sender.id } < Self.channelsOfOperatorMax
    }

    // MARK: Credentials

    /// Whose a credential is.
    enum SignInAnswer {
        case known(SignedInOperator)
        case nobody
        /// The store cannot say.
        case failed
    }

    func signIn(_ credential: [UInt8], from address: String, client: String) async -> SignInAnswer {
        do {
            let found = try await AdminStore(storage).signIn(
                credentialHash: Credential.hash(credential),
                now: Timestamp(milliseconds: loop.wallClockMilliseconds))
            guard let found else {
                FailureLog.shared.note(
                    .warning, "an operator was refused", cause: "no operator has this credential",
                    ["address": address], request: nil)
                noteRefusal(from: address)
                return .nobody
            }
            failedChecks = 0
            Self.log.info("an operator signed in", ["operator": found.name, "role": found.role.name])
            Self.log.debug("from", ["operator": found.name, "address": address, "client": client])
            checkLater()
            return .known(found)
        } catch {
            error.note()
            return .failed
        }
    }

    /// Somebody who tries credentials is in the audit, as far as its bounds for refused sign-ins allow (R-860). Nobody waits
    /// for it.
    private func noteRefusal(from address: String) {
        guard refusals.take(address, now: loop.now) else { return }
        let action = AuditAction(who: "", address: address, action: "operators sign-in", target: "")
        loop.run { [storage] in
            let store = AdminStore(storage)
            do throws(StorageError) {
                let id = try await store.beginAudit(action)
                try await store.endAudit(id, failure: "No operator has this credential.")
            } catch {
                error.note()
            }
        }
    }

    /// Looks at the credentials of open channels at intervals, as long as there are any.
    private func checkLater() {
        guard !isChecking, !isStopped else { return }
        isChecking = true
        _ = loop.schedule(after: checkInterval) { [weak self] in
            guard let self else { return }
            loop.run { [self] in
                await check()
                isChecking = false
                if !channels.isEmpty { checkLater() }
            }
        }
    }

    private func check() async {
        let open = channels.values.filter { $0.sender != nil }
        guard !open.isEmpty, !isStopped else { return }
        do {
            let valid = try await AdminStore(storage).validOperatorCredentials(
                among: open.compactMap { $0.sender?.credential },
                now: Timestamp(milliseconds: loop.wallClockMilliseconds))
            failedChecks = 0
            for channel in open {
                guard let sender = channel.sender else { continue }
                // Whoever lost rights must not go on with a command that needs them.
                if let role = valid[sender.credential], role >= sender.role { continue }
                Self.log.info("an operator's channel is closed: the credential is not valid", ["operator": sender.name])
                channel.revoke()
            }
        } catch {
            error.note()
            failedChecks += 1
            // Commands have connections of their own, and may go on while this one gets no answer.
            guard failedChecks >= Self.failedChecksMax else { return }
            for channel in open { channel.uncheck() }
        }
    }

    // MARK: Commands

    /// Takes a place for a command.
    ///
    /// - Returns: why there is none; nil: it has one.
    func take(_ sender: SignedInOperator) -> String? { places.take(sender.id) }

    func giveBack(_ sender: SignedInOperator) { places.giveBack(sender.id) }

    // MARK: The end

    /// Ends all commands and closes all channels. Returns when no command runs any more.
    func stop() async {
        isStopped = true
        let open = Array(channels.values)
        for channel in open { channel.stop() }
        for channel in open { await channel.waitForCommand() }
        await storage.stop()
    }
}

/// How many commands of operators run at once. Each has a thread and a few connections to PostgreSQL.
struct OperatorPlaces {
    static let placesMax = 8

    private var taken: [OperatorID: Int] = [:]

    /// - Returns: why there is no place; nil: it has one.
    mutating func take(_ id: OperatorID) -> String? {
        let own = taken[id, default: 0]
        let all = taken.values.reduce(0, +)
        guard all < Self.placesMax else {
            return "This server runs \(Self.placesMax) commands of operators. Try again later."
        }
        // Half of what others leave: 4, 2, 1 and 1. So a newcomer finds a place beside up to three operators.
        guard own < max(1, (Self.placesMax - (all - own)) / 2) else {
            return
                "You run \(own) \(own == 1 ? "command" : "commands") on this server already, and other operators need the "
                + "rest. Wait until one has ended, or end one."
        }
        taken[id] = own + 1
        return nil
    }

    mutating func giveBack(_ id: OperatorID) {
        guard let own = taken[id] else { return }
        taken[id] = own > 1 ? own - 1 : nil
    }
}
