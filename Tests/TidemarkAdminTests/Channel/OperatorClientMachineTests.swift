// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing
import TidemarkDomain
import TidemarkTestSupport
import TidemarkWire

@testable import TidemarkAdmin

/// The client's side of an operator's channel: what it does with each message in each state.
@Suite struct OperatorClientMachineTests {
    typealias Machine = OperatorClientMachine

    private static func machine(_ arguments: String...) throws -> Machine { try machine(arguments) }

    private static func machine(_ arguments: [String]) throws -> Machine {
        let command = try #require(try Admin.parseAsRoot(["accounts", "list"]) as? any AdminCommand)
        let target = AdminTarget(
            place: .database(url: ""), container: "iCloud.test", environment: .production, context: nil)
        return Machine(
            SentCommand(command, arguments: arguments, target, RecordingTerminal()),
            credential: ChannelCredential("secret"), client: "tidemark/1", server: "wss://host")
    }

    /// One whose command runs.
    private static func running(_ arguments: String...) throws -> Machine {
        var machine = try machine(arguments)
        _ = machine.opened()
        return machine
    }

    private static func server(_ edit: (inout WireOperatorServerMessage) -> Void) -> WireOperatorServerMessage {
        var message = WireOperatorServerMessage()
        edit(&message)
        return message
    }

    private static func output(_ stream: WireOperatorStream, _ text: String) -> WireOperatorServerMessage {
        server {
            $0.output.stream = stream
            $0.output.content = Array(text.utf8)
        }
    }

    private static func failure(_ actions: [Machine.Action]) -> AdminFailure? {
        for case .fail(let failure) in actions { return failure }
        return nil
    }

    @Test func `R-881: it begins with the credential and the command, once`() throws {
        var machine = try Self.machine("accounts", "list", "-o", "json")
        let actions = machine.opened()
        guard actions.count == 2, case .send(let hello) = actions[0], case .send(let command) = actions[1] else {
            Issue.record("\(actions)")
            return
        }
        #expect(hello.hello.credential == Array("secret".utf8))
        #expect(command.command.arguments == ["accounts", "list", "-o", "json"])
        #expect(command.command.container == "iCloud.test" && command.command.environment == "production")
        #expect(command.command.credit == UInt32(Machine.credit))
        #expect(machine.opened() == [])
    }

    @Test func `R-884: output goes where it belongs, and is credited when it is written`() throws {
        var machine = try Self.running("accounts", "list")
        #expect(machine.received(Self.output(.data, "alice\n")) == [.write("alice\n")])
        #expect(machine.received(Self.output(.message, "done")) == [.say("done")])
        #expect(machine.received(Self.output(.progress, "5 %")) == [.progress("5 %")])
        #expect(machine.received(Self.output(.progress, "")) == [.progress(nil)])
        guard case .send(let message)? = machine.wrote(6).first else {
            Issue.record("no credit")
            return
        }
        #expect(message.taken.byteCount == 6)
    }

    @Test func `R-884: more output than there is credit for is refused, and so is text that is none`() throws {
        var machine = try Self.running("accounts", "list")
        let piece = String(repeating: "a", count: 65_536)
        for _ in 0..<4 { #expect(machine.received(Self.output(.data, piece)) == [.write(piece)]) }
        #expect(Self.failure(machine.received(Self.output(.data, "b")))?.status == .fault)
        #expect(machine.received(Self.output(.data, "c")) == [])
        var other = try Self.running("accounts", "list")
        let broken = Self.server { $0.output.content = [0xC3] }
        #expect(Self.failure(other.received(broken))?.status == .fault)
        var unreadable = try Self.running("accounts", "list")
        #expect(Self.failure(unreadable.received(nil))?.status == .fault)
    }

    @Test func `R-885: a question is asked once at a time, and answered`() throws {
        var machine = try Self.running("zones", "delete", "alice", "Notes")
        let question = Self.server { $0.question.text = "Really?" }
        #expect(machine.received(question) == [.ask("Really?")])
        guard case .send(let answer)? = machine.answered("y").first else {
            Issue.record("no answer")
            return
        }
        #expect(answer.answer.text == "y" && !answer.answer.isMissing)
        #expect(machine.answered("again") == [])
        #expect(machine.received(question) == [.ask("Really?")])
        #expect(Self.failure(machine.received(question))?.status == .fault)
        var silent = try Self.running("zones", "delete", "alice", "Notes")
        _ = silent.received(question)
        guard case .send(let nothing)? = silent.answered(nil).first else {
            Issue.record("no answer")
            return
        }
        #expect(nothing.answer.isMissing)
    }

    @Test(arguments: [
        ("notes.csv", true), ("map.json", true), ("-", true), ("/etc/passwd", false), ("Note", true), ("", false),
    ])
    func `R-885: a server gets only files that the command names`(_ path: String, _ isNamed: Bool) throws {
        var machine = try Self.running("import", "alice", "Note", "notes.csv", "--mapping=map.json", "-")
        let request = Self.server { $0.openFile.path = path }
        let actions = machine.received(request)
        if isNamed {
            #expect(actions == [.open(path)])
        } else {
            #expect(Self.failure(actions)?.status == .fault)
        }
    }

    @Test func `R-885: a file is read in parts, and one that is not open is not read`() throws {
        var machine = try Self.running("import", "notes.csv")
        let read = Self.server { $0.readFile.file = 0 }
        var early = machine
        #expect(Self.failure(early.received(read))?.status == .fault)
        _ = machine.received(Self.server { $0.openFile.path = "notes.csv" })
        #expect(machine.read([1]) == [])
        guard case .send(let opened)? = machine.opened(name: "notes.csv", byteCount: nil).first else {
            Issue.record("not opened")
            return
        }
        #expect(opened.fileOpened.byteCount == -1 && opened.fileOpened.failure.isEmpty)
        #expect(machine.received(read) == [.read(0)])
        guard case .send(let part)? = machine.read([1, 2]).first else {
            Issue.record("not read")
            return
        }
        #expect(part.filePart.content == [1, 2])
        #expect(machine.received(read) == [.read(0)])
        guard case .send(let failed)? = machine.failed("gone").first else {
            Issue.record("not failed")
            return
        }
        #expect(failed.filePart.failure == "gone")
    }

    @Test func `R-883: the end is the command's status, and one that is not known is a fault`() throws {
        var machine = try Self.running("accounts", "list")
        #expect(machine.received(Self.server { $0.end.status = 4 }) == [.end(.notAllowed)])
        #expect(machine.closed(code: 1000, reason: "", fault: "") == [])
        #expect(machine.wrote(1) == [])
        var later = try Self.running("accounts", "list")
        #expect(later.received(Self.server { $0.end.status = 77 }) == [.end(.fault)])
    }

    @Test(
        arguments: [
            (4401, .notAllowed, false), (4403, .notAllowed, true), (4400, .fault, false), (4408, .unreachable, true),
            (1001, .unreachable, true), (1013, .unreachable, true), (nil, .unreachable, true),
        ] as [(UInt16?, TidemarkAdmin.ExitStatus, Bool)])
    func `R-883: a channel that ends early says why, with the status of its cause`(
        _ code: UInt16?, _ status: TidemarkAdmin.ExitStatus, _ isUnknown: Bool
    ) throws {
        var machine = try Self.running("accounts", "list")
        let failure = try #require(Self.failure(machine.closed(code: code, reason: "why", fault: "It broke.")))
        #expect(failure.status == status)
        #expect(failure.description.contains("is not known. Look") == isUnknown)
        #expect(machine.closed(code: code, reason: "why", fault: "It broke.") == [])
    }

    @Test func `R-883: a server that was never reached leaves nothing unknown`() throws {
        var machine = try Self.machine("accounts", "list")
        let failure = Self.failure(machine.closed(code: nil, reason: "", fault: "Nothing listens there."))
        #expect(failure == AdminFailure(.unreachable, "Nothing listens there."))
    }

    @Test func `R-886: cancelled, it asks the server to end the command, which has the last word`() throws {
        var machine = try Self.running("tail", "alice")
        guard case .send(let message)? = machine.cancelled().first, case .cancel? = message.message else {
            Issue.record("no cancel")
            return
        }
        #expect(machine.received(Self.server { $0.end.status = 5 }) == [.end(.refused)])
        var unopened = try Self.machine("tail", "alice")
        #expect(unopened.cancelled() == [])
    }

    /// Whatever a server sends in whatever order: what is shown is bounded by the credit, and after the end nothing is done.
    @Test func `R-884: no order of messages shows more than there is credit for, or does anything after the end`()
        throws
    {
        for seed in UInt64(0)..<300 {
            var generator = SeededRandom(seed: seed)
            var machine = try Self.running("import", "notes.csv")
            var (shown, written, hasEnded) = (0, 0, false)
            for _ in 0..<60 {
                let actions = step(&machine, &shown, &written, &generator)
                if hasEnded { #expect(actions == []) }
                for action in actions {
                    switch action {
                    case .write(let text), .say(let text): shown += text.utf8.count
                    case .end, .fail: hasEnded = true
                    default: break
                    }
                }
                #expect(shown - written <= Machine.credit)
            }
        }
    }

    private func step(
        _ machine: inout Machine, _ shown: inout Int, _ written: inout Int, _ generator: inout SeededRandom
    ) -> [Machine.Action] {
        switch Int.random(in: 0..<12, using: &generator) {
        case 0, 1, 2:
            return machine.received(Self.output(.data, String(repeating: "a", count: 50_000)))
        case 3: return machine.received(Self.output(.message, "words"))
        case 4: return machine.received(Self.output(.progress, "words"))
        case 5: return machine.received(Self.server { $0.question.text = "?" })
        case 6: return machine.answered("y")
        case 7: return machine.received(Self.server { $0.openFile.path = "notes.csv" })
        case 8: return machine.opened(name: "notes.csv", byteCount: 3)
        case 9: return machine.read([1])
        case 10:
            let count = shown - written
            written += count
            return machine.wrote(count)
        default:
            let isLast = Int.random(in: 0..<20, using: &generator) == 0
            return isLast ? machine.received(Self.server { $0.end.status = 0 }) : machine.cancelled()
        }
    }

    @Test(arguments: [
        (["accounts", "list", "--context", "prod"], ["accounts", "list"]),
        (["accounts", "list", "--context=prod", "-o", "json"], ["accounts", "list", "-o", "json"]),
        (["records", "get", "alice", "--", "--context", "x"], ["records", "get", "alice", "--", "--context", "x"]),
        (["accounts", "list", "--context"], ["accounts", "list"]),
    ])
    func `R-883: the name of the context stays here`(_ typed: [String], _ sent: [String]) {
        #expect(SentCommand.withoutContext(typed) == sent)
    }

    @Test(arguments: [(509, 3, true), (510, 3, false), (1, 65_000, true), (1, 65_536, false), (3, 22_000, false)])
    func `R-883: a command that is too long for a server is not sent`(_ count: Int, _ length: Int, _ fits: Bool) throws
    {
        let words = Array(repeating: String(repeating: "a", count: length), count: count)
        let command = try #require(try Admin.parseAsRoot(["accounts", "list"]) as? any AdminCommand)
        let target = AdminTarget(
            place: .database(url: ""), container: nil, environment: .production, context: nil)
        let sent = SentCommand(command, arguments: ["records", "get", "alice"] + words, target, RecordingTerminal())
        #expect(sent.isSendable == fits)
    }

    @Test(arguments: [
        ("wss://cloud.example.org", "cloud.example.org", 443, "/admin"), ("wss://h:8444/", "h", 8_444, "/admin"),
        ("wss://[::1]:9/x", "::1", 9, "/x"), ("ws://127.0.0.1:8444", "127.0.0.1", 8_444, "/admin"),
        ("ws://localhost", "localhost", 80, "/admin"),
    ])
    func `R-883: a server is named by its URL`(_ text: String, _ host: String, _ port: UInt16, _ path: String) throws {
        let url = try #require(OperatorURL(text))
        #expect(url.host == host && url.port == port && url.path == path)
    }

    @Test(arguments: [
        "", "cloud.example.org", "https://cloud.example.org", "ws://cloud.example.org", "ws://127.evil.example",
        "wss://", "wss://user:secret@host", "wss://host?x=1", "wss://host:0",
    ])
    func `R-883: what is no URL of a server is refused, and so is one without TLS beyond this machine`(_ text: String) {
        #expect(OperatorURL(text) == nil)
    }

    @Test func `R-902: who has waited long enough hears of nothing that comes later`() throws {
        var machine = try Self.running("accounts", "list")
        #expect(Self.failure(machine.timedOut())?.status == .unreachable)
        #expect(machine.timedOut().isEmpty && machine.received(Self.output(.data, "alice\n")).isEmpty)
        // Also while it connects.
        var opening = try Self.machine("accounts", "list")
        #expect(Self.failure(opening.timedOut())?.status == .unreachable)
        #expect(opening.opened().isEmpty)
        #expect(opening.closed(code: nil, reason: "", fault: "It is gone.").isEmpty)
    }
}
