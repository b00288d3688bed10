// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The real `nats-server`, if it is installed.
struct BusProgram {
    private let child: ChildProgram
    let port: UInt16

    static var path: String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (folders + ["/usr/sbin", "/usr/local/sbin"]).map { "\($0)/nats-server" }
            .first { $0.hasPrefix("/") && FileManager.default.isExecutableFile(atPath: $0) }
    }

    init(_ bench: Bench, path: String) throws {
        child = try ChildProgram(
            path, ["--addr", "127.0.0.1", "--port", "-1"], core: nil,
            log: "\(bench.directory)/nats-server-\(UUID().uuidString).log")
        do {
            port = try child.port(after: "Listening for client connections on ")
        } catch {
            child.stop()
            throw error
        }
    }

    func stop() {
        child.stop()
    }
}
