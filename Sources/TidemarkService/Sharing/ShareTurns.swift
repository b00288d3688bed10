// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain

/// Lets the changes of one zone's shares that are no saves come one after another in a process.
///
/// They have transactions beside the queue of writes. Each holds a connection while it waits for the zone's lock. Without
/// turns, everybody who accepts a share that many people have the link of would hold one.
final class ShareTurns: Sendable {
    /// Those who wait, by the zones that are being changed.
    private let waiting = Mutex<[ZoneKey: [Answer<Void>]]>([:])

    func run<Value: Sendable>(in zone: ZoneKey, _ work: () async -> Value) async -> Value {
        let turn = waiting.withLock { waiting -> Answer<Void>? in
            guard waiting[zone] != nil else {
                waiting[zone] = []
                return nil
            }
            let turn = Answer<Void>()
            waiting[zone]?.append(turn)
            return turn
        }
        if let turn { await turn.value() }
        let value = await work()
        let next = waiting.withLock { waiting -> Answer<Void>? in
            guard let first = waiting[zone]?.first else {
                waiting[zone] = nil
                return nil
            }
            waiting[zone]?.removeFirst()
            return first
        }
        next?.give(())
        return value
    }
}
