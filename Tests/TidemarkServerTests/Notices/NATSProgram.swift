// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// The real `nats-server` of Debian, on loopback.
final class NATSProgram: @unchecked Sendable {
    private let process: Process
    let port: Int

    /// Nil if it is not installed.
    static var path: String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return (folders + ["/usr/sbin", "/usr/local/sbin"]).map { "\($0)/nats-server" }
            .first(where: FileManager.default.isExecutableFile)
    }

    /// - Parameters:
    ///   - port: nil: one that is free.
    ///   - settings: in its own language.
    static func start(in directory: TestDirectory, port: Int? = nil, _ settings: String = "") async throws
        -> NATSProgram
    {
        let folder = "\(directory.path)/\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let file = folder + "/nats.conf"
        try settings.write(toFile: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(path))
        process.arguments = [
            "-c", file, "-a", "127.0.0.1", "-p", port.map(String.init) ?? "-1", "--ports_file_dir", folder, "-l",
            folder + "/log",
        ]
        process.standardInput = FileHandle.nullDevice
        try process.start()
        let ports = "\(folder)/nats-server_\(process.processIdentifier).ports"
        // It is written when the server listens.
        try await eventually(within: .seconds(60)) { FileManager.default.fileExists(atPath: ports) }
        var found: Int?
        try await eventually(within: .seconds(60)) {
            let text = (try? String(contentsOfFile: ports, encoding: .utf8)) ?? ""
            found = text.firstMatch(of: /127\.0\.0\.1:(\d+)"/).flatMap { Int($0.1) }
            return found != nil
        }
        return NATSProgram(process, port: try #require(found))
    }

    private init(_ process: Process, port: Int) {
        self.process = process
        self.port = port
    }

    deinit { if process.isRunning { process.terminate() } }

    /// Returns when it has ended.
    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}
