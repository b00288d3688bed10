// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import TidemarkTLS

/// How long a ticket is good for, and under which key.
@Suite struct TicketKeyRingTests {
    @Test func `R-762: a key makes tickets for an hour, opens them for two more, and is forgotten`() {
        // Tickets are made every so many minutes for ten hours, and each is tried at every minute of the next six.
        for pace in [7, 30, 60, 61, 179, 600] {
            var ring = TicketKeyRing<Int>()
            var keyCount = 0
            var tickets: [(key: Int, madeAt: Int)] = []
            var keyMadeAt: [Int: Int] = [:]
            for minute in 0..<960 {
                let now = Duration.seconds(60 * minute)
                for (key, madeAt) in tickets where minute - madeAt <= 360 {
                    let opening = ring.openingKey(at: now) { $0 == key }
                    let age = minute - (keyMadeAt[key] ?? 0)
                    #expect((opening != nil) == (age < 180), "ticket of minute \(madeAt) at \(minute)")
                    // A ticket is good for the time that it is valid, whenever it was made.
                    if minute - madeAt < 120 { #expect(opening != nil) }
                    if let opening { #expect(opening.key == key && opening.isOld == (age >= 60)) }
                }
                guard minute < 600, minute % pace == 0 else { continue }
                let key = ring.sealingKey(at: now) {
                    keyCount += 1
                    keyMadeAt[keyCount] = minute
                    return keyCount
                }
                if let key { tickets.append((key, minute)) }
                #expect(minute - (keyMadeAt[key ?? 0] ?? 0) < 60)
                #expect(ring.count <= 4)
            }
            #expect(ring.openingKey(at: .seconds(60 * 960)) { _ in true } == nil)
        }
    }

    @Test func `R-762: without random numbers there is no ticket, and no key`() {
        var ring = TicketKeyRing<Int>()
        #expect(ring.sealingKey(at: .zero) { nil } == nil)
        #expect(ring.count == 0)
    }

    @Test(arguments: [false, true])
    func `R-762: a client resumes within hours, also under the key before, and not later`(isTLS12: Bool) throws {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let time = Mutex(Duration.zero)
            let server = try TLSContext(server: party.serverConfiguration, now: { time.withLock { $0 } })
            /// Whether a client that got its ticket at one time resumes at another.
            func resumes(_ ticketAt: Duration, _ later: Duration) throws -> Bool {
                let client = try party.client()
                if isTLS12 { client.limitToTLS12() }
                var wasResumed = false
                for now in [ticketAt, later] {
                    time.withLock { $0 = now }
                    let pair = try Pair(client, server)
                    pair.pump()
                    #expect(pair.isEstablished)
                    try pair.client.send([1])
                    try pair.server.send([2])
                    pair.pump()
                    #expect(pair.server.received == [1] && pair.client.received == [2])
                    #expect(pair.client.session.wasResumed == pair.server.session.wasResumed)
                    wasResumed = pair.client.session.wasResumed
                }
                return wasResumed
            }
            #expect(try resumes(.seconds(0), .seconds(3_599)))
            #expect(try resumes(.seconds(3_599), .seconds(3_601)))
            #expect(try resumes(.seconds(3_601), .seconds(3_601 + 10_799)))
            #expect(try !resumes(.seconds(30_000), .seconds(30_000 + 10_801)))
        }
    }

    @Test(arguments: [false, true])
    func `R-875: with one secret a client of one server resumes at another, within hours, and not later`(isTLS12: Bool)
        throws
    {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            let secrets = try ["first", "other"].map { name in
                let path = "\(directory)/\(name)"
                try writeFile(String(repeating: name, count: 8), path)
                return path
            }
            let hour = Mutex<Int64>(0)
            func server(_ secret: String) throws -> TLSContext {
                var settings = party.serverConfiguration
                settings.ticketSecretFile = secret
                return try TLSContext(
                    server: settings, now: { .zero }, wallClock: { 1_800_000_000 + 3_600 * hour.withLock { $0 } })
            }
            let (here, there, stranger) = (try server(secrets[0]), try server(secrets[0]), try server(secrets[1]))
            /// Whether a client that got its ticket at one server, at an hour, resumes at another.
            func resumes(_ first: TLSContext, _ ticketAt: Int64, _ second: TLSContext, _ later: Int64) throws -> Bool {
                let client = try party.client()
                if isTLS12 { client.limitToTLS12() }
                var wasResumed = false
                for (server, time) in [(first, ticketAt), (second, later)] {
                    hour.withLock { $0 = time }
                    let pair = try Pair(client, server)
                    pair.pump()
                    #expect(pair.isEstablished)
                    try pair.client.send([1])
                    try pair.server.send([2])
                    pair.pump()
                    #expect(pair.server.received == [1] && pair.client.received == [2])
                    wasResumed = pair.client.session.wasResumed
                }
                return wasResumed
            }
            #expect(try resumes(here, 0, here, 0))
            #expect(try resumes(here, 0, there, 0))
            #expect(try resumes(here, 0, there, 2))
            #expect(try resumes(here, 1, there, 0), "its clock is behind")
            #expect(try !resumes(here, 0, there, 3))
            #expect(try !resumes(here, 2, there, 0))
            #expect(try !resumes(here, 0, stranger, 0))
            // A client that resumed would not look at a new certificate.
            try there.reload()
            #expect(try resumes(here, 0, there, 0), "it is the same one")
            try party.serve(
                CertificateAuthority(
                    .init(
                        certificatePEM: readFile(party.files.authorityFile),
                        privateKeyPEM: readFile("\(directory)/ca-key.pem"))
                ).issue(hosts: ["localhost", "127.0.0.1"], now: wallClockSeconds))
            try there.reload()
            #expect(try !resumes(here, 0, there, 0))
            try here.reload()
            #expect(try resumes(here, 0, there, 0))
        }
    }

    @Test(arguments: [0, 31, 4_097]) func `R-875: a secret that is too short or too long is refused`(count: Int) throws
    {
        try withTemporaryDirectory { directory in
            let party = try TestParty(directory)
            var settings = party.serverConfiguration
            settings.ticketSecretFile = "\(directory)/secret"
            #expect(throws: TLSError.self) { try TLSContext(server: settings) }
            try writeFile(String(repeating: "x", count: count), directory + "/secret")
            let error = #expect(throws: TLSError.self) { try TLSContext(server: settings) }
            #expect(error?.code == .configurationInvalid)
            try writeFile(String(repeating: "x", count: 32), directory + "/secret")
            _ = try TLSContext(server: settings)
        }
    }

    @Test func `R-875: a shared key makes tickets for its hour, and opens them for two more and one before`() {
        #expect(TicketHours(at: 7_199) == TicketHours(at: 3_600) && TicketHours(at: 7_200).sealing == 2)
        #expect(TicketHours(at: 36_000).opening == [10, 9, 8, 11])
        #expect(TicketHours(at: .max).opening.count == 4 && TicketHours(at: .min).opening.count == 4)
    }
}
