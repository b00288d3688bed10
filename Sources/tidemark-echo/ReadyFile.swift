// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TidemarkSockets

/// Tells a script that the server is ready, and on which port.
enum ReadyFile {
    /// Written under another name first, so that the file is complete when it appears.
    static func write(port: UInt16, to path: String) throws {
        let temporary = path + ".new"
        guard let file = fopen(temporary, "w") else {
            throw SocketError(errorNumber: errno, operation: "open the ready file")
        }
        fputs("{\"port\": \(port)}\n", file)
        guard fclose(file) == 0, rename(temporary, path) == 0 else {
            throw SocketError(errorNumber: errno, operation: "write the ready file")
        }
    }
}
