// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkBytes
import TidemarkTelemetry
import TidemarkWire

@testable import TidemarkKit

/// How a device names its requests.
@Suite struct ConnectionMachineRequestUUIDTests {
    private typealias Bench = ConnectionMachineTests.Bench

    private static let session: [UInt8] = [0x8A, 1, 2, 3, 4, 5, 0xF6, 7]

    private static func uuid(_ id: UInt64, _ session: UInt64 = 0x8A01_0203_0405_F607) -> RequestUUID {
        RequestUUID(session: session, number: id)
    }

    @Test func `R-820: requests are named by what the server gave to the session, and by their ids`() throws {
        var bench = Bench()
        let (change, question) = (bench.request(), bench.request(isChange: false))
        let part = bench.part()
        try bench.open(requestSession: Self.session)
        for id in [change, question, part] { try bench.answer(id) }
        #expect(bench.marks[change] == RequestMark(kind: .modifyRecords, uuid: Self.uuid(change)))
        #expect(bench.marks[question]?.uuid == Self.uuid(question))
        #expect(bench.marks[part] == RequestMark(kind: .uploadAssetChunk, uuid: Self.uuid(part)))
        #expect("\(Self.uuid(1))" == "8A010203-0405-8607-8000-000000000001")
    }

    @Test func `R-820: what is sent again over another connection has another name`() throws {
        var bench = Bench()
        let id = bench.request()
        try bench.open(requestSession: Self.session)
        bench.cut()
        bench.clock += bench.waits[0]
        bench.take(bench.machine.wokeUp(now: bench.now))
        try bench.open(requestSession: [0, 0, 0, 0, 0, 0, 0, 9])
        try bench.answer(id)
        #expect(bench.marks[id]?.uuid == Self.uuid(id, 9))
    }

    @Test(arguments: [[], [1, 2, 3]] as [[UInt8]])
    func `R-820: requests of an older server have no names`(session: [UInt8]) throws {
        var bench = Bench()
        let id = bench.request()
        try bench.open(requestSession: session)
        try bench.answer(id)
        #expect(bench.marks[id] == RequestMark(kind: .modifyRecords))
    }

    @Test func `R-820: an answer that does not come is named by the last sending, and what was not sent has no name`()
        throws
    {
        var bench = Bench()
        let (sent, asked) = (bench.request(), bench.request(isChange: false))
        try bench.open(messageBytesMax: 64, requestSession: Self.session)
        bench.take(bench.machine.timeOut(sent, now: bench.now))
        bench.take(bench.machine.timeOut(asked, now: bench.now))
        for (id, code) in [(sent, CKError.Code.serverResponseLost), (asked, .networkFailure)] {
            guard case .failure(let failure) = bench.answers[id] else {
                Issue.record("it was answered")
                continue
            }
            let error = CKError(failure)
            #expect(error.code == code && error.requestUUID?.uuidString == "\(Self.uuid(id))")
        }
        // Longer than the server takes: this device refuses it.
        var (long, actions) = (UInt64(0), [ConnectionMachine.Action]())
        (long, actions) = bench.machine.request(isChange: false, now: bench.now) { _ in
            var envelope = WireClientEnvelope()
            envelope.fetchZones.cursor = [UInt8](repeating: 1, count: 100)
            return envelope
        }
        bench.take(actions)
        guard case .failure(let failure) = bench.answers[long] else {
            Issue.record("it was sent")
            return
        }
        #expect(failure.code == .refused(.limitExceeded) && CKError(failure).requestUUID == nil)
        #expect(bench.marks[long] == RequestMark())
    }

    @Test func `R-820: a refused Hello has the name that the refusal brings`() throws {
        var bench = Bench()
        let id = bench.request()
        bench.take(bench.machine.opened())
        let hello = try #require(bench.sent.last?.id)
        var answer = WireServerEnvelope()
        answer.id = hello
        answer.failure.code = .notAuthenticated
        answer.failure.requestSession = Self.session
        bench.take(bench.machine.received(answer.encoded, now: bench.now))
        guard case .failure(let failure) = bench.answers[id] else {
            Issue.record("it was not refused")
            return
        }
        let error = CKError(failure)
        #expect(error.requestUUID?.uuidString == "\(Self.uuid(hello))")
        #expect(error.localizedDescription.hasSuffix("(request UUID \(Self.uuid(hello)))"))
    }
}
