// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import Testing
internal import TidemarkLocalPostgres
internal import TidemarkPostgres
internal import TidemarkTestSupport

@Suite struct LocalPostgresTests {
    @Test func `a second start finds the data of the first, in a directory with any name`() async throws {
        try await withTestDirectory { path in
            let home = path + "/a directory, näher & 100%/postgres"
            let pids = try await blocking {
                try [LocalPostgres.Durability.durable, .fast].map { durability in
                    let server = try LocalPostgres.start(dataDirectory: home, durability: durability)
                    defer { server.stop() }
                    let name = "an odd name/&?=%"
                    if durability == .durable {
                        try execute(["CREATE DATABASE \(PostgresAdministration.quoted(name))"], on: server)
                        try execute(["CREATE TABLE t (a int)"], on: server, database: name)
                    }
                    try execute(["INSERT INTO t VALUES (1)"], on: server, database: name)
                    return server.processID
                }
            }
            try await eventually { pids.allSatisfy { kill($0, 0) != 0 } }
        }
    }

    @Test func `nothing of it remains when it is stopped, but the data and the log`() async throws {
        try await withTestDirectory { path in
            let url = try await blocking {
                let server = try LocalPostgres.start(dataDirectory: path, durability: .fast)
                let url = server.databaseURL("postgres")
                server.stop()
                server.stop()
                #expect(server.processID == 0)
                return url
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            #expect(names == ["data", "postgres.log"])
            let socket = try #require(URLComponents(string: url)?.queryItems?.first { $0.name == "host" }?.value)
            #expect(socket.utf8.count < 90 && !FileManager.default.fileExists(atPath: socket))
        }
    }

    @Test func `two do not share a directory`() async throws {
        try await withServer { server, path, _ in
            let error = await localPostgresError {
                _ = try await blocking { try LocalPostgres.start(dataDirectory: path, durability: .fast) }
            }
            #expect(error?.code == .directoryInUse)
            try await blocking { try execute(["SELECT 1"], on: server) }
        }
    }

    @Test func `when it is killed it starts again with its data`() async throws {
        try await withServer { server, _, events in
            try await blocking { try execute(["CREATE TABLE t (a int)"], on: server) }
            for killsAll in [false, true] {
                let first = server.processID
                if killsAll { server.killNow() } else { kill(first, SIGKILL) }
                try await eventually {
                    try await blocking { (try? execute(["INSERT INTO t VALUES (1)"], on: server)) != nil }
                }
                #expect(server.processID != first)
            }
            #expect(events.all.contains { if case .ended(0, SIGKILL) = $0 { true } else { false } })
        }
    }

    @Test func `it ends when its parent is killed, and the next start has the data`() async throws {
        try await withTestDirectory { path in
            let host = try Host(directory: path)
            let pid = try await host.serverProcessID()
            #expect(kill(pid, 0) == 0)
            host.kill()
            // At once: the server may still be about to end.
            let server = try await blocking { try LocalPostgres.start(dataDirectory: path, durability: .fast) }
            #expect(server.processID != pid && !isRunning(pid))
            try await blocking {
                try execute(["SELECT 1"], on: server)
                server.stop()
            }
            let log = try String(contentsOfFile: path + "/postgres.log", encoding: .utf8)
            #expect(log.contains("received fast shutdown request"))
        }
    }

    @Test func `it ends when its parent is killed, and nobody starts it again`() async throws {
        try await withTestDirectory { path in
            let host = try Host(directory: path)
            let pid = try await host.serverProcessID()
            host.kill()
            try await eventually { !isRunning(pid) }
            #expect(!FileManager.default.fileExists(atPath: path + "/data/postmaster.pid"))
        }
    }

    @Test func `a stale postmaster pid file does not hinder a start, even if its number is another process's`()
        async throws
    {
        try await withTestDirectory { path in
            try await blocking {
                try LocalPostgres.start(dataDirectory: path, durability: .fast).stop()
                // A process of the same user, as far as PostgreSQL can tell.
                let stranger = Process()
                stranger.executableURL = URL(fileURLWithPath: "/bin/sleep")
                stranger.arguments = ["60"]
                try stranger.start()
                // Not SIGTERM, which it has inherited as blocked from the thread that started it.
                defer { kill(stranger.processIdentifier, SIGKILL) }
                let text =
                    "\(stranger.processIdentifier)\n\(path)/data\n1700000000\n5432\n/tmp\n\n  5432001  0\nready   \n"
                try text.write(toFile: path + "/data/postmaster.pid", atomically: false, encoding: .utf8)
                let server = try LocalPostgres.start(dataDirectory: path, durability: .fast)
                try execute(["SELECT 1"], on: server)
                server.stop()
                #expect(stranger.isRunning)
            }
        }
    }

    @Test func `a first start that was interrupted is begun anew`() async throws {
        try await withTestDirectory { path in
            try FileManager.default.createDirectory(
                atPath: path + "/data.new/base", withIntermediateDirectories: true)
            try "15".write(toFile: path + "/data.new/PG_VERSION", atomically: false, encoding: .utf8)
            try await blocking {
                let server = try LocalPostgres.start(dataDirectory: path, durability: .fast)
                try execute(["SELECT 1"], on: server)
                server.stop()
            }
        }
    }

    @Test func `it works where only this user can go`() async throws {
        try await withTestDirectory { path in
            try FileManager.default.createDirectory(
                atPath: path + "/private", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            try await blocking {
                let server = try LocalPostgres.start(dataDirectory: path + "/private/postgres", durability: .durable)
                try execute(["CREATE TABLE t (a int)", "CHECKPOINT"], on: server)
                server.stop()
            }
        }
    }

    @Test func `a server that cannot start says so, with its log`() async throws {
        try await withTestDirectory { path in
            try await blocking {
                try LocalPostgres.start(dataDirectory: path, durability: .fast).stop()
                let configuration = try #require(FileHandle(forWritingAtPath: path + "/data/postgresql.conf"))
                try configuration.seekToEnd()
                try configuration.write(contentsOf: Data("\nno_such_setting = 1\n".utf8))
                try configuration.close()
            }
            let error = await localPostgresError {
                _ = try await blocking { try LocalPostgres.start(dataDirectory: path, durability: .fast) }
            }
            #expect(error?.code == .startFailed, "\(String(describing: error))")
            #expect(error?.detail.contains("no_such_setting") == true, "\(String(describing: error))")
            // The directory is free again.
            let again = await localPostgresError {
                _ = try await blocking { try LocalPostgres.start(dataDirectory: path, durability: .fast) }
            }
            #expect(again?.code == .startFailed, "\(String(describing: again))")
        }
    }

    @Test func `what cannot work is told apart`() async throws {
        try await withTestDirectory { path in
            try "".write(toFile: path + "/file", atomically: false, encoding: .utf8)
            let cases: [(String, String?, LocalPostgresError.Code)] = [
                (path + "/a", path, .binariesNotFound),
                (path + "/file/b", nil, .directoryNotUsable),
                (path + "/file", nil, .directoryNotUsable),
            ]
            for (directory, binaries, code) in cases {
                let error = await localPostgresError {
                    _ = try await blocking {
                        try LocalPostgres.start(dataDirectory: directory, durability: .fast, binaries: binaries)
                    }
                }
                #expect(error?.code == code)
            }
        }
    }
}

private func execute(_ statements: [String], on server: LocalPostgres, database: String = "postgres") throws {
    try PostgresAdministration.execute(statements, url: server.databaseURL(database))
}

private func localPostgresError(_ body: () async throws -> Void) async -> LocalPostgresError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? LocalPostgresError
    }
}

/// Whether a process is there and is no zombie that its new parent has not collected yet.
private func isRunning(_ pid: Int32) -> Bool {
    guard let status = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return false }
    return !status.contains(") Z ")
}

/// A process that runs a private PostgreSQL and can be killed.
private final class Host: @unchecked Sendable {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(directory: String) throws {
        let test = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        process.executableURL = test.deletingLastPathComponent().appendingPathComponent("LocalPostgresHost")
        process.arguments = [directory]
        process.standardInput = input
        process.standardOutput = output
        try process.start()
    }

    func serverProcessID() async throws -> Int32 {
        try await blocking { [output] in
            let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
            return try #require(Int32(line.split(separator: "\n").first ?? ""))
        }
    }

    func kill() {
        _ = Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
