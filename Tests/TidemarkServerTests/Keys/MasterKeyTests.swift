// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing
import TidemarkDomain
import TidemarkServer
import TidemarkTestSupport

@Suite struct MasterKeyTests {
    private let secret = [UInt8](repeating: 5, count: 32)

    @Test func `what is closed opens by the same key, for the same user, and unchanged`() throws {
        let master = try #require(MasterKey(Array(repeating: 1, count: 32)))
        let other = try #require(MasterKey(Array(repeating: 2, count: 32)))
        let closed = master.close(secret, of: UserID(7))
        #expect(closed != master.close(secret, of: UserID(7)), "never the same bytes twice")
        #expect(master.open(closed, of: UserID(7)) == secret)
        #expect(master.open(closed, of: UserID(8)) == nil)
        #expect(other.open(closed, of: UserID(7)) == nil)
        for index in closed.indices {
            var changed = closed
            changed[index] ^= 1
            #expect(master.open(changed, of: UserID(7)) == nil)
        }
        for count in 0..<closed.count { #expect(master.open(Array(closed[..<count]), of: UserID(7)) == nil) }
        #expect(master.check != other.check && master.check.count == 16)
    }

    @Test func `a key as text is 64 digits, white space aside`() {
        let digits = MasterKey.text(of: secret)
        #expect(digits == String(repeating: "05", count: 32))
        #expect(MasterKey(text: " \(digits)\r\n")?.check == MasterKey(secret)?.check)
        for text in ["", "05", digits + "05", String(digits.dropLast()) + "g"] { #expect(MasterKey(text: text) == nil) }
    }

    @Test func `a file is made once, for its owner alone, and read back`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let file = MasterKeyFile(path: "\(directory.path)/master.key")
        #expect(try file.read() == nil)
        let made = try file.make()
        #expect(made.isNew)
        #expect(try file.read()?.check == made.key.check)
        let again = try file.make()
        #expect(!again.isNew && again.key.check == made.key.check)
        var status = stat()
        #expect(stat(file.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try files(in: directory) == ["master.key"], "no draft is left")
        let nowhere = MasterKeyFile(path: "\(directory.path)/none/master.key")
        #expect(throws: ServerError.self) { try nowhere.make() }
        let folder = MasterKeyFile(path: directory.path)
        #expect(throws: ServerError.self) { try folder.read() }
    }

    private func files(in directory: TestDirectory) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    @Test func `R-765: whoever looks sees no file or a whole one, and all who make it have one key`() async throws {
        for _ in 0..<20 {
            let directory = try TestDirectory()
            defer { directory.remove() }
            let file = MasterKeyFile(path: "\(directory.path)/master.key")
            let checks = try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
                for number in 0..<8 {
                    group.addTask {
                        if number % 2 == 0 { return [try file.make().key.check] }
                        // As another server does that starts just then.
                        return try (0..<200).compactMap { _ in try file.read()?.check }
                    }
                }
                return try await group.reduce(into: Set<[UInt8]>()) { $0.formUnion($1) }
            }
            #expect(checks.count == 1)
            #expect(try files(in: directory) == ["master.key"])
        }
    }

    @Test func `R-765: what a crash left of a file that was being made is in nobody's way`() throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let file = MasterKeyFile(path: "\(directory.path)/master.key")
        try Data("0505".utf8).write(to: URL(fileURLWithPath: file.path + ".0011223344556677.new"))
        #expect(try file.read() == nil)
        #expect(try file.make().isNew)
        #expect(try file.read() != nil)
    }
}
