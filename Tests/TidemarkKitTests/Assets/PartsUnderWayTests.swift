// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestKit
import TidemarkWire

@testable import TidemarkKit

/// Places on the connection are always given back.
@Suite struct PartsUnderWayTests {
    private let connection: CloudConnection

    init() throws {
        let device = TestCloud().account("alice").device("phone")
        connection = try device.container.privateCloudDatabase.cloud.connection
    }

    private var freePlaces: Int {
        var places: [TransferLane.Place] = []
        while let place = connection.lane.tryEnter() { places.append(place) }
        for place in places { connection.lane.leave(place, isAnswered: false) }
        return places.count
    }

    @Test func `places are taken until there are none, and free when parts are answered, refused or abandoned`()
        async throws
    {
        var parts = PartsUnderWay(on: connection)
        let answers = (0..<TransferLane.places).map { _ in PendingAnswer() }
        for answer in answers {
            let byteCountMax = try await parts.takePlace(waits: answer === answers[0])
            #expect(byteCountMax == 65_536)
            parts.add(answer)
        }
        let none = try await parts.takePlace(waits: false)
        #expect(none == nil && freePlaces == 0 && !parts.isOldestAnswered)
        answers[0].give(.success(ServerReply(WireServerEnvelope())))
        #expect(parts.isOldestAnswered)
        let answer = try await parts.answer()
        #expect(answer.time.byteCountMax == 65_536)
        #expect(freePlaces == 1)
        answers[1].give(.failure(ConnectionMachine.RequestFailure(code: .cut)))
        var refusal: CKError?
        do throws(CKError) { _ = try await parts.answer() } catch { refusal = error }
        #expect(refusal?.isCut == true && freePlaces == 2)
        // One is taken for a part that never comes to be.
        let place = try await parts.takePlace(waits: false)
        #expect(place != nil && freePlaces == 1)
        parts.abandon()
        #expect(freePlaces == TransferLane.places)
        parts.abandon()
        #expect(freePlaces == TransferLane.places)
    }

    @Test func `R-401: a cancelled transfer gets no further place, and so sends no further part`() async throws {
        let task = Task { [connection] in
            var parts = PartsUnderWay(on: connection)
            withUnsafeCurrentTask { $0?.cancel() }
            // What has parts under way hears of its cancellation from them.
            let place = try await parts.takePlace(waits: false)
            #expect(place == nil)
            _ = try await parts.takePlace(waits: true)
        }
        let error = await #expect(throws: CKError.self) { try await task.value }
        #expect(error?.code == .operationCancelled)
        #expect(freePlaces == TransferLane.places)
    }
}
