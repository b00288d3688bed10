// SPDX-License-Identifier: Apache-2.0

import SessionTestSupport
import Synchronization
import Testing
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkSessions

/// What a server does when an operator asks what it knows of devices.
@Suite struct DeviceQuestionsTests {
    private static let alice = AccountID(1)

    private func question(_ number: UInt64, _ account: AccountID? = nil) -> DeviceQuestion {
        DeviceQuestion(number: number, account: account)
    }

    // MARK: When

    @Test func `R-966: whoever asks again gets the next answer, a second after the last one began`() {
        var questions = DeviceQuestions()
        #expect(questions.ask(question(1), at: .seconds(10)) == .zero)
        #expect(questions.ask(question(2), at: .seconds(10)) == nil, "it has not begun yet")
        #expect(questions.begin(at: .seconds(10)) == [question(1), question(2)])
        #expect(questions.ask(question(3), at: .milliseconds(10_100)) == nil)
        #expect(questions.ask(question(4), at: .milliseconds(10_200)) == nil)
        #expect(questions.ended(at: .milliseconds(10_300)) == .milliseconds(700))
        #expect(questions.begin(at: .seconds(11)) == [question(3), question(4)])
        #expect(questions.ended(at: .milliseconds(11_100)) == nil, "nobody has asked meanwhile")
        #expect(questions.ask(question(5), at: .milliseconds(11_400)) == .milliseconds(600))
        #expect(questions.begin(at: .seconds(12)) == [question(5)])
        #expect(questions.ended(at: .seconds(12)) == nil)
        #expect(questions.ask(question(6), at: .seconds(100)) == .zero)
    }

    @Test func `R-966: an answer that took long is followed at once, and questions that wait have a bound`() {
        var questions = DeviceQuestions()
        #expect(questions.ask(question(0), at: .zero) == .zero)
        #expect(questions.begin(at: .zero).count == 1)
        for number in 1...200 { #expect(questions.ask(question(UInt64(number)), at: .seconds(1)) == nil) }
        #expect(questions.ask(question(1), at: .seconds(1)) == nil, "it came twice")
        #expect(questions.ended(at: .seconds(30)) == .zero)
        let next = questions.begin(at: .seconds(30))
        #expect(next == (1...DeviceQuestions.waitingMax).map { question(UInt64($0)) })
        #expect(questions.ended(at: .seconds(30)) == nil)
    }

    /// A clock that tests set.
    @Test func `R-965: a server began no later than its connections, though somebody sets the clock`() {
        let scheduler = ManualScheduler()
        let start = ServerStart(on: scheduler)
        let before = scheduler.wallClockMilliseconds
        scheduler.advance(by: .seconds(100))
        #expect(start.earliest(on: scheduler).milliseconds == before)
        // It sleeps with a monotonic clock that stands still: as if the wall clock had been set on.
        scheduler.sleepOver(3_600, isMonotonicStill: true)
        #expect(start.earliest(on: scheduler).milliseconds == before)
    }

    // MARK: What

    @Test func `R-965: all that has changed of a device is written for its account, connections for a whole server`() {
        let trail = DeviceTrail(of: AccountDevice(account: Self.alice, device: DeviceID(high: 0, low: 1)))
        func isDue() -> [Bool] { [trail.isDue(for: .all), trail.isDue(for: .link)] }
        func write(_ isKept: Bool = true) {
            _ = trail.takeForWriting(nil, at: .zero)
            trail.written(isKept)
        }
        #expect(isDue() == [false, false])
        trail.opened(DeviceLink(server: "one", since: Timestamp(milliseconds: 1), credential: CredentialID(1)))
        #expect(isDue() == [true, true])
        write()
        #expect(isDue() == [false, false])
        // Not worth a write of its own, but whoever looks wants to see it.
        trail.note(isNews: false) { $0.pushed(at: Timestamp(milliseconds: 2)) }
        #expect(isDue() == [true, false])
        #expect(!trail.isDue(at: .seconds(60)))
        write()
        trail.closed(at: Timestamp(milliseconds: 3))
        #expect(isDue() == [true, true])
        write(false)
        #expect(isDue() == [true, true], "the store did not take it")
        trail.forget(at: .zero)
        #expect(isDue() == [false, false])
    }

    @Test func `R-965: what several operators want is wanted together`() {
        let wishes = DeviceWishes([question(1, Self.alice), question(2)])
        #expect(wishes.wish(of: Self.alice) == .all && wishes.wish(of: AccountID(2)) == .link)
        let one = DeviceWishes([question(1, Self.alice)])
        #expect(one.wish(of: Self.alice) == .all && one.wish(of: AccountID(2)) == nil)
    }

    // MARK: A server

    /// A server that writes by itself once in ten minutes, with a device of alice's and one of bob's, and what it answers.
    private struct Asked {
        let book = DeviceBook(server: "host/7", interval: .seconds(600))
        let world: SessionWorld
        let alice: TestClient
        let accounts: (alice: AccountID, bob: AccountID)
        private let answers = Answers()

        private final class Answers: Sendable {
            let all = Mutex<[DeviceAnswer]>([])
        }

        init() throws {
            let book = book
            world = SessionWorld { $0.devices = book }
            alice = try world.enter("alice", device: 1)
            _ = try world.enter("bob", device: 2)
            let database = world.database
            func account(_ name: String) throws -> AccountID {
                try #require(database.revokeDevice(DeviceID(high: 9, low: 9), account: name)).account
            }
            accounts = (try account("alice"), try account("bob"))
            _ = world.database.listen { [answers] notices in
                for case .devicesWritten(let answer) in notices { answers.all.withLock { $0.append(answer) } }
            }
        }

        func ask(_ number: UInt64, _ account: AccountID? = nil) {
            world.server.hub.heard([.devicesAsked(DeviceQuestion(number: number, account: account))])
            world.scheduler.runUntilIdle()
        }

        var answered: [UInt64] { answers.all.withLock { $0.map(\.question) } }
        var last: DeviceAnswer? { answers.all.withLock { $0.last } }

        func stored(_ device: UInt64, of account: AccountID) throws -> DeviceProgress? {
            let key = AccountDevice(account: account, device: DeviceID(high: 0, low: device))
            return try world.scheduler.complete {
                await world.server.service.deviceProgress(of: [key])
            }.get()[key]?.progress
        }
    }

    @Test func `R-965: a server writes what it knows of an account's devices, and then answers`() throws {
        let asked = try Asked()
        let (alice, bob) = asked.accounts
        let now = asked.world.scheduler.wallClockMilliseconds
        try asked.alice.makeZone("Notes")
        #expect(try asked.stored(1, of: alice) == nil)
        asked.ask(5, alice)
        #expect(asked.answered == [5])
        #expect(asked.last?.server == "host/7")
        #expect(try #require(asked.last).serverSince.milliseconds <= now)
        #expect(try asked.stored(1, of: alice)?.requests.map(\.kind) == ["modify_zones"])
        #expect(try asked.stored(2, of: bob) == nil)
        // Of all accounts, only who is connected.
        asked.world.scheduler.advance(by: .seconds(2))
        try asked.alice.save("a", in: "Notes")
        asked.ask(6)
        #expect(asked.answered == [5, 6])
        #expect(try asked.stored(2, of: bob)?.link?.server == "host/7")
        #expect(try asked.stored(1, of: alice)?.requests.count == 1, "nothing new of its connection")
        asked.alice.disconnect()
        asked.world.scheduler.advance(by: .seconds(2))
        asked.ask(7)
        #expect(try asked.stored(1, of: alice)?.link?.endedAt != nil)
    }

    @Test func `R-966: a server that is asked again and again writes once in a second`() throws {
        let asked = try Asked()
        let alice = asked.accounts.alice
        try asked.alice.makeZone("Notes")
        asked.ask(1, alice)
        #expect(asked.answered == [1])
        try asked.alice.save("a", in: "Notes")
        for number in 2...9 { asked.ask(UInt64(number), number.isMultiple(of: 2) ? alice : nil) }
        #expect(asked.answered == [1])
        #expect(try asked.stored(1, of: alice)?.requests.count == 1)
        asked.world.scheduler.advance(by: .milliseconds(1_001))
        #expect(asked.answered.sorted() == (1...9).map { UInt64($0) })
        #expect(try asked.stored(1, of: alice)?.requests.count == 2)
    }

    @Test func `R-965: a server whose store fails gives no answer, and answers the next question`() throws {
        let asked = try Asked()
        let alice = asked.accounts.alice
        try asked.alice.makeZone("Notes")
        asked.world.server.faults.always(.callSent, .reject)
        asked.ask(1, alice)
        asked.world.scheduler.advance(by: .seconds(30))
        #expect(asked.answered.isEmpty)
        asked.world.server.faults.always(.callSent, .none)
        asked.ask(2, alice)
        asked.world.scheduler.advance(by: .seconds(2))
        #expect(asked.answered == [2])
        #expect(try asked.stored(1, of: alice)?.requests.count == 1)
    }

    @Test func `R-965: a writing that takes long does not undo what an operator was answered`()
        throws
    {
        let asked = try Asked()
        let alice = asked.accounts.alice
        let (book, service, scheduler) = (asked.book, asked.world.server.service, asked.world.scheduler)
        let faults = asked.world.server.faults
        // It takes what is known after a second. The store has it five seconds later.
        faults.always(.callSent, .delay(.seconds(1)))
        scheduler.run { await book.write(by: service, at: scheduler.now) }
        scheduler.advance(by: .milliseconds(500))
        faults.always(.callSent, .delay(.seconds(5)))
        scheduler.advance(by: .seconds(1))
        faults.always(.callSent, .none)
        asked.alice.disconnect()
        asked.ask(1, alice)
        #expect(asked.answered.isEmpty, "the store is still writing that she is connected")
        scheduler.advance(by: .seconds(8))
        #expect(asked.answered == [1])
        #expect(try asked.stored(1, of: alice)?.link?.endedAt != nil)
    }

    @Test func `R-852, R-965: two servers that answer at the same moment do not write over each other`() throws {
        let books = ["one", "two"].map { DeviceBook(server: $0, interval: .seconds(600)) }
        let world = SessionWorld { $0.devices = books[0] }
        let second = world.anotherServer { $0.devices = books[1] }
        let account = try #require(world.database.revokeDevice(DeviceID(high: 9, low: 9), account: "alice")).account
        let key = AccountDevice(account: account, device: DeviceID(high: 0, low: 1))
        // Neither server has written anything of the device, which moves from one to the other.
        let first = try world.enter(device: 1)
        try first.makeZone("Notes")
        world.scheduler.advance(by: .seconds(1))
        first.disconnect()
        _ = try world.enter(device: 1, server: second)
        // The first server reads at once, and its writing comes after the other one's.
        world.server.faults.always(.callSent, .delay(.seconds(5)), after: 1)
        for hub in [world.server.hub, second.hub] { hub.heard([.devicesAsked(question(1, account))]) }
        world.scheduler.advance(by: .seconds(1))
        func stored() throws -> DeviceProgress? {
            try world.scheduler.complete { await second.service.deviceProgress(of: [key]) }.get()[key]?.progress
        }
        let early = try #require(try stored())
        #expect(early.link?.server == "two" && early.requests.isEmpty)
        world.scheduler.advance(by: .seconds(60))
        let both = try #require(try stored())
        #expect(both.link?.server == "two" && both.link?.endedAt == nil, "where it is connected now")
        #expect(both.requests.map(\.kind) == ["modify_zones"], "what the first server knew is there too")
    }

    @Test func `R-965: a server that notes no devices answers nothing`() throws {
        let world = SessionWorld()
        let heard = Mutex(0)
        _ = world.database.listen { notices in heard.withLock { $0 += notices.count } }
        world.server.hub.heard([.devicesAsked(question(1))])
        world.scheduler.advance(by: .seconds(5))
        #expect(heard.withLock { $0 } == 0)
    }
}
