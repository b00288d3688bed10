// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkTestSupport

/// A program of this package that runs as a process of its own, with its output in files.
final class Program: @unchecked Sendable {
    private let process = Process()
    private let outputPath: String
    private let errorsPath: String
    let name: String

    /// Beside the test bundle, because the bundle depends on it; or where `TIDEMARK_PROGRAMS` says, for other builds.
    static let directory: String = {
        if let directory = ProcessInfo.processInfo.environment["TIDEMARK_PROGRAMS"] { return directory }
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: bundle).deletingLastPathComponent().path
    }()

    /// - Parameters:
    ///   - environment: added to what is set, without any `TIDEMARK_…` of the person who runs the tests.
    ///   - directory: for its output.
    ///   - path: of a copy of the program; nil: the program beside the tests.
    ///   - workingDirectory: nil: that of the tests.
    init(
        _ name: String, _ arguments: [String], environment: [String: String] = [:], directory: String,
        path: String? = nil, workingDirectory: String? = nil
    ) throws {
        self.name = name
        let stem = "\(directory)/\(name)-\(UUID().uuidString.prefix(8))"
        (outputPath, errorsPath) = (stem + ".out", stem + ".err")
        let inherited = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TIDEMARK_") }
        process.executableURL = URL(fileURLWithPath: path ?? "\(Self.directory)/\(name)")
        if let workingDirectory {
            process.currentDirectoryURL = URL(fileURLWithPath: workingDirectory, isDirectory: true)
        }
        process.arguments = arguments
        // Contexts of operators are not those of the person who runs the tests.
        let own = ["XDG_CONFIG_HOME": "\(directory)/config"]
        process.environment = inherited.merging(own) { $1 }.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        let files = [Self.file(outputPath), Self.file(errorsPath)]
        (process.standardOutput, process.standardError) = (files[0], files[1])
        // A process keeps what it was given, and Foundation keeps the process: a whole run would need thousands of descriptors.
        defer { for file in files { try? file.close() } }
        try process.start()
    }

    private static func file(_ path: String) -> FileHandle {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static func text(_ path: String) -> String {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Runs a program to its end.
    static func run(
        _ name: String, _ arguments: [String], environment: [String: String] = [:], directory: String,
        path: String? = nil, workingDirectory: String? = nil, within limit: Duration = .seconds(30)
    ) async throws -> (status: Int32, output: String) {
        let program = try Program(
            name, arguments, environment: environment, directory: directory, path: path,
            workingDirectory: workingDirectory)
        let status = try await program.exit(within: limit)
        return (status, program.output)
    }

    /// Everything that it has said so far, its standard output first.
    var output: String { Self.text(outputPath) + Self.text(errorsPath) }

    /// The lines of its log with this text.
    func lines(_ text: String) -> [Substring] { output.split(separator: "\n").filter { $0.contains(" \(text) ") } }

    var isRunning: Bool { process.isRunning }
    var id: pid_t { process.processIdentifier }

    func signal(_ number: Int32) {
        if process.isRunning { kill(process.processIdentifier, number) }
    }

    /// From now on no file of its may grow beyond so many bytes; nil: any size.
    func limitFileSize(_ byteCount: Int?) throws {
        try limit("fsize", "\(byteCount.map(String.init) ?? "unlimited")")
    }

    /// From now on it can have so many descriptors more than it has now.
    func limitDescriptors(toFree count: Int) throws {
        let used = Set(try FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/fd").compactMap { Int($0) })
        // The limit is of their numbers, and the smallest that is free is taken next.
        let free = (0...).lazy.filter { !used.contains($0) }.prefix(count)
        try limit("nofile", "\(1 + free.reduce(0, max))")
    }

    private func limit(_ resource: String, _ value: String) throws {
        // The program of util-linux: Glibc's Swift module lacks the system call.
        let limiter = Process()
        limiter.executableURL = URL(fileURLWithPath: "/usr/bin/prlimit")
        limiter.arguments = ["--pid", "\(id)", "--\(resource)=\(value):"]
        try limiter.start()
        limiter.waitUntilExit()
        guard limiter.terminationStatus == 0 else { throw NeverHappened(description: "prlimit failed") }
    }

    /// What it has in memory now.
    func memoryBytes() throws -> Int { try memoryBytes("VmRSS") }

    /// What it has had in memory at most.
    func peakMemoryBytes() throws -> Int { try memoryBytes("VmHWM") }

    private func memoryBytes(_ name: String) throws -> Int { try number("status", name) * 1_024 }

    /// Bytes that it has read from files. What it receives from sockets is not among them.
    func readBytes() throws -> Int { try number("io", "rchar") }

    /// A number that the kernel tells of it.
    private func number(_ file: String, _ name: String) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(id)/\(file)", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        guard let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) }) else {
            throw NeverHappened(description: "no \(name): \(text)")
        }
        return number
    }

    /// Lets ``peakMemoryBytes()`` count from now on.
    ///
    /// - Returns: What it has in memory now.
    func resetPeakMemory() throws -> Int {
        // proc(5): 5 sets the peak to what is in use.
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/\(id)/clear_refs"))
        return try peakMemoryBytes()
    }

    /// Waits for its end.
    @discardableResult
    func exit(within limit: Duration = .seconds(30)) async throws -> Int32 {
        do {
            try await eventually("\(name) ends", within: limit) { !self.process.isRunning }
        } catch {
            signal(SIGKILL)
            throw error
        }
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    /// Asks it to end in order.
    @discardableResult
    func stop() async throws -> Int32 {
        signal(SIGINT)
        return try await exit()
    }

    func killNow() async throws {
        signal(SIGKILL)
        try await exit()
    }

    deinit { signal(SIGKILL) }
}
