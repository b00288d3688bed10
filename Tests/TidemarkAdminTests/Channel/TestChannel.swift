// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TidemarkServer

/// Somebody who sends a command to a server, reads everything, and has files.
final class TestChannel: OperatorChannel {
    private let texts = Mutex((output: "", messages: [String]()))
    private let writeCounts = Mutex(0)
    private let files: [String: [UInt8]]
    private let leavesAtOnce: Bool
    private let opened = Mutex([(bytes: [UInt8], place: Int)]())

    /// - Parameter leavesAtOnce: whether the operator goes as soon as something comes.
    init(files: [String: [UInt8]] = [:], leavesAtOnce: Bool = false) {
        self.files = files
        self.leavesAtOnce = leavesAtOnce
    }

    var output: String { texts.withLock { $0.output } }
    var messages: [String] { texts.withLock { $0.messages } }

    var writeCount: Int { writeCounts.withLock { $0 } }

    func write(_ text: String) async -> Bool {
        writeCounts.withLock { $0 += 1 }
        guard !leavesAtOnce else {
            withUnsafeCurrentTask { $0?.cancel() }
            return false
        }
        texts.withLock { $0.output += text }
        return true
    }

    func say(_ text: String) { texts.withLock { $0.messages.append(text) } }
    func showProgress(_ text: String?) {}
    func ask(_ question: String) async -> String? { nil }

    func openFile(_ path: String) -> OperatorFileAnswer {
        guard let bytes = files[path] else { return .failed("The file \(path) cannot be read.") }
        opened.withLock { $0.append((bytes, 0)) }
        return .opened(name: path, byteCount: bytes.count)
    }

    /// In parts of seven bytes; a large file in some sixty.
    func readFile(_ number: Int) -> OperatorPartAnswer {
        opened.withLock { opened in
            let (bytes, place) = opened[number]
            let end = min(bytes.count, place + max(7, bytes.count / 64))
            opened[number].place = end
            return .bytes(Array(bytes[place..<end]))
        }
    }
}
