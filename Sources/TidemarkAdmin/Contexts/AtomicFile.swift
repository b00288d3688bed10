// SPDX-License-Identifier: Apache-2.0

package import Foundation

/// Writes files so that they appear completely or not at all.
package enum AtomicFile {
    package static func write(_ data: Data, to path: String, mode: UInt32) throws(AdminFailure) {
        let temporary = "\(path).\(getpid()).new"
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else { throw failure(path) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try file.write(contentsOf: data)
            try file.close()
        } catch {
            unlink(temporary)
            throw failure(path)
        }
        guard rename(temporary, path) == 0 else {
            unlink(temporary)
            throw failure(path)
        }
    }

    private static func failure(_ path: String) -> AdminFailure {
        AdminFailure(
            .refused,
            "Cannot write \(path): \(String(cString: strerror(errno))). Make room, or check who may write there.")
    }
}
