// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The bytes of a file that an operator named, as they are stored.
protocol ByteSource: AnyObject {
    /// As it was given, for messages.
    var name: String { get }
    /// Nil if it is unknown, as for a pipe.
    var byteCount: Int? { get }
    /// The next bytes; empty at the end.
    func read() throws(AdminFailure) -> [UInt8]
}

/// A file of this machine.
final class LocalFile: ByteSource {
    let name: String
    let byteCount: Int?
    private let handle: FileHandle
    private let partBytesMax: Int

    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - partBytesMax: of one ``read()``.
    init(path: String, partBytesMax: Int = 262_144) throws(AdminFailure) {
        name = path == "-" ? "standard input" : path
        self.partBytesMax = partBytesMax
        do {
            handle =
                path == "-" ? .standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        } catch {
            throw AdminFailure(.usage, "The file \(path) cannot be read. Check that it exists and who may read it.")
        }
        var status = stat()
        let kind = fstat(handle.fileDescriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
        guard kind != S_IFDIR else { throw AdminFailure(.usage, "\(path) is a folder: name one file in it.") }
        byteCount = kind == S_IFREG ? Int(status.st_size) : nil
    }

    func read() throws(AdminFailure) -> [UInt8] {
        do {
            return [UInt8](try handle.read(upToCount: partBytesMax) ?? Data())
        } catch {
            throw AdminFailure(.usage, "\(name) cannot be read to its end: \(error.localizedDescription).")
        }
    }
}
