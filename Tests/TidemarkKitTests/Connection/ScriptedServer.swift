// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import TidemarkBytes
import TidemarkScheduling
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// A server of which a test says what it answers: the credential "alice" is that of the user `_alice`, and so is the token
/// "alice#1".
final class ScriptedServer: CloudTransport, Sendable {
    private struct State {
        /// Credentials that are refused.
        var refused: Set<String> = []
        /// What is held back is not answered.
        var holds: @Sendable (WireClientEnvelope) -> Bool = { _ in false }
        /// What is answered instead; nil: the usual.
        var script: @Sendable (WireClientEnvelope) -> WireServerEnvelope.OneOfAnswer? = { _ in nil }
        /// Whose connection, and what came over it.
        var received: [(credential: String, envelope: WireClientEnvelope)] = []
        var channels: [Channel] = []
    }

    private let scheduler: ManualScheduler
    private let state = Mutex(State())

    init(_ scheduler: ManualScheduler) {
        self.scheduler = scheduler
    }

    /// A container of alice on this server. No other test has its name.
    func container() -> CKContainer {
        CKContainer(
            context: CloudContext(
                containerIdentifier: "iCloud.test.\(UUID().uuidString)", token: "alice", transport: self,
                scheduler: scheduler, engineScheduler: scheduler))
    }

    func refuse(_ credential: String) {
        state.withLock { _ = $0.refused.insert(credential) }
        for channel in state.withLock({ $0.channels }) where channel.credential == credential {
            channel.end(.server(code: 4401, reason: "expired"))
        }
    }

    /// All connections end, as devices notice it.
    func cut() {
        for channel in state.withLock({ $0.channels }) where channel.isOpen { channel.end(.network("cut")) }
    }

    /// Pushes to all devices that are connected.
    ///
    /// - Parameter number: of the push on its connection; 0: it has none.
    func push(_ push: WirePush, number: UInt64 = 0) {
        var envelope = WireServerEnvelope()
        envelope.push = push
        envelope.pushesSent = number
        for channel in state.withLock({ $0.channels }) where channel.isOpen { channel.deliver(envelope.encoded) }
    }

    /// Bytes of a large message move on all connections, as devices notice it.
    func trickle() {
        for channel in state.withLock({ $0.channels }) where channel.isOpen { channel.progress() }
    }

    func accept(_ credential: String) {
        state.withLock { _ = $0.refused.remove(credential) }
    }

    func hold(_ holds: @escaping @Sendable (WireClientEnvelope) -> Bool) {
        state.withLock { $0.holds = holds }
    }

    func answer(_ script: @escaping @Sendable (WireClientEnvelope) -> WireServerEnvelope.OneOfAnswer?) {
        state.withLock { $0.script = script }
    }

    /// "alice hello", "alice modifyRecords", … in their order.
    var log: [String] {
        state.withLock { state in
            state.received.map { credential, envelope in
                let name = envelope.request.map { "\($0)".prefix { $0 != "(" } } ?? "nothing"
                return "\(credential) \(name)"
            }
        }
    }

    var envelopes: [WireClientEnvelope] { state.withLock { $0.received.map(\.envelope) } }

    var openCount: Int { state.withLock { $0.channels.count { $0.isOpen } } }

    func open(observer: any CloudChannelObserver) -> any CloudChannel {
        let channel = Channel(self, observer, scheduler)
        state.withLock { $0.channels.append(channel) }
        scheduler.run { channel.open() }
        return channel
    }

    fileprivate func answer(_ message: [UInt8], on channel: Channel) {
        guard let envelope = try? WireClientEnvelope(reading: message) else { return }
        if case .hello(let hello) = envelope.request { channel.credential = hello.credential }
        let (isHeld, refused, scripted) = state.withLock { state in
            state.received.append((channel.credential, envelope))
            return (state.holds(envelope), state.refused, state.script(envelope))
        }
        guard !isHeld else { return }
        var answer = WireServerEnvelope()
        answer.id = envelope.id
        if let scripted {
            answer.answer = scripted
            return channel.deliver(answer.encoded)
        }
        switch envelope.request {
        case .hello(let hello) where refused.contains(hello.credential):
            answer.failure.code = .notAuthenticated
        case .hello(let hello):
            let user = hello.credential.prefix { $0 != "#" }
            answer.hello.userRecordName = user.isEmpty ? "" : "_\(user)"
            answer.hello.serverTime = scheduler.wallClockMilliseconds
            answer.hello.memoryEpoch = 1
        case .modifyRecords(let request):
            answer.modifyRecords.zones = request.zones.map { zone in
                var results = WireZoneModificationResults()
                results.saves = zone.saves.map { _ in
                    var result = WireSaveResult()
                    result.failure.failure.code = .zoneNotFound
                    return result
                }
                results.deletes = zone.deletes.map { _ in
                    var result = WireDeleteResult()
                    result.deleted = WireDone()
                    return result
                }
                return results
            }
        case .fetchDatabaseChanges:
            answer.fetchDatabaseChanges.token = [1]
        case .fetchSubscriptions(let request):
            answer.fetchSubscriptions.subscriptions = (request.ids.isEmpty ? ["tidemark-sync-engine"] : request.ids).map
            { id in
                var result = WireSubscriptionResult()
                (result.subscription.id, result.subscription.kind) = (id, .database)
                return result
            }
        default:
            answer.failure.code = .internalError
        }
        channel.deliver(answer.encoded)
    }

    /// One connection; all of it happens on the test's scheduler.
    final class Channel: CloudChannel, Sendable {
        private struct State {
            var credential = ""
            var isOpen = false
            var hasEnded = false
        }

        private let server: ScriptedServer
        private let observer: any CloudChannelObserver
        private let scheduler: ManualScheduler
        private let state = Mutex(State())

        init(_ server: ScriptedServer, _ observer: any CloudChannelObserver, _ scheduler: ManualScheduler) {
            self.server = server
            self.observer = observer
            self.scheduler = scheduler
        }

        var isOpen: Bool { state.withLock { $0.isOpen && !$0.hasEnded } }

        var credential: String {
            get { state.withLock { $0.credential } }
            set { state.withLock { $0.credential = newValue } }
        }

        func open() {
            guard !state.withLock({ $0.hasEnded }) else { return }
            state.withLock { $0.isOpen = true }
            observer.channelOpened(self)
        }

        func deliver(_ message: [UInt8]) {
            guard isOpen else { return }
            observer.channelReceived(self, message)
        }

        func progress() {
            observer.channelProgressed(self)
        }

        func send(_ message: [UInt8]) {
            scheduler.run {
                guard self.isOpen else { return }
                self.server.answer(message, on: self)
            }
        }

        func close() { end(.local) }

        func end(_ reason: ChannelClosing) {
            scheduler.run {
                let isFirst = self.state.withLock { state in
                    defer { state.hasEnded = true }
                    return !state.hasEnded
                }
                if isFirst { self.observer.channelClosed(self, reason) }
            }
        }
    }
}
