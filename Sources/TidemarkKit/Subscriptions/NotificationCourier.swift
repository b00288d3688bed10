// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkWire

/// Delivers the pushes of one connection to the app's handler, one after the other. What waits is bounded
/// (``WaitingNotifications``), so that a slow handler makes nothing grow.
///
/// A container has one, and handlers replace each other in it. So what waits goes to the new one.
final class NotificationCourier: CloudConnectionObserver, CredentialObserver {
    typealias Handler = @Sendable (_ userInfo: [AnyHashable: Any]) async -> Void

    private struct State {
        /// Nil: nobody wants notifications.
        var handler: Handler?
        var waiting = WaitingNotifications()
        /// The last push of each subscription on this connection, without its record.
        var last: [NotificationPayload] = []
        var isDelivering = false
        /// For which credential all this is: ``CloudConnection/credentialGeneration``. Nil: nothing has come.
        var generation: Int?
        /// Whether a push was lost, and no answer has told yet which subscriptions there are.
        var mustLook = false

        mutating func forget() {
            waiting.removeAll()
            (last, mustLook) = ([], false)
        }
    }

    private let state = Mutex(State())
    private weak let context: CloudContext?

    init(_ context: CloudContext) {
        self.context = context
    }

    /// From now on this handler is called; nil: nobody is. A call under way ends first.
    func use(_ handler: Handler?) {
        state.withLock { state in
            state.handler = handler
            if handler == nil { state.forget() }
        }
        guard let context else { return }
        if handler == nil {
            context.connection.stopObserving(self)
        } else if context.hasCredential {
            context.connection.observe(self)
        }
    }

    var hasHandler: Bool { state.withLock { $0.handler != nil } }

    /// Before `body` sees it, what is left of another account is dropped.
    private func withState<Value>(_ body: (inout State) -> Value) -> Value {
        state.withLock { state in
            if let generation = context?.connection.credentialGeneration, generation != state.generation {
                state.forget()
                state.generation = generation
            }
            return body(&state)
        }
    }

    // MARK: CloudConnectionObserver

    /// Servers push for each subscription that may have news when a device has connected.
    func connected(userRecordName: String, generation: Int) {
        let mustLook = withState { state in
            guard state.generation == generation else { return false }
            state.last = []
            return state.mustLook
        }
        if mustLook { lookForSubscriptions(of: generation) }
    }

    func disconnected() {}

    /// The device whose identity this was keeps it. This one has its own as long as the process lives.
    func deviceReplaced(by device: [UInt8]) {}

    func refused(_ code: CKError.Code) {}

    func pushed(_ push: WirePush, generation: Int) {
        guard let payload = NotificationPayload(push) else { return }
        withState { state in
            guard state.generation == generation else { return }
            state.last.removeAll(where: payload.isOfSameSubscription)
            state.last.append(payload.withoutContent)
        }
        bring([payload], of: generation)
    }

    /// Their content is unknown, so each subscription may have fired.
    func missedPushes() {
        let (last, generation) = withState { state in
            state.mustLook = true
            return (state.last, state.generation)
        }
        guard let generation else { return }
        bring(last, of: generation)
        lookForSubscriptions(of: generation)
    }

    /// The push that was lost may have been the first one of its subscription, so the server is asked which there are. If it
    /// cannot be asked, it is asked over the next connection.
    private func lookForSubscriptions(of generation: Int) {
        guard let context else { return }
        let atWork = context.enginesAtWork
        atWork?(true)
        let databases = [CKDatabase.Scope.private, .shared, .public].map { context.database($0) }
        context.engineScheduler.run {
            await CallbackWork.run(atWork) { await self.tellOfSubscriptions(in: databases, of: generation) }
            atWork?(false)
        }
    }

    private func tellOfSubscriptions(in databases: [CloudDatabase], of generation: Int) async {
        var isComplete = true
        for database in databases {
            let subscriptions: [CKSubscription]
            do throws(CKError) {
                subscriptions = try await database.allSubscriptions()
            } catch {
                // An older server has none in the public database, and says the same next time.
                if error.isWorthAnotherTry { isComplete = false }
                continue
            }
            let told = withState { $0.last }
            let untold = subscriptions.map { NotificationPayload($0, in: database.scope) }
                .filter { payload in !told.contains(where: payload.isOfSameSubscription) }
            bring(untold, of: generation)
        }
        guard isComplete else { return }
        withState { state in
            if state.generation == generation { state.mustLook = false }
        }
    }

    private func bring(_ payloads: [NotificationPayload], of generation: Int) {
        guard let context, !payloads.isEmpty else { return }
        let starts = withState { state in
            guard state.generation == generation, state.handler != nil else { return false }
            for var payload in payloads {
                payload.containerIdentifier = context.containerIdentifier
                payload.notificationID = UUID().uuidString
                payload.subscriptionOwner = context.connection.userRecordName
                state.waiting.append(payload)
            }
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        guard starts else { return }
        let atWork = context.enginesAtWork
        atWork?(true)
        context.engineScheduler.run {
            await CallbackWork.run(atWork) { await self.deliver() }
            atWork?(false)
        }
    }

    private func deliver() async {
        while let (handler, payload) = next() { await handler(payload.dictionary) }
    }

    private func next() -> (Handler, NotificationPayload)? {
        withState { state in
            guard let handler = state.handler, let payload = state.waiting.next() else {
                state.isDelivering = false
                return nil
            }
            return (handler, payload)
        }
    }

    // MARK: CredentialObserver

    /// Connections of nobody are not kept up.
    func credentialChanged() {
        guard let context, context.hasCredential, hasHandler else { return }
        context.connection.observe(self)
    }
}
