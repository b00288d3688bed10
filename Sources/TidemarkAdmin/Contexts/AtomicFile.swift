// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Writes files, so that they appear completely or not at all.
package enum AtomicFile {
    package static func write(_ data: Data, to path: String, mode: UInt32) throws(AdminFailure) {
        let temporary = "\(path).\(getpid()).new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw failure(path) }
        do {
            try fill(descriptor, with: data)
        } catch {
            unlink(temporary)
            throw failure(path, error.localizedDescription)
        }
        guard rename(temporary, path) == 0 else {
            unlink(temporary)
            throw failure(path)
        }
    }

    /// Writes to what is no file of its own and stays what it is: a device, a pipe, or what a link leads to.
    package static func write(_ data: Data, through path: String) throws(AdminFailure) {
        let descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        do {
            try fill(descriptor, with: data)
        } catch {
            throw failure(path, error.localizedDescription)
        }
    }

    private static func fill(_ descriptor: Int32, with data: Data) throws {
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: data)
        try file.close()
    }

    private static func failure(_ path: String) -> AdminFailure {
        failure(path, String(cString: strerror(errno)) + ".")
    }

    private static func failure(_ path: String, _ reason: String) -> AdminFailure {
        AdminFailure(.refused, "Cannot write \(path): \(reason) Make room, or check who may write there.")
    }
}
