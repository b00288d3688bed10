// SPDX-License-Identifier: Apache-2.0

/// How much of a file is hashed while its draft is sent. Hashing takes time of the same thread that sends. So a slow
/// network leaves time for it, and on a fast one it would be what the network waits for.
struct HashingPace {
    /// The pieces that may be hashed before the next part is answered.
    private(set) var pieces: Int
    private let piecesMin: Int
    /// The time of a part: the shortest one among the last parts. Hashing, and other work of the machine, makes single
    /// ones longer.
    private var partTime: Duration?

    /// A network on which a MiB is under way for longer leaves time to hash.
    private static let busyTimePerMebibyte: Duration = .milliseconds(16)
    /// By this share of itself the time of a part may grow with each part. A network that has become ten times slower
    /// is believed to be so after some eighty parts.
    private static let partTimeDecay = 32
    /// While a part is under way for so long, a piece of the file can be hashed as well: several times what that takes.
    private static let timeForPiece: Duration = .milliseconds(2)
    /// Pieces that are hashed before it is looked again whether there is something to send.
    static let piecesMax = 16
    /// The least number of pieces for a file whose hash the server cannot tell. Its hash must be known when the file is
    /// sent.
    static let piecesOfUnsettledMin = 2 * TransferPace.chunkBytesMax / AssetReading.blockBytes

    /// - Parameter isSettled: whether the server can say the hash (``AssetSource/isSettled``).
    init(isSettled: Bool) {
        piecesMin = isSettled ? 0 : Self.piecesOfUnsettledMin
        pieces = piecesMin
    }

    /// A piece was hashed.
    mutating func hashed() {
        pieces -= 1
    }

    mutating func answered(after time: PartTime) {
        let shortest = min(time.duration, partTime.map { $0 + $0 / Self.partTimeDecay } ?? time.duration)
        partTime = shortest
        let busyTime = Self.busyTimePerMebibyte * time.byteCountMax / 1_048_576
        let fitting = shortest < busyTime ? 0 : Int(min(shortest / Self.timeForPiece, Double(Self.piecesMax)))
        pieces = max(piecesMin, fitting)
    }
}

/// How long a part was under way.
struct PartTime: Equatable {
    let duration: Duration
    /// The size that parts had then; the part itself may have been shorter.
    let byteCountMax: Int
}
