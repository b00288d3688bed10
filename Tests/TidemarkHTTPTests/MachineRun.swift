// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP

/// Drives a server's machine with what a client sends, and writes down what it says. Each request that is complete is
/// answered at once.
struct MachineRun {
    private(set) var machine: HTTPServerMachine
    /// `GET /a`, `[body]`, the code of a refusal, `closes`, `end`.
    private(set) var said: [String] = []
    /// What would be sent, but for answers.
    private(set) var sent: [UInt8] = []
    private let bodyBytesMax: Int
    private var body: [UInt8] = []
    private var hasClosed = false

    init(bodyBytesMax: Int = 64, requestsMax: Int = 10) {
        machine = HTTPServerMachine(requestsMax: requestsMax)
        self.bodyBytesMax = bodyBytesMax
    }

    mutating func receive(_ bytes: some Collection<UInt8>) {
        Array(bytes).withUnsafeBytes { machine.received($0) }
        turn()
    }

    mutating func end() {
        machine.peerEnded()
        turn()
    }

    private mutating func turn() {
        while !hasClosed, let step = machine.next() {
            switch step {
            case .request(let head):
                said.append("\(head.method) \(head.target)")
                machine.takeBody(bytesMax: bodyBytesMax)
            case .send(let bytes): sent += bytes
            case .body(let bytes): body += bytes
            case .bodyEnd:
                said.append("[\(String(decoding: body, as: UTF8.self))]")
                answer(.ok)
            case .refuse(let error):
                said.append(error.code.rawValue)
                answer(error.status)
            case .end:
                said.append("end")
                hasClosed = true
            }
        }
    }

    private mutating func answer(_ status: HTTPStatus) {
        body = []
        _ = machine.beginAnswer(ResponseHead(status: status), length: 0)
        switch machine.endAnswer() {
        case .goesOn: break
        case .closes:
            said.append("closes")
            hasClosed = true
        case .broken: said.append("broken")
        }
    }

    /// What is said of `text` when it comes at once, byte by byte, and in two parts cut at every point; one entry for each
    /// difference.
    static func everySplit(_ text: String, bodyBytesMax: Int = 64, requestsMax: Int = 10) -> Set<String> {
        let bytes = Array(text.utf8)
        let splits = [[bytes.count], Array(0...bytes.count)] + (0..<bytes.count).map { [$0, bytes.count] }
        return Set(
            splits.map { cuts in
                var run = MachineRun(bodyBytesMax: bodyBytesMax, requestsMax: requestsMax)
                var start = 0
                for cut in cuts {
                    run.receive(bytes[start..<cut])
                    start = cut
                }
                run.end()
                return run.said.joined(separator: " ")
            })
    }
}
