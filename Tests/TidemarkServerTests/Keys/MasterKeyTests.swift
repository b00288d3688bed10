// SPDX-License-Identifier: Apache-2.0

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
        let nowhere = MasterKeyFile(path: "\(directory.path)/none/master.key")
        #expect(throws: ServerError.self) { try nowhere.make() }
        let folder = MasterKeyFile(path: directory.path)
        #expect(throws: ServerError.self) { try folder.read() }
    }
}
