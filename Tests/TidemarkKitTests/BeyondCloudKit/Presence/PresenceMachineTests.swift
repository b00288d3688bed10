// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkKit

/// What a device does about its presence.
@Suite struct PresenceMachineTests {
    /// An action, as text.
    private func text(_ action: PresenceMachine.Action) -> String? {
        func string(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        switch action {
        case .join(let state): return "join \(string(state))"
        case .publish(let topic, let state): return "publish \(topic) \(state.map(string) ?? "-")"
        case .show(let members): return "show \(members.map { string($0.state) }.joined(separator: ","))"
        case .deliver(let message): return "deliver \(string(message.content))"
        case .wakeUp: return nil
        case .fail(let error): return "fail \(error.code.rawValue)"
        }
    }

    /// After which times it wants to look.
    private func delays(_ actions: [PresenceMachine.Action]) -> [Duration] {
        actions.compactMap { if case .wakeUp(let delay) = $0 { delay } else { nil } }
    }

    private func texts(_ actions: [PresenceMachine.Action]) -> [String] { actions.compactMap(text) }

    private func member(_ number: UInt64, _ state: String) -> WirePresenceMember {
        var member = WirePresenceMember()
        (member.number, member.user, member.state) = (number, "_\(number)", Array(state.utf8))
        return member
    }

    private func answer(_ topic: UInt64 = 7, _ members: WirePresenceMember...) -> WireJoinPresenceAnswer {
        var answer = WireJoinPresenceAnswer()
        (answer.topic, answer.member, answer.members) = (topic, 1, [member(1, "me")] + members)
        answer.lifeMilliseconds = 15_000
        return answer
    }

    private func push(
        _ topic: UInt64 = 7, _ members: [WirePresenceMember] = [], gone: [UInt64] = [], isWhole: Bool = false,
        message: (from: UInt64, text: String)? = nil
    ) -> WirePresencePush {
        var push = WirePresencePush()
        (push.topic, push.members, push.gone, push.isWhole) = (topic, members, gone, isWhole)
        if let message {
            var wire = WirePresenceMessage()
            (wire.member, wire.content) = (message.from, Array(message.text.utf8))
            push.messages = [wire]
        }
        return push
    }

    private func end(_ code: WireErrorCode, _ topic: UInt64 = 7) -> WirePresencePush {
        var push = push(topic)
        push.end.code = code
        push.end.retryAfterSeconds = 2
        return push
    }

    /// One that is present in topic 7.
    private func present() -> PresenceMachine {
        var machine = PresenceMachine()
        _ = machine.update(Array("me".utf8), now: .zero)
        _ = machine.joined(answer(), now: .zero)
        return machine
    }

    @Test func `R-291: a join that a fresh credential has cancelled is made again, with the next connection or soon`() {
        var machine = PresenceMachine()
        _ = machine.update(Array("me".utf8), now: .zero)
        let cancelled = CKError(.operationCancelled)
        #expect(texts(machine.joinFailed(cancelled, now: .zero, randomBits: 0)) == [])
        #expect(texts(machine.update(Array("new".utf8), now: .zero)) == [])
        #expect(texts(machine.connected(now: .zero)) == ["join new"])
        // The connection comes before the failure.
        #expect(texts(machine.disconnected(now: .zero)) == [] && texts(machine.connected(now: .zero)) == [])
        #expect(texts(machine.joinFailed(cancelled, now: .zero, randomBits: 0)) == [])
        #expect(texts(machine.wokeUp(now: .milliseconds(500))) == ["join new"])
    }

    @Test func `R-879: nothing happens until somebody uses it, and then it joins with the newest state`() {
        var machine = PresenceMachine()
        #expect(texts(machine.connected(now: .zero)) == [])
        #expect(texts(machine.disconnected(now: .zero)) == [])
        #expect(texts(machine.wokeUp(now: .seconds(9))) == [])
        #expect(texts(machine.update(Array("a".utf8), now: .seconds(10))) == ["join a"])
        #expect(texts(machine.update(Array("b".utf8), now: .seconds(10))) == [])
        #expect(texts(machine.joined(answer(), now: .seconds(11))) == ["show me"])
        // What changed meanwhile follows.
        #expect(texts(machine.wokeUp(now: .milliseconds(11_150))) == ["publish 7 b"])
    }

    @Test func `R-879: of many updates the newest is sent, one request at a time, at a pace`() {
        var machine = present()
        for value in 0..<50 {
            #expect(texts(machine.update([UInt8(65 + value % 26)], now: .milliseconds(value))) == [])
        }
        #expect(texts(machine.wokeUp(now: .milliseconds(150))) == ["publish 7 X"])
        #expect(texts(machine.update(Array("Y".utf8), now: .milliseconds(400))) == [])
        #expect(texts(machine.published(nil, topic: 7, now: .milliseconds(410))) == ["publish 7 Y"])
        #expect(texts(machine.published(nil, topic: 7, now: .milliseconds(420))) == [])
        // The same again is no news.
        #expect(texts(machine.update(Array("Y".utf8), now: .seconds(2))) == [])
    }

    @Test func `R-879: a silent device says every five seconds that it is there`() {
        var machine = present()
        #expect(texts(machine.wokeUp(now: .seconds(4))) == [])
        #expect(texts(machine.wokeUp(now: .seconds(5))) == ["publish 7 -"])
        #expect(texts(machine.published(nil, topic: 7, now: .seconds(5))) == [])
        #expect(texts(machine.wokeUp(now: .seconds(10))) == ["publish 7 -"])
    }

    @Test func `R-879: whoever is to wait beyond the next renewal sleeps until then`() {
        var machine = present()
        #expect(texts(machine.update(Array("b".utf8), now: .seconds(1))) == ["publish 7 b"])
        // The renewal is due at the fifth second, while the answer is awaited.
        #expect(texts(machine.wokeUp(now: .seconds(5))) == [])
        let refusal = CKError(.zoneBusy, userInfo: [CKErrorRetryAfterKey: 5])
        #expect(texts(machine.published(refusal, topic: 7, now: .milliseconds(5_900))) == [])
        let actions = machine.wokeUp(now: .seconds(10))
        #expect(texts(actions) == [] && delays(actions) == [.milliseconds(900)])
        #expect(texts(machine.wokeUp(now: .milliseconds(10_900))) == ["publish 7 b"])
    }

    @Test func `R-879: news change who is shown, and own messages are not delivered`() {
        var machine = present()
        #expect(texts(machine.pushed(push(7, [member(2, "two")]), now: .zero)) == ["show me,two"])
        #expect(texts(machine.pushed(push(7, [member(2, "two")]), now: .zero)) == [])
        #expect(texts(machine.pushed(push(8, [member(3, "other")]), now: .zero)) == [])
        #expect(texts(machine.pushed(push(message: (2, "hello")), now: .zero)) == ["deliver hello"])
        #expect(texts(machine.pushed(push(message: (1, "mine")), now: .zero)) == [])
        #expect(texts(machine.pushed(push(gone: [2]), now: .zero)) == ["show me"])
        #expect(texts(machine.pushed(push(7, [member(9, "nine")], isWhole: true), now: .zero)) == ["show nine"])
    }

    @Test func `R-879: news that come before the answer of the join count, after it`() {
        var machine = PresenceMachine()
        _ = machine.begin(now: .zero)
        #expect(texts(machine.pushed(push(7, [member(2, "new")], message: (2, "hello")), now: .zero)) == [])
        #expect(texts(machine.pushed(push(9, [member(3, "other")]), now: .zero)) == [])
        #expect(
            texts(machine.joined(answer(7, member(2, "old")), now: .zero)).filter { !$0.hasPrefix("publish") }
                == ["deliver hello", "show me,new"])
        // Too many: it asks once more.
        var flooded = PresenceMachine()
        _ = flooded.begin(now: .zero)
        for _ in 0..<100 { _ = flooded.pushed(push(7, [member(2, "new")]), now: .zero) }
        #expect(texts(flooded.joined(answer(), now: .zero)) == ["join "])
    }

    @Test func `R-879: however many news other zones have while it joins, it joins once`() {
        var machine = PresenceMachine()
        _ = machine.begin(now: .zero)
        for number in 0..<600 { _ = machine.pushed(push(UInt64(10 + number % 3)), now: .zero) }
        _ = machine.pushed(push(7, [member(2, "new")]), now: .zero)
        #expect(texts(machine.joined(answer(), now: .zero)) == ["show me,new"])
        #expect(machine.topic == 7)
    }

    @Test func `R-879: pushes that come early are bounded, and what was dropped is known`() {
        var early = EarlyPushes()
        for number in 0..<64 { early.add(push(7, [member(UInt64(number), "")])) }
        #expect(early.pushes(of: 7)?.compactMap { $0.members.first?.number } == Array(0..<64))
        #expect(early.pushes(of: 8)?.isEmpty == true)
        early.add(push(7))
        #expect(early.pushes(of: 7) == nil)
        early.add(push(7))
        #expect(early.pushes(of: 7) == nil && early.pushes(of: 8)?.isEmpty == true)
        // More topics than a connection has: of none that is not there is it known that nothing was lost.
        for topic in 100..<140 as Range<UInt64> { early.add(push(topic)) }
        #expect(early.pushes(of: 100)?.count == 1)
        #expect(early.pushes(of: 139) == nil && early.pushes(of: 8) == nil)
    }

    @Test func `R-879: after a lost connection it joins anew with the newest state`() {
        var machine = present()
        _ = machine.pushed(push(7, [member(2, "two")]), now: .seconds(1))
        #expect(texts(machine.disconnected(now: .seconds(2))) == [])
        #expect(texts(machine.update(Array("later".utf8), now: .seconds(3))) == [])
        #expect(texts(machine.connected(now: .seconds(4))) == ["join later"])
        #expect(texts(machine.joined(answer(8), now: .seconds(4))) == ["show me"])
        // The old topic means nothing.
        #expect(texts(machine.pushed(push(7, [member(2, "two")]), now: .seconds(5))) == [])

        // Without a connection nobody is there after 15 seconds.
        _ = machine.disconnected(now: .seconds(10))
        #expect(texts(machine.wokeUp(now: .seconds(24))).contains("show ") == false)
        #expect(texts(machine.wokeUp(now: .seconds(60))).first == "show ")
    }

    @Test func `R-879: an answer of the connection before does not count`() {
        var machine = PresenceMachine()
        _ = machine.update(Array("a".utf8), now: .zero)
        #expect(texts(machine.disconnected(now: .zero)) == [])
        #expect(texts(machine.connected(now: .zero)) == [])
        #expect(texts(machine.joined(answer(), now: .zero)) == ["join a"])
        #expect(texts(machine.joined(answer(8), now: .zero)) == ["show me"])
        #expect(machine.topic == 8)
    }

    @Test func `R-879: a join that waits for the first connection is sent once`() {
        var machine = PresenceMachine()
        _ = machine.update(Array("a".utf8), now: .zero)
        #expect(texts(machine.connected(now: .seconds(1))) == [])
        #expect(texts(machine.joined(answer(), now: .seconds(2))) == ["show me"])
        #expect(machine.topic == 7)
    }

    @Test func `R-879: what passes is tried again, and what stays ends it`() {
        for code in [CKError.Code.networkUnavailable, .serviceUnavailable, .requestRateLimited, .zoneBusy] {
            var machine = PresenceMachine()
            _ = machine.begin(now: .zero)
            #expect(texts(machine.joinFailed(CKError(code), now: .zero, randomBits: 0)) == [])
            #expect(texts(machine.wokeUp(now: .seconds(15))) == ["join "])
        }
        for code in [CKError.Code.zoneNotFound, .limitExceeded, .notAuthenticated] {
            var machine = PresenceMachine()
            _ = machine.begin(now: .zero)
            #expect(texts(machine.joinFailed(CKError(code), now: .zero, randomBits: 0)) == ["fail \(code.rawValue)"])
            #expect(machine.isEnded)
            #expect(texts(machine.connected(now: .zero)) == [])
        }
        var machine = present()
        #expect(texts(machine.pushed(end(.zoneNotFound), now: .zero)) == ["fail \(CKError.Code.zoneNotFound.rawValue)"])
        machine = present()
        #expect(texts(machine.pushed(end(.serviceUnavailable), now: .zero)) == [])
        #expect(texts(machine.wokeUp(now: .seconds(2))) == ["join me"])
    }

    @Test func `R-879: a topic that the server has forgotten is joined again, and a full bucket is waited for`() {
        var machine = present()
        _ = machine.wokeUp(now: .seconds(5))
        #expect(texts(machine.published(CKError(.invalidArguments), topic: 7, now: .seconds(5))) == ["join me"])

        machine = present()
        #expect(texts(machine.update(Array("b".utf8), now: .seconds(1))) == ["publish 7 b"])
        let full = CKError(.requestRateLimited, userInfo: [CKErrorRetryAfterKey: 0.5])
        #expect(texts(machine.published(full, topic: 7, now: .seconds(1))) == [])
        #expect(texts(machine.update(Array("c".utf8), now: .milliseconds(1_010))) == [])
        #expect(texts(machine.wokeUp(now: .milliseconds(1_500))) == ["publish 7 c"])
    }

    @Test func `R-879: after an end nothing follows`() {
        var machine = present()
        #expect(machine.isUsed)
        machine.end()
        #expect(machine.isEnded && !machine.isUsed && machine.topic == nil)
        #expect(texts(machine.update([1], now: .zero)) == [])
        #expect(texts(machine.connected(now: .zero)) == [])
    }

    @Test(arguments: 0..<60 as Range<UInt64>)
    func `R-879: with a connection it is present in the end with the newest state, in random histories`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var machine = PresenceMachine()
        var now = Duration.zero
        var timers: [Duration] = []
        var (topic, stored): (UInt64, [UInt8]?) = (0, nil)
        var pending: [PresenceMachine.Action] = []
        var newest: [UInt8] = []
        var isOnline = true
        var isBusy = true

        func perform(_ actions: [PresenceMachine.Action]) {
            for action in actions {
                switch action {
                case .wakeUp(let delay): timers.append(now + delay)
                case .join, .publish: pending.append(action)
                default: break
                }
            }
        }
        func answerOne() {
            guard !pending.isEmpty else { return }
            switch pending.removeFirst() {
            case .join(let state):
                guard isOnline else {
                    return perform(machine.joinFailed(CKError(.networkUnavailable), now: now, randomBits: 1))
                }
                topic += 1
                stored = state
                perform(machine.joined(answer(topic), now: now))
            case .publish(let at, let state):
                guard isOnline, at == topic, stored != nil else {
                    let code: CKError.Code = isOnline ? .invalidArguments : .networkUnavailable
                    return perform(machine.published(CKError(code), topic: at, now: now))
                }
                if isBusy, Int.random(in: 0..<4, using: &random) == 0 {
                    return perform(machine.published(CKError(.zoneBusy), topic: at, now: now))
                }
                if let state { stored = state }
                perform(machine.published(nil, topic: at, now: now))
            default: break
            }
        }
        func cut() {
            stored = nil
            perform(machine.disconnected(now: now))
        }
        func pass(_ time: Duration) {
            let end = now + time
            var count = 0
            while let next = timers.min(), next <= end {
                count += 1
                guard count < 1_000 else {
                    Issue.record("it looks again and again in no time")
                    break
                }
                timers.removeAll { $0 == next }
                now = max(now, next)
                perform(machine.wokeUp(now: now))
            }
            now = end
        }

        for step in 0..<300 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0...2:
                newest = [UInt8(step % 256), UInt8(step / 256)]
                perform(machine.update(newest, now: now))
            case 3...5: answerOne()
            case 6: pass(.milliseconds(Int.random(in: 0...2_000, using: &random)))
            default:
                isOnline.toggle()
                if isOnline { perform(machine.connected(now: now)) } else { cut() }
            }
            #expect(pending.count <= 3)
        }
        if !isOnline {
            isOnline = true
            perform(machine.connected(now: now))
        }
        isBusy = false
        for _ in 0..<200 {
            answerOne()
            pass(.milliseconds(500))
        }
        #expect(machine.topic == topic && stored == newest)
        #expect(timers.count <= 20)
    }
}
