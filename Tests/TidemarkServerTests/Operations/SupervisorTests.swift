// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkScheduling
import TidemarkSockets
import TidemarkTestSupport

@testable import TidemarkServer

/// What systemd hears of a server (R-940, R-941).
@Suite struct SupervisorTests {
    @Test func `R-940: a datagram reaches a path and a name of the abstract namespace`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        for name in ["\(directory.path)/notify", "@tidemark-test-\(UUID().uuidString)"] {
            let ear = try SupervisorEar(at: name)
            try DatagramSender(to: name).send("READY=1\nSTATUS=ä")
            #expect(ear.hear() == "READY=1\nSTATUS=ä")
        }
    }

    @Test(arguments: ["", "notify", "@", "/", "vsock:2:1234", "/a\u{0}b", "/" + String(repeating: "a", count: 107)])
    func `R-940: what is no Unix socket is refused`(name: String) {
        let error = #expect(throws: SocketError.self) { try DatagramSender(to: name) }
        #expect(error?.code == .addressInvalid)
    }

    @Test func `R-940: a socket that nobody reads is an error, and the longest names have room`() throws {
        for name in ["/" + String(repeating: "a", count: 106), "@" + String(repeating: "a", count: 107)] {
            let sender = try DatagramSender(to: name)
            #expect(throws: SocketError.self) { try sender.send("READY=1") }
        }
    }

    @Test func `R-940: messages are in the words of sd_notify`() {
        #expect(SupervisorMessage.ready.text() == "READY=1")
        #expect(SupervisorMessage.ready.text(status: "Serving.") == "READY=1\nSTATUS=Serving.")
        #expect(
            SupervisorMessage.reloading(at: .seconds(12) + .nanoseconds(3_456_789)).text()
                == "RELOADING=1\nMONOTONIC_USEC=12003456")
        #expect(SupervisorMessage.stopping(within: .seconds(70)).text() == "STOPPING=1\nEXTEND_TIMEOUT_USEC=70000000")
        #expect(SupervisorMessage.alive.text() == "WATCHDOG=1")
        // A status cannot say something else.
        #expect(SupervisorMessage.alive.text(status: "a\nREADY=1") == "WATCHDOG=1\nSTATUS=a READY=1")
    }

    @Test func `R-940: the supervisor's variables say where it hears and how often`() {
        func settings(_ variables: [String: String]) -> SupervisorSettings? {
            SupervisorSettings(variables: variables, processID: 7)
        }
        #expect(settings([:]) == nil)
        #expect(settings(["NOTIFY_SOCKET": "", "WATCHDOG_USEC": "1"]) == nil)
        let base = ["NOTIFY_SOCKET": "/run/systemd/notify"]
        func time(_ more: [String: String]) -> Duration? { settings(base.merging(more) { $1 })?.watchdogTime }
        #expect(settings(base)?.socket == "/run/systemd/notify")
        #expect(time([:]) == nil)
        #expect(time(["WATCHDOG_USEC": "30000000"]) == .seconds(30))
        #expect(time(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"]) == .seconds(30))
        #expect(time(["WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "8"]) == nil)
        for text in ["", "0", "-1", "x", "99999999999999999999"] { #expect(time(["WATCHDOG_USEC": text]) == nil) }
    }

    @Test func `R-941: loops are alive only if each has answered the last question`() {
        for count in 0...3 {
            for answers in 0..<(1 << count) {
                var pulses = LoopPulses(count: count)
                let first = pulses.look()
                #expect(first, "nobody was asked yet")
                for loop in 0..<count where answers & 1 << loop != 0 { pulses.answer(of: loop, round: pulses.round) }
                let silent = (0..<count).filter { answers & 1 << $0 == 0 }
                #expect(pulses.silent == silent)
                let round = pulses.round
                let second = pulses.look()
                #expect(second == silent.isEmpty)
                guard !silent.isEmpty else { continue }
                // They are not asked again, and an answer to an older question is none.
                #expect(pulses.round == round)
                for loop in silent { pulses.answer(of: loop, round: round - 1) }
                let third = pulses.look()
                #expect(!third)
                for loop in silent { pulses.answer(of: loop, round: round) }
                let last = pulses.look()
                #expect(last)
            }
        }
    }

    @Test
    func `R-940, R-941: a supervisor hears that a server serves, works, reloads and stops, unless a loop is held`()
        async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let ear = try SupervisorEar(at: "\(directory.path)/notify")
        let loops = try (0..<2).map { try EventLoop(name: "supervised-\($0)") }
        defer { for loop in loops { loop.stop() } }
        let variables = ["NOTIFY_SOCKET": ear.place]
        let supervisor = try #require(try Supervisor(variables: variables, processID: 1))
        supervisor.serve(on: loops) { "All is well." }
        #expect(ear.hear() == "READY=1\nSTATUS=All is well.")
        supervisor.look()
        #expect(ear.hear() == "WATCHDOG=1\nSTATUS=All is well.")
        // What comes after the question runs after the answer.
        for loop in loops { await loop.run {}.value }

        let (isHeld, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        loops[1].execute {
            isHeld.signal()
            release.wait()
        }
        await Task.detached { Self.wait(for: isHeld) }.value
        // What was asked before is answered.
        supervisor.look()
        #expect(ear.hear()?.hasPrefix("WATCHDOG=1") == true)
        for _ in 0..<3 { supervisor.look() }
        try ear.mark()
        #expect(ear.hear() == "mark")
        release.signal()
        // It does not wait for the next look.
        #expect(ear.hear()?.hasPrefix("WATCHDOG=1") == true)

        let said = Mutex<[String?]>([])
        supervisor.reload { said.withLock { $0.append(ear.hear()) } }
        let reloading = try #require(said.withLock { $0 }.first ?? nil)
        #expect(reloading.wholeMatch(of: /RELOADING=1\nMONOTONIC_USEC=\d+/) != nil)
        #expect(ear.hear() == "READY=1")
        supervisor.stop(drainTime: .seconds(300))
        #expect(ear.hear() == "STOPPING=1\nEXTEND_TIMEOUT_USEC=360000000\nSTATUS=Stopping.")
        // Loops end now. The supervisor's time for the stop is the bound.
        supervisor.look()
        supervisor.look()
        #expect(ear.hear() == "WATCHDOG=1" && ear.hear() == "WATCHDOG=1")
    }

    private static func wait(for semaphore: DispatchSemaphore) { semaphore.wait() }

    @Test func `R-941: a server tells again and again that all is well, in half of the supervisor's time`() async throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let ear = try SupervisorEar(at: "\(directory.path)/notify")
        let loop = try EventLoop(name: "supervised")
        defer { loop.stop() }
        let variables = ["NOTIFY_SOCKET": ear.place, "WATCHDOG_USEC": "20000"]
        let supervisor = try #require(try Supervisor(variables: variables, processID: 1))
        supervisor.serve(on: [loop]) { "Serving." }
        #expect(ear.hear() == "READY=1\nSTATUS=Serving.")
        for _ in 0..<3 { #expect(ear.hear() == "WATCHDOG=1\nSTATUS=Serving.") }
        supervisor.stop()
    }

    @Test func `R-940: a supervisor hears once that a server serves, and of no reload before that or when it stops`()
        throws
    {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let ear = try SupervisorEar(at: "\(directory.path)/notify")
        let loop = try EventLoop(name: "supervised")
        defer { loop.stop() }
        func heard() throws -> [String] {
            try ear.mark()
            var all: [String] = []
            while let text = ear.hear(), text != "mark" { all.append(text) }
            return all
        }
        let supervisor = try #require(try Supervisor(variables: ["NOTIFY_SOCKET": ear.place], processID: 1))
        // SIGHUP came before the server served.
        var reloads = 0
        supervisor.reload { reloads += 1 }
        #expect(try heard() == [] && reloads == 1)
        // It came before, and takes longer than the start.
        supervisor.reload { supervisor.serve(on: [loop]) { "Serving." } }
        #expect(try heard() == ["READY=1\nSTATUS=Serving."])
        supervisor.serve(on: [loop]) { "Serving again." }
        #expect(try heard() == [])
        supervisor.reload { supervisor.stop() }
        let last = try heard()
        #expect(last.count == 2 && last[0].hasPrefix("RELOADING=1") && last[1].hasPrefix("STOPPING=1"), "\(last)")
        supervisor.reload { reloads += 1 }
        supervisor.serve(on: [loop]) { "Serving." }
        #expect(try heard() == [] && reloads == 2)
    }

    @Test func `R-940: without a supervisor, or with one whose socket is unknown, a server runs as ever`() throws {
        #expect(try Supervisor(variables: [:], processID: 1) == nil)
        #expect(try Supervisor(variables: ["NOTIFY_SOCKET": "vsock:2:1234"], processID: 1) == nil)
    }
}
