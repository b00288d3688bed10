// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TidemarkScheduling
internal import TidemarkWire

/// Delivers the pushes of one connection to the app's handler, one after the other. Of the waiting pushes it
/// keeps the last one of each subscription, so that a slow handler makes nothing grow.
final class NotificationCourier: CloudConnectionObserver, CredentialObserver {
    typealias Handler = @Sendable (_ userInfo: [AnyHashable: Any]) async -> Void

    private struct State {
        let handler: Handler
        /// In the order of arrival.
        var waiting: [NotificationPayload] = []
        /// The last one of each subscription on this connection.
        var last: [NotificationPayload] = []
        var isDelivering = false
    }

    private let state: Mutex<State>
    private weak let context: CloudContext?

    init(_ context: CloudContext, handler: @escaping Handler) {
        self.context = context
        state = Mutex(State(handler: handler))
    }

    // MARK: CloudConnectionObserver

    /// Servers push for each subscription when a device has connected.
    func connected(userRecordName: String) {
        state.withLock { $0.last = [] }
    }

    func disconnected() {}

    /// The device whose identity this was keeps it. This one has its own as long as the process lives.
    func deviceReplaced(by device: [UInt8]) {}

    func refused(_ code: CKError.Code) {}

    func pushed(_ push: WirePush) {
        guard let payload = NotificationPayload(push) else { return }
        state.withLock { state in
            state.last.removeAll(where: payload.isOfSameSubscription)
            state.last.append(payload)
        }
        bring([payload])
    }

    /// Their content is unknown, so each subscription may have fired.
    func missedPushes() {
        bring(state.withLock { $0.last })
    }

    private func bring(_ payloads: [NotificationPayload]) {
        guard let context, !payloads.isEmpty else { return }
        let starts = state.withLock { state in
            for var payload in payloads {
                payload.containerIdentifier = context.containerIdentifier
                payload.notificationID = UUID().uuidString
                payload.subscriptionOwner = context.connection.userRecordName
                state.waiting.removeAll(where: payload.isOfSameSubscription)
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
            guard !state.waiting.isEmpty else {
                state.isDelivering = false
                return nil
            }
            return (state.handler, state.waiting.removeFirst())
        }
    }

    // MARK: CredentialObserver

    /// Pushes for another account are dropped.
    func credentialChanged() {
        state.withLock { ($0.waiting, $0.last) = ([], []) }
        guard let context, context.hasCredential else { return }
        context.connection.observe(self)
    }

    /// Nobody wants notifications any more.
    func stop() {
        state.withLock { ($0.waiting, $0.last) = ([], []) }
        context?.connection.stopObserving(self)
    }
}

extension NotificationPayload {
    /// Nil for a kind that this version does not know.
    init?(_ push: WirePush) {
        // So far servers push changes of this database only.
        guard push.database == .private else { return nil }
        let scope = CKDatabase.Scope.private
        switch push.kind {
        case .database:
            self.init(type: .database, scope: scope)
        case .recordZone:
            self.init(type: .recordZone, scope: scope)
            zoneID = push.zones.first.map(CKRecordZone.ID.init)
        default:
            return nil
        }
        subscriptionID = push.subscriptionID
    }

    fileprivate func isOfSameSubscription(_ other: NotificationPayload) -> Bool {
        other.subscriptionID == subscriptionID && other.scope == scope
    }
}
