// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkServer

/// A file on the machine of an operator who is connected to this server. Only as much of it comes as is read.
final class ChannelFile: ByteSource {
    let name: String
    let byteCount: Int?
    private let number: Int
    private let channel: any OperatorChannel

    fileprivate init(_ number: Int, name: String, byteCount: Int?, _ channel: any OperatorChannel) {
        self.number = number
        self.name = name
        self.byteCount = byteCount
        self.channel = channel
    }

    func read() throws(AdminFailure) -> [UInt8] {
        switch channel.readFile(number) {
        case .bytes(let bytes): return bytes
        case .failed(let reason): throw AdminFailure(.usage, reason)
        case .gone: throw .operatorGone
        }
    }
}

/// Counts the files that a command opens, as the client does.
final class ChannelFiles: Sendable {
    private let count = Mutex(0)

    func open(_ path: String, _ channel: any OperatorChannel) throws(AdminFailure) -> ChannelFile {
        switch channel.openFile(path) {
        case .opened(let name, let byteCount):
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            return ChannelFile(number, name: name, byteCount: byteCount, channel)
        case .failed(let reason): throw AdminFailure(.usage, reason)
        case .gone: throw .operatorGone
        }
    }
}

extension AdminFailure {
    fileprivate static var operatorGone: AdminFailure {
        AdminFailure(.unreachable, "The operator's program does not answer any more.")
    }
}
