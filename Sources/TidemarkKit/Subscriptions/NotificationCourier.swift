// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkWire

/// Delivers the pushes of one connection to the app's handler, one after the other. The number of waiting
/// pushes is bounded (``WaitingNotifications``), so a slow handler does not make memory grow.
final class NotificationCourier: CloudConnectionObserver, CredentialObserver {
    typealias Handler = @Sendable (_ userInfo: [AnyHashable: Any]) async -> Void

    private struct State {
        let handler: Handler
        var waiting = WaitingNotifications()
        /// The last push of each subscription on this connection, without its record.
        var last: [NotificationPayload] = []
        var isDelivering = false
        /// The number of the account. Results for another account are not delivered.
        var accountNumber = 0
        /// Whether a push was lost, and the subscriptions have not been read since.
        var mustLook = false

        mutating func forget() {
            waiting.removeAll()
            (last, mustLook) = ([], false)
            accountNumber += 1
        }
    }

    private let state: Mutex<State>
    private weak let context: CloudContext?

    init(_ context: CloudContext, handler: @escaping Handler) {
        self.context = context
        state = Mutex(State(handler: handler))
    }

    // MARK: CloudConnectionObserver

    /// Servers push for each subscription that may have news when a device has connected.
    func connected(userRecordName: String) {
        let (mustLook, number) = state.withLock { state in
            state.last = []
            return (state.mustLook, state.accountNumber)
        }
        if mustLook { lookForSubscriptions(ofAccount: number) }
    }

    func disconnected() {}

    /// The device whose identity this was keeps it. This one has its own as long as the process lives.
    func deviceReplaced(by device: [UInt8]) {}

    func refused(_ code: CKError.Code) {}

    func pushed(_ push: WirePush) {
        guard let payload = NotificationPayload(push) else { return }
        let number = state.withLock { state in
            state.last.removeAll(where: payload.isOfSameSubscription)
            state.last.append(payload.withoutContent)
            return state.accountNumber
        }
        bring([payload], ofAccount: number)
    }

    /// Their content is unknown, so each subscription may have fired.
    func missedPushes() {
        let (last, number) = state.withLock { state in
            state.mustLook = true
            return (state.last, state.accountNumber)
        }
        bring(last, ofAccount: number)
        lookForSubscriptions(ofAccount: number)
    }

    /// The lost push may have been the first one of its subscription, so the server is asked for its subscriptions. If that fails, it is
    /// asked over the next connection.
    private func lookForSubscriptions(ofAccount number: Int) {
        guard let context else { return }
        let atWork = context.enginesAtWork
        atWork?(true)
        let databases = [CKDatabase.Scope.private, .shared, .public].map { context.database($0) }
        context.engineScheduler.run {
            await CallbackWork.run(atWork) { await self.tellOfSubscriptions(in: databases, ofAccount: number) }
            atWork?(false)
        }
    }

    private func tellOfSubscriptions(in databases: [CloudDatabase], ofAccount number: Int) async {
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
            let told = state.withLock { $0.last }
            let untold = subscriptions.map { NotificationPayload($0, in: database.scope) }
                .filter { payload in !told.contains(where: payload.isOfSameSubscription) }
            bring(untold, ofAccount: number)
        }
        guard isComplete else { return }
        state.withLock { state in
            if state.accountNumber == number { state.mustLook = false }
        }
    }

    private func bring(_ payloads: [NotificationPayload], ofAccount number: Int) {
        guard let context, !payloads.isEmpty else { return }
        let starts = state.withLock { state in
            guard state.accountNumber == number else { return false }
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
        state.withLock { state in
            guard let payload = state.waiting.next() else {
                state.isDelivering = false
                return nil
            }
            return (state.handler, payload)
        }
    }

    // MARK: CredentialObserver

    /// Pushes for another account are dropped.
    func credentialChanged() {
        state.withLock { $0.forget() }
        guard let context, context.hasCredential else { return }
        context.connection.observe(self)
    }

    /// Nobody wants notifications any more.
    func stop() {
        state.withLock { $0.forget() }
        context?.connection.stopObserving(self)
    }
}
