// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The bytes of a file that an operator named, as they are stored.
protocol ByteSource: AnyObject {
    /// As it was given, for messages.
    var name: String { get }
    /// Nil if it is unknown, as for a pipe.
    var byteCount: Int? { get }
    /// The next bytes; empty at the end.
    func read() throws(AdminFailure) -> [UInt8]
}

/// A file of this machine. Nothing of it waits in the kernel: a pipe without a writer, or a terminal at which nobody types,
/// would hold the command when its operator abandons it.
final class LocalFile: ByteSource {
    let name: String
    let byteCount: Int?
    private let descriptor: Int32
    private let isOwned: Bool
    private let partBytesMax: Int
    private let isAbandoned: @Sendable () -> Bool

    /// How often a wait for bytes looks whether the command was abandoned.
    private static let waitMilliseconds: Int32 = 100

    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - partBytesMax: of one ``read()``.
    ///   - isAbandoned: whether nobody wants the bytes any more; asked while it waits for them.
    init(
        path: String, partBytesMax: Int = 262_144, isAbandoned: @escaping @Sendable () -> Bool = { Task.isCancelled }
    ) throws(AdminFailure) {
        name = path == "-" ? "standard input" : path
        self.partBytesMax = partBytesMax
        self.isAbandoned = isAbandoned
        isOwned = path != "-"
        // Without O_NONBLOCK, a named pipe would be open only when it has a writer. It changes nothing for files.
        descriptor = path == "-" ? STDIN_FILENO : Glibc.open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            byteCount = nil
            throw AdminFailure(.usage, "The file \(path) cannot be read. Check that it exists and who may read it.")
        }
        var status = stat()
        let kind = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
        byteCount = kind == S_IFREG ? Int(status.st_size) : nil
        guard kind != S_IFDIR else { throw AdminFailure(.usage, "\(path) is a folder: name one file in it.") }
    }

    deinit {
        if isOwned, descriptor >= 0 { Glibc.close(descriptor) }
    }

    func read() throws(AdminFailure) -> [UInt8] {
        while true {
            try waitForBytes()
            var code: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: partBytesMax) { buffer, count in
                let result = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                code = result < 0 ? errno : 0
                count = max(0, result)
            }
            // The disk may have been slow.
            try requireOperator()
            switch code {
            case 0: return bytes
            case EINTR, EAGAIN: continue
            default:
                throw AdminFailure(
                    .usage, "\(name) cannot be read to its end: \(String(cString: strerror(code))).")
            }
        }
    }

    /// NB: a pipe that no writer has opened yet is at its end for `read`, but not for `poll`.
    private func waitForBytes() throws(AdminFailure) {
        try requireOperator()
        guard byteCount == nil else { return }
        var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while true {
            let count = poll(&wanted, 1, Self.waitMilliseconds)
            try requireOperator()
            // What is wrong with the file, `read` says.
            if count > 0 || count < 0 && errno != EINTR { return }
        }
    }

    private func requireOperator() throws(AdminFailure) {
        guard !isAbandoned() else {
            throw AdminFailure(.refused, "The command was abandoned while it read \(name).")
        }
    }
}
