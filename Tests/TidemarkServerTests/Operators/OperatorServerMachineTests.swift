// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkServer

/// The server's side of an operator's channel: what it does with each message in each state.
@Suite struct OperatorServerMachineTests {
    typealias Machine = OperatorServerMachine

    private static let olga = ChannelSender.operator(
        SignedInOperator(id: OperatorID(1), credential: OperatorCredentialID(2), name: "olga", role: .viewer))

    private static func client(_ edit: (inout WireOperatorClientMessage) -> Void) -> WireOperatorClientMessage {
        var message = WireOperatorClientMessage()
        edit(&message)
        return message
    }

    private static let hello = client { $0.hello.credential = [1, 2, 3] }
    private static let cancel = client { $0.cancel = WireOperatorCancel() }
    private static let answer = client { $0.answer.text = "yes" }
    private static let opened = client { $0.fileOpened.name = "notes.csv" }
    private static let part = client { $0.filePart.content = [7] }

    private static func command(credit: Int = Machine.pieceBytesMax) -> WireOperatorClientMessage {
        client {
            $0.command.arguments = ["accounts", "list"]
            $0.command.credit = UInt32(credit)
        }
    }

    private static func taken(_ byteCount: Int) -> WireOperatorClientMessage {
        client { $0.taken.byteCount = UInt32(byteCount) }
    }

    /// A machine whose command runs.
    private static func running(credit: Int = Machine.pieceBytesMax) -> Machine {
        var machine = Machine()
        _ = machine.received(hello)
        _ = machine.received(command(credit: credit))
        _ = machine.signedIn(olga)
        precondition(machine.isRunning)
        return machine
    }

    private static func code(_ actions: [Machine.Action]) -> UInt16? {
        for case .close(let code, _) in actions { return code }
        return nil
    }

    private static func data(_ actions: [Machine.Action]) -> [UInt8] {
        actions.flatMap { action -> [UInt8] in
            guard case .send(let message) = action, case .output(let output)? = message.message,
                output.stream == .data
            else { return [] }
            return output.content
        }
    }

    // MARK: The beginning

    @Test func `R-881: nothing runs before the credential is known, whichever comes first`() {
        var machine = Machine()
        #expect(machine.received(Self.hello) == [.signIn(credential: [1, 2, 3], client: "")])
        #expect(machine.received(Self.command()) == [])
        guard case .start(Self.olga, let early)? = machine.signedIn(Self.olga).first else {
            Issue.record("no start")
            return
        }
        #expect(early.arguments == ["accounts", "list"])

        var late = Machine()
        _ = late.received(Self.hello)
        #expect(late.signedIn(Self.olga) == [])
        guard case .start? = late.received(Self.command()).first else {
            Issue.record("no start")
            return
        }
    }

    @Test func `R-881: an unknown credential closes the channel with 4401, and a silent store with 1013`() {
        var machine = Machine()
        _ = machine.received(Self.hello)
        _ = machine.received(Self.command())
        #expect(Self.code(machine.signedIn(nil)) == 4401)
        #expect(machine.received(Self.command()) == [])
        #expect(machine.signedIn(Self.olga) == [])
        var other = Machine()
        _ = other.received(Self.hello)
        #expect(Self.code(other.signInFailed()) == 1013)
    }

    @Test func `R-881: whoever sends no command in time is closed with 4408, and a command goes on`() {
        var machine = Machine()
        #expect(Self.code(machine.timedOut()) == 4408)
        var signedIn = Machine()
        _ = signedIn.received(Self.hello)
        _ = signedIn.signedIn(Self.olga)
        #expect(Self.code(signedIn.timedOut()) == 4408)
        var running = Self.running()
        #expect(running.timedOut() == [])
    }

    /// Each message before its turn.
    @Test func `R-881: a message out of turn closes the channel with 4400`() {
        let beforeHello = [Self.command(), Self.cancel, Self.answer, Self.opened, Self.part, Self.taken(1)]
        for message in beforeHello + [WireOperatorClientMessage()] {
            var machine = Machine()
            #expect(Self.code(machine.received(message)) == 4400)
            #expect(machine.hasEnded)
        }
        for message in [Self.hello, Self.answer, Self.opened, Self.part, Self.taken(1)] {
            var machine = Machine()
            _ = machine.received(Self.hello)
            #expect(Self.code(machine.received(message)) == 4400)
        }
        for message in [Self.hello, Self.command(), Self.answer, Self.opened, Self.part] {
            var machine = Self.running()
            let actions = machine.received(message)
            #expect(actions.first == .cancel && Self.code(actions) == 4400)
        }
        var twice = Machine()
        _ = twice.received(Self.hello)
        _ = twice.received(Self.command())
        #expect(Self.code(twice.received(Self.command())) == 4400)
        var unreadable = Self.running()
        #expect(unreadable.received(nil).first == .cancel)
        var poor = Machine()
        _ = poor.received(Self.hello)
        _ = poor.signedIn(Self.olga)
        #expect(Self.code(poor.received(Self.command(credit: 1))) == 4400)
    }

    @Test func `R-881: a message of a later version is passed over once the credential is known`() {
        var machine = Self.running()
        #expect(machine.received(WireOperatorClientMessage()) == [])
        #expect(machine.isRunning)
    }

    /// By messages that no answer follows, before the command runs and while it does.
    @Test func `R-881: whoever sends very many messages that begin nothing is closed with 4400`() {
        for message in [WireOperatorClientMessage(), Self.taken(0), Self.taken(1), Self.cancel] {
            var machine = Self.running()
            var count = 0
            while !machine.hasEnded, count < 10 * Machine.idleMessagesMax {
                let actions = machine.received(message)
                count += 1
                if machine.hasEnded { #expect(actions.first == .cancel && Self.code(actions) == 4400) }
            }
            // Hello and the command count too.
            #expect(count == Machine.idleMessagesMax - 1)
        }
        var early = Machine()
        _ = early.received(Self.hello)
        _ = early.signedIn(Self.olga)
        for _ in 1..<Machine.idleMessagesMax { #expect(early.received(WireOperatorClientMessage()) == []) }
        #expect(Self.code(early.received(WireOperatorClientMessage())) == 4400)
    }

    @Test func `R-881: whoever answers what it is sent may send as much as it likes`() {
        var machine = Self.running()
        for _ in 0..<3 * Machine.idleMessagesMax {
            #expect(Self.data(machine.write([65])) == [65])
            #expect(machine.received(Self.taken(1)) == [])
            #expect(machine.ask(.readFile(0)).count == 1)
            #expect(machine.received(Self.part) == [.reply(.part(Self.part.filePart))])
        }
        // Also if it is sent very much before it answers.
        let count = 3 * Machine.idleMessagesMax
        for _ in 0..<count { #expect(Self.data(machine.write([65])) == [65]) }
        for _ in 0..<count { #expect(machine.received(Self.taken(1)) == []) }
        #expect(machine.isRunning)
    }

    // MARK: Output

    @Test func `R-884: output stops where the credit ends, and goes on with more, in order and whole`() {
        var machine = Self.running()
        let text = (0..<200_000).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        var sent = Self.data(machine.write(text))
        #expect(sent.count == Machine.pieceBytesMax)
        #expect(!machine.hasRoom)
        #expect(machine.say("behind it") == [])
        sent += Self.data(machine.received(Self.taken(10)))
        #expect(sent.count == Machine.pieceBytesMax + 10)
        var last: [Machine.Action] = []
        while !machine.hasRoom {
            last = machine.received(Self.taken(50_000))
            sent += Self.data(last)
        }
        #expect(sent == text)
        guard case .send(let message)? = last.last, case .output(let output)? = message.message else {
            Issue.record("the message is missing")
            return
        }
        #expect(output.stream == .message && output.content == Array("behind it".utf8))
    }

    @Test func `R-884: no character is cut, whatever the credit`() {
        var generator = SeededRandom(seed: 33)
        for _ in 0..<50 {
            var machine = Self.running()
            let text = String((0..<40_000).map { _ in "aé€😀".randomElement(using: &generator)! })
            var actions = machine.write(Array(text.utf8))
            var steps = 0
            while !machine.hasRoom, steps < 10_000 {
                actions += machine.received(Self.taken(Int.random(in: 1...9_000, using: &generator)))
                steps += 1
            }
            for action in actions {
                guard case .send(let message) = action else { continue }
                #expect(String(validating: message.output.content, as: UTF8.self) != nil)
            }
            #expect(Self.data(actions) == Array(text.utf8))
        }
    }

    @Test
    func `R-884: a client that reads nothing holds a bounded number of messages, and is told how many are missing`() {
        var machine = Self.running()
        _ = machine.write([UInt8](repeating: 65, count: Machine.pieceBytesMax))
        let count = Machine.messagesMax + 7
        for number in 0..<count { #expect(machine.say("message \(number)") == []) }
        let actions = machine.received(Self.taken(Machine.creditMax))
        #expect(actions.count == Machine.messagesMax + 1)
        guard case .send(let last)? = actions.last else {
            Issue.record("nothing came")
            return
        }
        #expect(String(decoding: last.output.content, as: UTF8.self).hasPrefix("7 messages are left out"))
    }

    @Test func `R-884: progress waits for nobody`() {
        var machine = Self.running()
        #expect(machine.progress("10 %").count == 1)
        _ = machine.write([UInt8](repeating: 65, count: Machine.pieceBytesMax + 1))
        #expect(machine.progress("20 %") == [])
    }

    // MARK: Questions

    @Test func `R-885: a question comes after what was said before, and its answer goes to the command`() {
        var machine = Self.running()
        _ = machine.write([UInt8](repeating: 65, count: Machine.pieceBytesMax + 1))
        #expect(machine.ask(.question("Really?")) == [])
        let asked = machine.received(Self.taken(100))
        guard case .send(let message)? = asked.last, case .question(let question)? = message.message else {
            Issue.record("no question")
            return
        }
        #expect(question.text == "Really?")
        // What comes later waits for the answer.
        #expect(machine.write([66]) == [])
        let answered = machine.received(Self.answer)
        #expect(answered.first == .reply(.answer(Self.answer.answer)))
        #expect(Self.data(answered) == [66])
    }

    /// Each answer to each question.
    @Test func `R-885: only the answer to what was asked counts`() {
        let asks: [(Machine.Ask, WireOperatorClientMessage)] = [
            (.question("?"), Self.answer), (.openFile("notes.csv"), Self.opened), (.readFile(0), Self.part),
        ]
        for (index, (ask, _)) in asks.enumerated() {
            for (other, (_, message)) in asks.enumerated() {
                var machine = Self.running()
                #expect(machine.ask(ask).count == 1)
                let actions = machine.received(message)
                if index == other {
                    guard case .reply? = actions.first else {
                        Issue.record("no reply to \(ask)")
                        continue
                    }
                } else {
                    #expect(Self.code(actions) == 4400)
                }
            }
        }
    }

    // MARK: The end

    @Test func `R-881: the end comes after all output, and the channel closes`() {
        var machine = Self.running()
        _ = machine.write([UInt8](repeating: 65, count: Machine.pieceBytesMax + 5))
        #expect(machine.end(5) == [])
        #expect(machine.write([66]) == [])
        let actions = machine.received(Self.taken(5))
        #expect(Self.data(actions).count == 5)
        guard case .send(let message)? = actions.dropLast().last, case .end(let end)? = message.message else {
            Issue.record("no end")
            return
        }
        #expect(end.status == 5)
        #expect(actions.last == .close(1000, reason: ""))
        #expect(machine.hasEnded)
        #expect(machine.end(0) == [])
    }

    @Test func `R-886: a command is cancelled by its operator, by a cut, a revocation and the end of the server`() {
        var byOperator = Self.running()
        #expect(byOperator.received(Self.cancel) == [.cancel])
        #expect(byOperator.isRunning)
        // It ends although nobody answers its question any more.
        _ = byOperator.ask(.question("?"))
        #expect(byOperator.end(5).count == 2)
        var byCut = Self.running()
        #expect(byCut.closed() == [.cancel])
        #expect(byCut.closed() == [])
        var byRevocation = Self.running()
        let revoked = byRevocation.revoked()
        #expect(revoked.first == .cancel && Self.code(revoked) == 4403)
        var beforeCommand = Machine()
        _ = beforeCommand.received(Self.hello)
        _ = beforeCommand.signedIn(Self.olga)
        #expect(Self.code(beforeCommand.revoked()) == 4401)
        var byServer = Self.running()
        let stopped = byServer.stop()
        #expect(stopped.first == .cancel && Self.code(stopped) == 1001)
        var early = Machine()
        #expect(Self.code(early.stop()) == 1001)
        #expect(!early.stop().contains(.cancel))
    }

    /// Whatever comes in whatever order: it starts at most once, and after the end nothing is sent.
    @Test func `R-881: any order of messages and calls starts one command at most, and ends for good`() {
        for seed in UInt64(0)..<300 {
            var generator = SeededRandom(seed: seed)
            var machine = Machine()
            var (starts, credit, sent) = (0, 0, 0)
            for _ in 0..<60 {
                let hadEnded = machine.hasEnded
                let actions = Self.step(&machine, &credit, &generator)
                if hadEnded { #expect(actions == []) }
                sent += Self.data(actions).count
                for case .start(_, let command) in actions {
                    starts += 1
                    credit += Int(command.credit)
                }
                #expect(sent <= credit)
            }
            #expect(starts <= 1)
        }
    }

    private static func step(
        _ machine: inout Machine, _ credit: inout Int, _ generator: inout SeededRandom
    ) -> [Machine.Action] {
        let isRunning = machine.isRunning
        switch Int.random(in: 0..<16, using: &generator) {
        case 0: return machine.received(hello)
        case 1: return machine.received(command(credit: 70_000))
        case 2: return machine.received(answer)
        case 3: return machine.received(part)
        case 4, 5, 6:
            let count = Int.random(in: 1...40_000, using: &generator)
            if isRunning { credit += count }
            return machine.received(taken(count))
        case 7: return machine.received(cancel)
        case 8, 9: return machine.signedIn(olga)
        case 10, 11: return machine.write([UInt8](repeating: 66, count: 30_000))
        case 12: return machine.say("words")
        case 13: return machine.ask(.readFile(0))
        case 14: return Int.random(in: 0..<20, using: &generator) == 0 ? machine.end(0) : []
        default: return Int.random(in: 0..<20, using: &generator) == 0 ? machine.received(nil) : []
        }
    }

    // MARK: Places

    @Test func `R-882: an operator has half of the places that others leave, and one at least`() {
        var places = CommandPlaces<OperatorID>.ofOperators
        let operators = (1...5).map { OperatorID($0) }
        for (id, count, refusal) in [
            (operators[0], 4, "You run 4 commands on"), (operators[1], 2, "You run 2 commands on"),
            (operators[2], 1, "You run 1 command on"), (operators[3], 1, "runs 8 commands"),
        ] {
            for _ in 0..<count { #expect(places.take(id) == nil) }
            #expect(places.take(id)?.contains(refusal) == true)
        }
        #expect(places.take(operators[4])?.contains("runs 8 commands") == true)
        places.giveBack(operators[0])
        #expect(places.take(operators[0]) != nil, "others have more than before")
        #expect(places.take(operators[4]) == nil)
        for _ in 0..<4 { places.giveBack(operators[0]) }
        // Another time too many gives nothing back: five are taken.
        #expect(places.take(operators[4]) == nil)
        #expect(places.take(operators[4])?.contains("You run 2 commands on") == true)
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `R-882: whatever others do, a further operator beside three finds a place`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var places = CommandPlaces<OperatorID>.ofOperators
        var held: [Int] = [0, 0, 0]
        for _ in 0..<60 {
            let index = Int.random(in: 0..<3, using: &random)
            if Bool.random(using: &random), held[index] > 0 {
                places.giveBack(OperatorID(Int64(index)))
                held[index] -= 1
            } else if places.take(OperatorID(Int64(index))) == nil {
                held[index] += 1
            }
            let newcomer = OperatorID(9)
            #expect(places.take(newcomer) == nil, "\(held), seed \(seed)")
            places.giveBack(newcomer)
        }
    }

    @Test func `R-899: users have places of their own, so that they keep no operator out`() {
        var places = CommandPlaces<AccountID>.ofUsers
        let (alice, bob, carol) = (AccountID(1), AccountID(2), AccountID(3))
        for _ in 0..<2 { #expect(places.take(alice) == nil) }
        #expect(places.take(alice)?.contains("You run 2 commands") == true)
        #expect(places.take(bob) == nil)
        #expect(places.take(bob)?.contains("You run 1 command on") == true)
        #expect(places.take(carol) == nil)
        #expect(places.take(bob)?.contains("runs 4 commands of users") == true)
        places.giveBack(alice)
        #expect(places.take(carol) != nil, "two others have one each")
    }

    @Test func `R-899: a client is told for whom its credential is no credential`() {
        var machine = Machine()
        _ = machine.received(Self.hello)
        let actions = machine.signedIn(nil, because: "no account has this credential")
        #expect(actions == [.close(4401, reason: "no account has this credential")])
    }

    @Test func `R-899: a command is not held for ever by a client for whom it waits`() {
        var idle = Self.running()
        #expect(!idle.waitsForClient && idle.wearied() == [] && idle.isRunning)
        var asking = Self.running()
        _ = asking.ask(.question("Really?"))
        #expect(asking.waitsForClient)
        #expect(asking.wearied().first == .cancel && asking.hasEnded)
        var full = Self.running()
        _ = full.write([UInt8](repeating: 65, count: Machine.pieceBytesMax + 1))
        #expect(full.waitsForClient)
        #expect(Self.code(full.wearied()) == 4408)
        // A command that has ended is not cancelled, but what it said is given up.
        var ended = Self.running()
        _ = ended.write([UInt8](repeating: 65, count: Machine.pieceBytesMax + 1))
        _ = ended.end(0)
        #expect(ended.wearied() == [.close(4408, reason: "no answer came")])
        var before = Machine()
        #expect(!before.waitsForClient && before.wearied() == [])
    }
}
