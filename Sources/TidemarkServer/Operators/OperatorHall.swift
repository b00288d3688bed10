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

/// The operators who are connected to a server, and the users of `cktool`: who may enter, how many commands run, and whose credentials are
/// still valid. Loop-confined; Sendable so that work on the loop can capture it.
final class OperatorHall: @unchecked Sendable {
    /// The kinds of clients that may enter. A client names it by the subprotocol, before it has shown a credential, and
    /// it does not change.
    enum Door: String, Sendable {
        /// The version of the protocol.
        case operators = "tidemark.operator.v1"
        /// The same messages. The credential is an account's, and opens the commands of its records (R-899).
        case users = "tidemark.user.v1"

        /// The door in a request, which may name both.
        init(_ head: RequestHead) {
            let wanted = head.fields.tokens("Sec-WebSocket-Protocol") ?? []
            self = wanted.contains(Door.users.rawValue) ? .users : .operators
        }
    }

    /// The path of the channel.
    static let path = "/admin"
    /// The status `refused` of the table of exit statuses.
    static let refusedStatus: Int32 = 5
    /// More than commands run at once (``CommandPlaces``), because channels come and go.
    static let channelsOfOperatorMax = 16
    /// Likewise of a user, and of all users together: operators keep most of the connections.
    static let channelsOfUserMax = 4
    static let channelsOfUsersMax = 64
    /// So many looks at credentials may fail one after the other: with the usual interval that is a minute.
    private static let failedChecksMax = 12
    private static let log = Log("operators")

    let loop: EventLoop
    let commands: any OperatorCommands
    let databaseURL: String
    let limits: Limits
    let connections: ConnectionLimits
    /// Where the long queries of all operators take turns, apart from those of apps: neither waits for the other's.
    private let longQueries: FairGate
    /// Likewise of all users.
    private let longQueriesOfUsers: FairGate
    /// Nil: the server stores no assets.
    let assetDirectory: String?
    /// How long a channel may take until its command begins.
    let commandDeadline = Duration.seconds(10)
    /// As `patienceStep` and `patienceStepsMax` of `OperatorSettings`. Operators are known, and may take their time.
    let patienceStep: Duration
    let patienceStepsMax: Int
    private let storage: PostgresStorage
    private let checkInterval: Duration
    private let refusals: SharedRefusals
    private var channels: [ObjectIdentifier: OperatorConnection] = [:]
    private var places = CommandPlaces<OperatorID>.ofOperators
    private var placesOfUsers = CommandPlaces<AccountID>.ofUsers
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
        patienceStep = configuration.operators.patienceStep
        patienceStepsMax = configuration.operators.patienceStepsMax
        refusals = configuration.refusals
        longQueries = PostgresStorage.longQueryTurns(1, within: configuration.limits, on: loop)
        longQueriesOfUsers = PostgresStorage.longQueryTurns(1, within: configuration.limits, on: loop)
        assetDirectory = configuration.assetDirectory
        limits = configuration.limits
        connections = configuration.connectionLimits(isPlain: configuration.certificate == nil)
    }

    /// Decides on a request.
    func accept(_ head: RequestHead, from address: SocketAddress) -> AcceptDecision {
        guard head.path == Self.path else { return .response(.answer(head, found: nil)) }
        // A page in an operator's browser must not even try.
        guard head.fields.values("Origin").isEmpty else {
            return .response(.text(.forbidden, "Web pages give no commands here."))
        }
        let door = Door(head)
        let offer = ServerHandshake.Offer(subprotocols: [door.rawValue], requiresSubprotocol: true)
        return .webSocket(offer, OperatorConnection(hall: self, door, address: address.host))
    }

    /// - Returns: false if the server stops.
    func enter(_ channel: OperatorConnection) -> Bool {
        guard !isStopped else { return false }
        channels[ObjectIdentifier(channel)] = channel
        return true
    }

    func leave(_ channel: OperatorConnection) { channels[ObjectIdentifier(channel)] = nil }

    /// Whether somebody may have one more channel. Nobody shall take those of all others.
    func admits(_ sender: ChannelSender) -> Bool {
        switch sender {
        case .operator(let found):
            return channels.values.count { $0.signedInOperator?.id == found.id } < Self.channelsOfOperatorMax
        case .user(let found):
            let accounts = channels.values.compactMap { $0.signedInAccount?.account }
            return accounts.count < Self.channelsOfUsersMax
                && accounts.count { $0 == found.account } < Self.channelsOfUserMax
        }
    }

    // MARK: Credentials

    /// The owner of a credential.
    enum SignInAnswer {
        case known(ChannelSender)
        case nobody
        /// The store cannot say.
        case failed
    }

    /// - Parameter door: a credential of an operator opens only that of operators, and one of an account only that of users.
    func signIn(
        _ credential: [UInt8], at door: Door, from address: String, client: String
    ) async -> SignInAnswer {
        do {
            guard let found = try await sender(of: Credential.hash(credential), at: door) else {
                FailureLog.shared.note(
                    .warning, door == .operators ? "an operator was refused" : "a user of cktool was refused",
                    cause: door.refusal, ["address": address], request: nil)
                noteRefusal(at: door, from: address)
                return .nobody
            }
            failedChecks = 0
            switch found {
            case .operator(let found):
                Self.log.info("an operator signed in", ["operator": found.name, "role": found.role.name])
                Self.log.debug("from", ["operator": found.name, "address": address, "client": client])
            case .user(let found):
                Self.log.info("a user of cktool signed in", ["account": "\(found.account.rawValue)"])
                Self.log.debug("from", ["account": "\(found.account.rawValue)", "address": address, "client": client])
            }
            checkLater()
            return .known(found)
        } catch {
            error.note()
            return .failed
        }
    }

    private func sender(of hash: [UInt8], at door: Door) async throws(StorageError) -> ChannelSender? {
        let (store, now) = (AdminStore(storage), Timestamp(milliseconds: loop.wallClockMilliseconds))
        return switch door {
        case .operators: try await store.signIn(credentialHash: hash, now: now).map { .operator($0) }
        case .users: try await store.signInAccount(credentialHash: hash, now: now).map { .user($0) }
        }
    }

    /// Somebody who tries credentials is in the audit, as far as its bounds for refused sign-ins allow (R-860). Nobody waits
    /// for it.
    private func noteRefusal(at door: Door, from address: String) {
        guard refusals.take(address, now: loop.now) else { return }
        let noun = door == .operators ? "operators" : "cktool"
        let action = AuditAction(who: "", address: address, action: "\(noun) sign-in", target: "")
        loop.run { [storage] in
            let store = AdminStore(storage)
            do throws(StorageError) {
                let id = try await store.beginAudit(action)
                try await store.endAudit(
                    id, failure: "No \(door == .operators ? "operator" : "account") has this credential.")
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
            let now = Timestamp(milliseconds: loop.wallClockMilliseconds)
            let (credentials, users) = (
                open.compactMap { $0.signedInOperator?.credential }, open.compactMap { $0.signedInAccount?.credential }
            )
            let valid =
                credentials.isEmpty
                ? [:] : try await AdminStore(storage).validOperatorCredentials(among: credentials, now: now)
            let void = users.isEmpty ? [] : Set(try await storage.voidCredentials(among: users, now: now))
            failedChecks = 0
            for channel in open {
                switch channel.sender {
                case .operator(let sender)?:
                    // A sender who has lost rights must not continue a command that needs them.
                    if let role = valid[sender.credential], role >= sender.role { continue }
                    Self.log.info(
                        "an operator's channel is closed: the credential is not valid", ["operator": sender.name])
                case .user(let sender)?:
                    guard void.contains(sender.credential) else { continue }
                    Self.log.info(
                        "a user's channel is closed: the credential is not valid",
                        ["account": "\(sender.account.rawValue)"])
                case nil: continue
                }
                channel.revoke()
            }
        } catch {
            error.note()
            failedChecks += 1
            // Commands have separate connections, and may continue while this one gets no answer.
            guard failedChecks >= Self.failedChecksMax else { return }
            for channel in open { channel.uncheck() }
        }
    }

    // MARK: Commands

    /// Takes a place for a command.
    ///
    /// - Returns: the reason why there is no place; nil: it has one.
    func take(_ sender: ChannelSender) -> String? {
        switch sender {
        case .operator(let found): return places.take(found.id)
        case .user(let found):
            guard let refusal = placesOfUsers.take(found.account) else { return nil }
            guard placesOfUsers.isFull, !placesOfUsers.has(found.account), makeRoom() else { return refusal }
            // There is room at once if the command had ended, and only its output waited.
            return placesOfUsers.take(found.account)
        }
    }

    /// Ends the command of the user for whom one has waited longest. Otherwise users who take some of their output now and then could keep
    /// all places.
    ///
    /// - Returns: false if there is no room, or if a place becomes free anyway.
    private func makeRoom() -> Bool {
        let ofUsers = channels.values.filter { $0.signedInAccount != nil }
        guard !ofUsers.contains(where: \.isGivingPlaceBack) else { return false }
        guard let slowest = ofUsers.max(by: { $0.waitingSteps < $1.waitingSteps }), slowest.waitingSteps > 0 else {
            return false
        }
        slowest.giveWay()
        return true
    }

    func giveBack(_ sender: ChannelSender) {
        switch sender {
        case .operator(let found): places.giveBack(found.id)
        case .user(let found): placesOfUsers.giveBack(found.account)
        }
    }

    func longQueries(of sender: ChannelSender) -> FairGate {
        switch sender {
        case .operator: longQueries
        case .user: longQueriesOfUsers
        }
    }

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

extension OperatorHall.Door {
    /// Why nobody comes in with a credential.
    var refusal: String {
        switch self {
        case .operators: "no operator has this credential"
        case .users: "no account has this credential"
        }
    }
}
