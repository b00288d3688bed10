// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkBytes
import TidemarkWire

@testable import TidemarkKit

/// The connection's machine, without socket, clock or task.
@Suite struct ConnectionMachineTests {
    typealias Machine = ConnectionMachine

    /// A machine, and what it said.
    struct Bench {
        var machine = Machine(hello: WireHello())
        var sent: [WireClientEnvelope] = []
        var sentBytes: [[UInt8]] = []
        var connects = 0
        var closes = 0
        var lifeRenewals = 0
        var deviceReplacements = 0
        var waits: [Duration] = []
        var chunkLimits: [Int] = []
        var answers: [UInt64: Result<WireServerEnvelope, Machine.RequestFailure>] = [:]
        var marks: [UInt64: RequestMark] = [:]
        var notifications: [Machine.Notification] = []
        var clock: Duration = .seconds(100)

        var now: Machine.Moment {
            .init(monotonic: clock, withSleep: clock + .seconds(7))
        }

        mutating func take(_ actions: [Machine.Action]) {
            for action in actions {
                switch action {
                case .connect: connects += 1
                case .closeChannel: closes += 1
                case .send(let bytes):
                    sentBytes.append(bytes)
                    if let envelope = try? WireClientEnvelope(reading: bytes) { sent.append(envelope) }
                case .wakeUp(let wait): waits.append(wait)
                case .limitChunks(let byteCount): chunkLimits.append(byteCount)
                case .renewLife: lifeRenewals += 1
                case .replaceDevice: deviceReplacements += 1
                case .answer(let id, let result, let mark): (answers[id], marks[id]) = (result, mark)
                case .notify(let notification): notifications.append(notification)
                }
            }
        }

        /// - Parameter nonce: of a change that may be asked for again.
        mutating func request(isChange: Bool = true, nonce: UInt64? = nil) -> UInt64 {
            let (id, actions) = machine.request(
                isChange: isChange, nonce: nonce ?? 0, mayRepeat: nonce != nil, now: now
            ) { stamp in
                var envelope = WireClientEnvelope()
                envelope.modifyRecords = WireModifyRecords()
                if let stamp { envelope.modifyRecords.stamp = stamp }
                return envelope
            }
            take(actions)
            return id
        }

        mutating func part() -> UInt64 {
            var envelope = WireClientEnvelope()
            envelope.uploadAssetChunk.byteCount = 5
            envelope.uploadAssetChunk.content = [1, 2, 3, 4, 5]
            let (id, actions) = machine.request(EncodedRequest(envelope.encoded), now: now)
            take(actions)
            return id
        }

        mutating func open(
            serverTime: Int64 = 1_700_000_200_000, inFlightMax: UInt32 = 0, chunkBytesMax: UInt32 = 0,
            messageBytesMax: UInt32 = 0, memoryEpoch: UInt64 = 1, deviceTaken: Bool = false, user: String = "_alice",
            requestSession: [UInt8] = []
        ) throws {
            take(machine.opened())
            var answer = WireServerEnvelope()
            answer.id = sent.last?.id ?? 0
            answer.hello.userRecordName = user
            answer.hello.serverTime = serverTime
            answer.hello.memoryEpoch = memoryEpoch
            answer.hello.deviceTaken = deviceTaken
            answer.hello.requestSession = requestSession
            answer.hello.limits.requestsInFlightMax = inFlightMax
            answer.hello.limits.assetChunkBytesMax = chunkBytesMax
            answer.hello.limits.messageBytesMax = messageBytesMax
            take(machine.received(answer.encoded, now: now))
        }

        mutating func answer(_ id: UInt64) throws {
            var answer = WireServerEnvelope()
            answer.id = id
            answer.modifyRecords = WireModifyRecordsAnswer()
            take(machine.received(answer.encoded, now: now))
        }

        mutating func cut() {
            take(machine.closed(.network("cut"), now: now, randomBits: 0))
        }

        func failure(_ id: UInt64) -> Machine.RequestFailure.Code? {
            if case .failure(let failure) = answers[id] { failure.code } else { nil }
        }
    }

    @Test func `Hello comes first, requests wait for its answer`() throws {
        var bench = Bench()
        let id = bench.request()
        #expect(bench.connects == 1)
        #expect(bench.sent.isEmpty)
        bench.take(bench.machine.opened())
        #expect(bench.sent.count == 1)
        var hello = WireHello()
        hello.countsPushes = true
        #expect(bench.sent[0].request == .hello(hello))
        try bench.open()
        #expect(bench.sent.last?.id == id)
        try bench.answer(id)
        #expect(bench.answers[id] != nil)
    }

    @Test func `R-014: a server that speaks another version of the protocol gives incompatibleVersion`() throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        let id = bench.request()
        bench.take(bench.machine.closed(.incompatible("too old"), now: bench.now, randomBits: 0))
        #expect(bench.failure(id) == .refused(.incompatibleVersion))
        #expect(bench.notifications == [.refused(.incompatibleVersion)])
        let next = bench.request()
        #expect(bench.failure(next) == .refused(.incompatibleVersion), "and it is not asked again at once")
        #expect(CKError(.init(code: .refused(.incompatibleVersion), message: "too old")).code == .incompatibleVersion)
    }

    @Test func `R-014: what the server warns of is told before anything else`() throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        bench.take(bench.machine.opened())
        var answer = WireServerEnvelope()
        answer.hello.memoryEpoch = 1
        answer.hello.warnings = ["The container x is new."]
        bench.take(bench.machine.received(answer.encoded, now: bench.now))
        #expect(bench.notifications.first == .warned("The container x is new."))
    }

    @Test func `R-373: whoever asks hears why the server was not reached, also while the device waits to try again`()
        throws
    {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        let first = bench.request()
        let fault = ConnectionFault("Nobody is at home.", errorNumber: 111)
        bench.take(bench.machine.closed(.network(fault), now: bench.now, randomBits: 0))
        let second = bench.request()
        for id in [first, second] {
            guard case .failure(let failure)? = bench.answers[id] else {
                Issue.record("no failure")
                continue
            }
            let error = CKError(failure)
            #expect(error.code == .networkUnavailable && error.localizedDescription == "Nobody is at home.")
            let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
            #expect(cause?.domain == NSPOSIXErrorDomain && cause?.code == 111)
        }
        bench.take(bench.machine.retryNow(now: bench.now))
        try bench.open()
        bench.cut()
        let third = bench.request()
        #expect(bench.answers[third] == nil, "what was wrong before is forgotten")
    }

    @Test func `R-157: a stamp says which answers are still awaited`() throws {
        var bench = Bench()
        let first = bench.request()
        try bench.open()
        let counter = bench.sent.last?.modifyRecords.stamp.counter ?? 0
        #expect(bench.sent.last?.modifyRecords.stamp.lowestUnanswered == counter)
        let second = bench.request()
        #expect(bench.sent.last?.modifyRecords.stamp.lowestUnanswered == counter)
        try bench.answer(first)
        _ = bench.request()
        #expect(bench.sent.last?.modifyRecords.stamp.lowestUnanswered == counter + 1)
        try bench.answer(second)
        _ = bench.request()
        #expect(bench.sent.last?.modifyRecords.stamp.lowestUnanswered == counter + 2)
    }

    @Test func `a request that was never sent fails with the attempt`() {
        var bench = Bench()
        let id = bench.request()
        bench.cut()
        #expect(bench.failure(id) == .offline)
        let soon = bench.request()
        #expect(bench.failure(soon) == .offline || bench.connects == 2)
    }

    @Test func `in the wait after a failure a request fails at once, and later tries at once`() {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        bench.cut()
        bench.clock += .milliseconds(10)
        let late = bench.request()
        #expect(bench.failure(late) == .offline)
        bench.clock += .seconds(2)
        let id = bench.request()
        #expect(bench.failure(id) == nil)
        #expect(bench.connects == 2)
    }

    @Test func `R-373: after a cut a request waits for the attempt that comes at once, and for no other`() throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        try bench.open()
        bench.cut()
        let first = bench.request()
        #expect(bench.failure(first) == nil && bench.connects == 1)
        bench.clock += ReconnectPolicy.firstWait
        bench.take(bench.machine.wokeUp(now: bench.now))
        try bench.open()
        try bench.answer(first)
        #expect((try? bench.answers[first]?.get()) != nil)

        bench.cut()
        let second = bench.request()
        bench.clock += ReconnectPolicy.firstWait
        bench.take(bench.machine.wokeUp(now: bench.now))
        bench.cut()
        #expect(bench.failure(second) == .offline)
        let third = bench.request()
        #expect(bench.failure(third) == .offline && bench.connects == 3)
    }

    @Test
    func
        `R-875: a server that restarts is no failure: a device connects again within 100 ms, however often, and repeats`()
        throws
    {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        try bench.open()
        for round in 1...5 {
            let id = bench.request()
            bench.take(
                bench.machine.closed(
                    .server(code: 1012, reason: "server restarts"), now: bench.now, randomBits: .max))
            #expect(bench.failure(id) == nil && bench.connects == round)
            bench.clock += ReconnectPolicy.firstWait
            bench.take(bench.machine.wokeUp(now: bench.now))
            #expect(bench.connects == round + 1)
            try bench.open()
            try bench.answer(id)
            #expect((try? bench.answers[id]?.get()) != nil)
        }
    }

    @Test(arguments: [(true, Machine.RequestFailure.Code.answerLost), (false, .timedOut)])
    func `R-157: without an answer a change may have been made, a question was not`(
        isChange: Bool, code: Machine.RequestFailure.Code
    ) throws {
        var bench = Bench()
        let id = bench.request(isChange: isChange)
        try bench.open()
        bench.take(bench.machine.timeOut(id, now: bench.now))
        #expect(bench.failure(id) == code)
        try bench.answer(id)
    }

    @Test func `R-401: a cancelled request ends once`() throws {
        var bench = Bench()
        let id = bench.request()
        try bench.open()
        bench.take(bench.machine.cancel(id, now: bench.now))
        #expect(bench.failure(id) == .cancelled)
        bench.answers = [:]
        try bench.answer(id)
        bench.take(bench.machine.timeOut(id, now: bench.now))
        #expect(bench.answers.isEmpty)
    }

    @Test func `I-7: no more requests under way than the server takes`() throws {
        var bench = Bench()
        let ids = (0..<5).map { _ in bench.request() }
        try bench.open(inFlightMax: 2)
        #expect(bench.sent.count == 1 + 2)
        try bench.answer(ids[0])
        #expect(bench.sent.count == 1 + 3)
        #expect(bench.sent.last?.id == ids[2])
    }

    @Test func `R-155: what the server would not read is refused here, each time, and the others go on`() throws {
        var bench = Bench()
        func request(_ bench: inout Bench, byteCount: Int) -> UInt64 {
            let (id, actions) = bench.machine.request(isChange: true, now: bench.now) { stamp in
                var envelope = WireClientEnvelope()
                envelope.modifyRecords = WireModifyRecords()
                if let stamp { envelope.modifyRecords.stamp = stamp }
                envelope.modifyRecords.clientChangeToken = [UInt8](repeating: 0, count: byteCount)
                return envelope
            }
            bench.take(actions)
            return id
        }
        let waiting = request(&bench, byteCount: 2_000)
        let fitting = request(&bench, byteCount: 900)
        try bench.open(messageBytesMax: 1_000)
        let later = request(&bench, byteCount: 1_000)
        for id in [waiting, later] { #expect(bench.failure(id) == .refused(.limitExceeded)) }
        #expect(bench.sent.dropFirst().map(\.id) == [fitting])
        let last = request(&bench, byteCount: 0)
        #expect(bench.sent.last?.id == last)
        #expect(bench.sent.last?.modifyRecords.stamp.lowestUnanswered == bench.sent[1].modifyRecords.stamp.counter)
        // The next server reads less than the one before.
        bench.cut()
        bench.clock += bench.waits[0]
        bench.take(bench.machine.wokeUp(now: bench.now))
        try bench.open(messageBytesMax: 500)
        #expect(bench.failure(fitting) == .refused(.limitExceeded))
        #expect(bench.answers[last] == nil && bench.sent.last?.id == last)
    }

    @Test func `each server says how large the parts of assets may be; one that says nothing changes nothing`() throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        try bench.open(chunkBytesMax: 30_000)
        #expect(bench.chunkLimits == [30_000])
        for limit: UInt32 in [0, 1_000_000] {
            bench.cut()
            bench.clock += .seconds(100)
            bench.take(bench.machine.wokeUp(now: bench.now))
            try bench.open(chunkBytesMax: limit)
        }
        #expect(bench.connects == 3 && bench.chunkLimits == [30_000, 1_000_000])
    }

    @Test func `R-070: a part of an upload is not sent again after a cut, but fails over the next connection`() throws {
        var bench = Bench()
        let part = bench.part()
        let request = bench.request()
        try bench.open()
        #expect(bench.sent.map(\.id).suffix(2) == [part, request])
        bench.cut()
        #expect(bench.answers.isEmpty)
        let unsent = bench.part()
        bench.clock += .seconds(1)
        bench.take(bench.machine.wokeUp(now: bench.now))
        #expect(bench.answers.isEmpty)
        try bench.open()
        #expect(bench.failure(part) == .cut)
        #expect(bench.sent.map(\.id).suffix(2) == [request, unsent])
        #expect(bench.answers.count == 1)
    }

    @Test func `R-070: a part of an upload that was cut, and finds no connection, has had no answer in time`() throws {
        var bench = Bench()
        let part = bench.part()
        try bench.open()
        bench.cut()
        bench.clock += .seconds(60)
        bench.take(bench.machine.timeOut(part, now: bench.now))
        #expect(bench.failure(part) == .timedOut)
    }

    @Test func `R-373: an attempt that began before the network came back fails nobody, and is made anew`() throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        bench.take(bench.machine.retryNow(now: bench.now))
        let id = bench.request()
        bench.cut()
        #expect(bench.connects == 2 && bench.answers.isEmpty)
        // The second began after it.
        bench.cut()
        #expect(bench.connects == 2)
        #expect(bench.failure(id) == .offline)
    }

    @Test func `without requests or observers nothing is connected again`() throws {
        var bench = Bench()
        let id = bench.request()
        try bench.open()
        try bench.answer(id)
        bench.cut()
        #expect(bench.waits.isEmpty)
        #expect(bench.machine.state == .idle)
    }

    @Test func `who is signed in is answered by Hello, and later at once`() throws {
        var bench = Bench()
        let (id, actions) = bench.machine.identify(now: bench.now)
        bench.take(actions)
        try bench.open()
        #expect((try? bench.answers[id]?.get())?.hello.userRecordName == "_alice")
        let (again, more) = bench.machine.identify(now: bench.now)
        bench.take(more)
        #expect((try? bench.answers[again]?.get())?.hello.userRecordName == "_alice")
    }

    @Test func `R-375: waits grow to a bound and are never equal for all`() {
        for failures in 0..<30 {
            let shortest = ReconnectPolicy.wait(failures: failures, randomBits: 0)
            let longest = ReconnectPolicy.wait(failures: failures, randomBits: .max)
            #expect(shortest < longest)
            #expect(longest <= ReconnectPolicy.waitMax)
            #expect(shortest >= .milliseconds(50))
        }
        #expect(ReconnectPolicy.wait(failures: 20, randomBits: .max) > .seconds(14))
    }

    // MARK: After a sleep

    /// Fails so often that the wait is long.
    private func waiting() -> Bench {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        for _ in 0..<10 {
            bench.cut()
            bench.clock += .seconds(20)
            bench.take(bench.machine.wokeUp(now: bench.now))
        }
        bench.cut()
        return bench
    }

    @Test func `R-508: the wait after failures goes on until its end, with looks at the clocks`() {
        var bench = waiting()
        let connects = bench.connects
        let start = bench.clock
        while bench.connects == connects {
            guard let look = bench.waits.last else { break }
            #expect(look <= .seconds(2))
            bench.clock += look
            bench.take(bench.machine.wokeUp(now: bench.now))
        }
        // Fifteen seconds, less jitter.
        #expect(bench.clock - start >= .milliseconds(7_500) && bench.clock - start <= .seconds(15))
    }

    @Test func `R-508: requests while there is no network do not make timers more and more`() {
        var bench = waiting()
        for _ in 0..<50 {
            bench.clock += .milliseconds(1_100)
            _ = bench.request()
            bench.cut()
        }
        // Timers of earlier waits have been overtaken by the last one.
        let timers = bench.waits.count
        let last = bench.clock + (bench.waits.last ?? .zero)
        while bench.clock < last - .milliseconds(100) {
            bench.clock += .milliseconds(50)
            bench.take(bench.machine.wokeUp(now: bench.now))
        }
        #expect(bench.waits.count == timers)
    }

    @Test func `R-508: after an hour's sleep the first look connects, though the monotonic clock stood still`() {
        var bench = waiting()
        let connects = bench.connects
        bench.clock += .seconds(2)
        let asleep = bench.now
        bench.take(bench.machine.wokeUp(now: asleep))
        #expect(bench.connects == connects)
        bench.take(
            bench.machine.wokeUp(
                now: .init(monotonic: asleep.monotonic + .seconds(2), withSleep: asleep.withSleep + .seconds(3_600))))
        #expect(bench.connects == connects + 1)
    }

    // MARK: Another account

    @Test func `R-354: another credential fails what is under way, and comes with the next Hello`() throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        try bench.open()
        let (sent, generation) = (bench.request(), bench.machine.generation)
        bench.take(bench.machine.changeCredential("bob", now: bench.now))
        #expect(bench.failure(sent) == .cancelled)
        #expect(bench.closes == 1 && bench.connects == 2)
        #expect(bench.notifications.last == .disconnected)
        #expect(bench.machine.userRecordName == nil && bench.machine.generation == generation + 1)
        let count = bench.sent.count
        try bench.open()
        #expect(bench.sent[count].hello.credential == "bob" && bench.sent.count == count + 1, "nothing is sent again")
    }

    @Test func `R-354: what was begun for one account is not sent for another`() throws {
        var bench = Bench()
        let old = bench.machine.generation
        bench.take(bench.machine.changeCredential("bob", now: bench.now))
        let (id, actions) = bench.machine.request(isChange: true, generation: old, now: bench.now) { _ in .init() }
        bench.take(actions)
        #expect(bench.failure(id) == .otherAccount)
        let (who, more) = bench.machine.identify(generation: old, now: bench.now)
        bench.take(more)
        #expect(bench.failure(who) == .otherAccount)
        #expect(bench.connects == 0 && bench.sent.isEmpty)
    }

    @Test func `R-159: what was asked for one user is not sent when the server names another for the credential`()
        throws
    {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        try bench.open()
        let (sent, generation) = (bench.request(), bench.machine.generation)
        bench.cut()
        let waiting = bench.request()
        let (who, actions) = bench.machine.identify(generation: generation, now: bench.now)
        bench.take(actions)
        let count = bench.sent.count
        bench.take(bench.machine.retryNow(now: bench.now))
        try bench.open(user: "_bob")
        #expect(bench.failure(sent) == .answerLost && bench.failure(waiting) == .otherAccount)
        #expect((try? bench.answers[who]?.get())?.hello.userRecordName == "_bob")
        #expect(bench.sent.count == count + 1, "but for the greeting nothing was sent")
        let (late, more) = bench.machine.identify(generation: generation, now: bench.now)
        bench.take(more)
        #expect(bench.failure(late) == .otherAccount && bench.machine.generation == generation + 1)
        // The same one again: nothing has changed.
        let mine = bench.request()
        bench.cut()
        bench.take(bench.machine.retryNow(now: bench.now))
        try bench.open(user: "_bob")
        #expect(bench.answers[mine] == nil && bench.machine.generation == generation + 1)
    }

    @Test func `R-354: signing out stops the socket, and it stays away`() throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        try bench.open()
        bench.take(bench.machine.changeCredential("", now: bench.now))
        #expect(bench.closes == 1 && bench.connects == 1 && bench.machine.state == .idle)
        bench.take(bench.machine.closed(.local, now: bench.now, randomBits: 0))
        #expect(bench.waits.isEmpty && bench.machine.state == .idle)
        bench.take(bench.machine.changeCredential("alice", now: bench.now))
        bench.take(bench.machine.keepConnection(now: bench.now))
        #expect(bench.connects == 2)
    }

    @Test func `R-354: a fresh credential ends the wait after a refusal`() throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        try bench.open()
        bench.take(bench.machine.closed(.server(code: 4401, reason: "expired"), now: bench.now, randomBits: 0))
        bench.take(bench.machine.changeCredential("fresh", now: bench.now))
        #expect(bench.connects == 2)
        try bench.open()
        #expect(bench.machine.state == .open && bench.machine.refusal == nil)
    }

    @Test func `bytes that are no envelope end the channel`() throws {
        var bench = Bench()
        bench.take(bench.machine.keepConnection(now: bench.now))
        try bench.open()
        bench.take(bench.machine.received([0xFF, 0xFF, 0xFF], now: bench.now))
        #expect(bench.closes == 1)
    }

    @Test func `after stop everything fails at once`() throws {
        var bench = Bench()
        let id = bench.request()
        try bench.open()
        bench.take(bench.machine.stop())
        #expect(bench.failure(id) == .offline)
        #expect(bench.closes == 1)
        let late = bench.request()
        #expect(bench.failure(late) == .offline)
    }
}
