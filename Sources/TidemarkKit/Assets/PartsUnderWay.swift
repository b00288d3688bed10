// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import TidemarkWire

/// The parts of one transfer that are under way, each with its place on the connection. The oldest is answered first.
struct PartsUnderWay {
    /// The answer to a part.
    struct Answer {
        let answer: WireServerEnvelope.OneOfAnswer?
        let time: PartTime
    }

    private struct Part {
        let answer: PendingAnswer
        let place: TransferLane.Place
    }

    private let connection: CloudConnection
    private var parts: Deque<Part> = []
    /// Taken for the next part.
    private var place: TransferLane.Place?

    init(on connection: CloudConnection) {
        self.connection = connection
    }

    /// Takes a place for the next part.
    ///
    /// - Returns: the number of bytes that the part may have; nil if there is no place and this does not wait for one.
    ///   A cancelled task gets no further place.
    /// - Throws: `operationCancelled` if it waits, and the task is or gets cancelled.
    mutating func takePlace(waits: Bool) async throws(CKError) -> Int? {
        if waits {
            place = try await connection.lane.enter()
        } else {
            place = Task.isCancelled ? nil : connection.lane.tryEnter()
        }
        return place?.chunkBytes
    }

    /// A part is under way in the place that was taken.
    mutating func add(_ answer: PendingAnswer) {
        guard let place = place.take() else { return connection.abandon(answer) }
        parts.append(Part(answer: answer, place: place))
    }

    /// Whether ``answer()`` would return at once.
    var isOldestAnswered: Bool { parts.first?.answer.isGiven ?? true }

    /// Waits for the answer to the oldest part.
    ///
    /// - Throws: the server's refusal, or the reason why there is no answer.
    mutating func answer() async throws(CKError) -> Answer {
        guard let part = parts.popFirst() else { throw .brokenTransfer }
        do throws(CKError) {
            let envelope = try await connection.answer(part.answer)
            let time = PartTime(
                duration: connection.now - part.place.since, byteCountMax: part.place.chunkBytes)
            connection.lane.leave(part.place, isAnswered: true)
            return Answer(answer: envelope.answer, time: time)
        } catch {
            connection.lane.leave(part.place, isAnswered: false)
            throw error
        }
    }

    /// The parts under way are no longer awaited. Their places are free.
    mutating func abandon() {
        for part in parts {
            connection.abandon(part.answer)
            connection.lane.leave(part.place, isAnswered: false)
        }
        parts.removeAll()
        if let place = place.take() { connection.lane.leave(place, isAnswered: false) }
    }
}
