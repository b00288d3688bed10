// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness

/// How many bytes of remembered requests this server has added for each owner in the store's present memory epoch
/// . A pure value.
///
/// Requests are remembered for some epochs in any case. So an owner who adds too many bytes must wait for the
/// next epoch.
struct MemoryGrowth {
    /// The most owners that are counted. With more, all counts begin at 0 again.
    private static let ownersMax = 10_000

    private var epoch = Int64.min
    private var bytes: [WorkOwner: Int] = [:]
    /// How many of these bytes are in zones of others.
    private var participantBytes: [WorkOwner: Int] = [:]

    /// Takes in an epoch that was read from the store.
    mutating func learn(_ epoch: Int64) {
        guard epoch > self.epoch else { return }
        self.epoch = epoch
        (bytes, participantBytes) = ([:], [:])
    }

    /// Adds what a transaction has written; negative if less is remembered than before.
    ///
    /// - Parameter elsewhere: how many of these bytes are in zones of others.
    mutating func add(_ growth: [WorkOwner: Int], elsewhere: [WorkOwner: Int] = [:]) {
        if bytes.count > Self.ownersMax { (bytes, participantBytes) = ([:], [:]) }
        bytes.merge(growth, uniquingKeysWith: +)
        if !elsewhere.isEmpty { participantBytes.merge(elsewhere, uniquingKeysWith: +) }
    }

    /// Whether an owner must wait for the next epoch.
    ///
    /// - Parameter isElsewhere: whether the request is to a zone of another user.
    func isFull(_ owner: WorkOwner, isElsewhere: Bool = false, within limits: Limits) -> Bool {
        bytes[owner, default: 0] >= limits.requestMemoryBytesPerAccountMax
            || isElsewhere && participantBytes[owner, default: 0] >= limits.requestMemoryBytesPerParticipantMax
    }
}

extension RequestMemory {
    /// Includes the approximate cost of keeping it.
    var byteCount: Int { outcomes.values.reduce(200) { $0 + $1.count + 64 } }

    /// How much more is stored than before. A memory without outcomes is not stored.
    func growth(since before: RequestMemory?) -> Int {
        guard let before, !before.outcomes.isEmpty else { return byteCount }
        return byteCount - before.byteCount
    }
}
