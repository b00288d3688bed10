// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import TidemarkTestSupport

@testable import TidemarkTLS

extension TLSContext {
    func limitToTLS12() {
        current.withLock { BadTLS.limitToTLS12($0.pointer) }
    }
}

/// A folder of its own for a test, removed afterwards.
func withTemporaryDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
    var template = Array("/tmp/tidemark-tls-XXXXXX".utf8CString)
    let path = try #require(mkdtemp(&template).map { String(cString: $0) })
    defer {
        for name in ["ca.pem", "ca-key.pem", "server.pem", "server-key.pem"] { unlink("\(path)/\(name)") }
        rmdir(path)
    }
    return try body(path)
}

var wallClockSeconds: Int64 { Int64(time(nil)) }

func writeFile(_ text: String, _ path: String) throws {
    let file = try #require(fopen(path, "we"))
    fputs(text, file)
    fclose(file)
}

/// An authority and a server's files in a folder, as contexts.
struct TestParty {
    let directory: String
    let files: DevelopmentCertificates

    init(_ directory: String, hosts: [String] = ["localhost", "127.0.0.1", "::1"]) throws {
        self.directory = directory
        files = try DevelopmentCertificates(directory: directory, hosts: hosts, now: wallClockSeconds)
    }

    var serverConfiguration: TLSContext.ServerSettings {
        .init(certificateFile: files.certificateFile, privateKeyFile: files.privateKeyFile)
    }

    func server() throws -> TLSContext { try TLSContext(server: serverConfiguration) }

    func client(protocols: [String] = ["http/1.1"], isTLS12: Bool = false) throws -> TLSContext {
        let context = try TLSContext(
            client: .init(
                additionalRootsFile: files.authorityFile, trustsSystemRoots: false, applicationProtocols: protocols))
        if isTLS12 { context.limitToTLS12() }
        return context
    }

    /// Puts another certificate in the place of the server's.
    func serve(_ identity: CertificateAuthority.CertificateAndKey) throws {
        try writeFile(identity.certificatePEM, files.certificateFile)
        try writeFile(identity.privateKeyPEM, files.privateKeyFile)
    }
}

/// One end of a connection, with what it has received and why it ended.
final class Peer {
    let session: TLSSession
    private(set) var received: [UInt8] = []
    private(set) var error: TLSError?

    init(_ context: TLSContext, _ side: TLSSession.Side) throws {
        session = try TLSSession(context: context, side: side)
    }

    func takeOutput() -> [UInt8] {
        var taken: [UInt8] = []
        session.withOutput {
            taken = Array($0)
            return $0.count
        }
        return taken
    }

    func feed(_ bytes: [UInt8]) {
        guard error == nil else { return }
        bytes.withUnsafeBytes { raw in
            do throws(TLSError) {
                try session.receive(raw) { received.append(contentsOf: $0) }
            } catch {
                self.error = error
            }
        }
    }

    func send(_ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try session.send($0) }
    }

    func takeReceived() -> [UInt8] {
        defer { received = [] }
        return received
    }
}

/// A client and a server that are connected by hand.
struct Pair {
    let client: Peer
    let server: Peer

    init(_ client: TLSContext, _ server: TLSContext, host: String = "localhost") throws {
        self.client = try Peer(client, .client(hostName: host))
        self.server = try Peer(server, .server)
        try self.client.session.start()
    }

    /// Carries what each has to say to the other, in pieces of at most `pieceBytes`, until both are silent.
    func pump(pieceBytes: Int = .max) {
        for _ in 0..<100 {
            var isSilent = true
            for (sender, receiver) in [(client, server), (server, client)] {
                let bytes = sender.takeOutput()
                isSilent = isSilent && bytes.isEmpty
                var rest = bytes[...]
                while !rest.isEmpty {
                    receiver.feed(Array(rest.prefix(pieceBytes)))
                    rest = rest.dropFirst(pieceBytes)
                }
            }
            if isSilent { return }
        }
        Issue.record("the peers do not come to an end")
    }

    var isEstablished: Bool { client.session.isEstablished && server.session.isEstablished }
}
