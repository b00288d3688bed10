// SPDX-License-Identifier: Apache-2.0

internal import TidemarkWire

/// Pushes of presence that arrive before the answer that gives their topic its number. A pure value.
///
/// Other zones of the connection have news too. However many they are, they do not take the room of this one's.
struct EarlyPushes {
    /// The most pushes of one topic. With more, all of them are dropped, and the device joins again.
    private static let pushesMax = 64
    /// A connection is present in no more.
    private static let topicsMax = 16

    private var pushes: [UInt64: [WirePresencePush]] = [:]
    /// Topics that have lost pushes.
    private var lost: Set<UInt64> = []
    /// Whether there were too many topics to record which have lost pushes.
    private var losesAll = false

    mutating func add(_ push: WirePresencePush) {
        let topic = push.topic
        guard !lost.contains(topic) else { return }
        let isKnown = pushes[topic] != nil
        if isKnown ? pushes[topic, default: []].count < Self.pushesMax : pushes.count < Self.topicsMax {
            pushes[topic, default: []].append(push)
            return
        }
        pushes[topic] = nil
        if lost.count < Self.topicsMax { lost.insert(topic) } else { losesAll = true }
    }

    /// In their order. Nil: some were dropped.
    func pushes(of topic: UInt64) -> [WirePresencePush]? {
        if let kept = pushes[topic] { return kept }
        return lost.contains(topic) || losesAll ? nil : []
    }
}
