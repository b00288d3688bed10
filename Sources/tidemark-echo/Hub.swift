// SPDX-License-Identifier: Apache-2.0

internal import TidemarkSockets
internal import TidemarkTransport
internal import TidemarkWebSocket

/// All subscribers at `/sub`, on all loops. A message is framed once, and the messages of one tick are sent in one
/// piece.
final class Hub: Sendable {
    private let branches: [Branch]

    init(loops: [EventLoop]) {
        branches = loops.map(Branch.init)
    }

    /// The subscribers of the connection's loop.
    func branch(of connection: MessageConnection) -> Branch? {
        branches.first { $0.loop === connection.loop }
    }

    /// Called on one of the loops.
    func publish(_ kind: MessageKind, _ payload: MessagePayload) {
        var frame: [UInt8] = []
        payload.withUnsafeBytes { FrameEncoder.append(kind.opcode, payload: $0, to: &frame) }
        for branch in branches {
            if branch.loop.isCurrent {
                branch.add(frame)
            } else {
                let frame = frame
                branch.loop.execute { branch.add(frame) }
            }
        }
    }

    /// The part of the hub on one loop; confined to it.
    final class Branch: TickFlushable, @unchecked Sendable {
        let loop: EventLoop
        private var subscribers: [MessageConnection] = []
        private var places: [ObjectIdentifier: Int] = [:]
        /// Frames of this tick.
        private var news: [UInt8] = []

        init(loop: EventLoop) {
            self.loop = loop
        }

        func add(_ frame: [UInt8]) {
            if news.isEmpty { loop.atEndOfTick(self) }
            news.append(contentsOf: frame)
        }

        func flush() {
            let frames = news
            news = []
            // Backwards, since a subscriber whose queue overflows leaves at once.
            for index in subscribers.indices.reversed() where index < subscribers.count {
                subscribers[index].sendFrame(frames)
            }
        }

        func add(_ subscriber: MessageConnection) {
            places[ObjectIdentifier(subscriber)] = subscribers.count
            subscribers.append(subscriber)
        }

        func remove(_ subscriber: MessageConnection) {
            guard let place = places.removeValue(forKey: ObjectIdentifier(subscriber)) else { return }
            let last = subscribers.removeLast()
            guard last !== subscriber else { return }
            subscribers[place] = last
            places[ObjectIdentifier(last)] = place
        }
    }
}

/// One subscriber. Its own messages are ignored.
final class SubscriberHandler: MessageHandler {
    private let hub: Hub

    init(hub: Hub) {
        self.hub = hub
    }

    func opened(_ connection: MessageConnection) {
        hub.branch(of: connection)?.add(connection)
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {}

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {
        hub.branch(of: connection)?.remove(connection)
    }
}

/// Publishes every message that it receives.
final class PublisherHandler: MessageHandler {
    private let hub: Hub

    init(hub: Hub) {
        self.hub = hub
    }

    func received(_ connection: MessageConnection, _ kind: MessageKind, _ payload: MessagePayload) {
        hub.publish(kind, payload)
    }

    func closed(_ connection: MessageConnection, _ reason: CloseReason) {}
}
