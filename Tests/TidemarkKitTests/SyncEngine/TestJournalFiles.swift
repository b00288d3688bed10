// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import TidemarkKit

/// The files of journals on the disk. A test sees what is there after each operation, and lets one fail.
final class TestJournalFiles: JournalFiles, @unchecked Sendable {
    private let disk = JournalDisk()
    /// Called after each operation, on the same thread.
    var afterStep: () -> Void = {}
    /// The next line is not written.
    var failsNextWrite = false
    /// The next line is in the file, but nobody knows whether it is on the disk.
    var failsNextSynchronize = false

    func lock(_ url: URL) throws(CKError) -> Int32 {
        let lock = try disk.lock(url)
        afterStep()
        return lock
    }

    func keepAside(_ url: URL, damagedLineCount: Int) {
        disk.keepAside(url, damagedLineCount: damagedLineCount)
        afterStep()
    }

    func remove(_ path: String) {
        disk.remove(path)
        afterStep()
    }

    func create(_ path: String) throws -> FileHandle {
        let file = try disk.create(path)
        afterStep()
        return file
    }

    func write(_ bytes: [UInt8], to file: FileHandle) throws {
        try fail(&failsNextWrite)
        try disk.write(bytes, to: file)
        afterStep()
    }

    func synchronize(_ file: FileHandle) throws {
        try fail(&failsNextSynchronize)
        try disk.synchronize(file)
        afterStep()
    }

    func replace(_ url: URL, by path: String) throws {
        try disk.replace(url, by: path)
        afterStep()
    }

    func synchronizeDirectory(of url: URL) {
        disk.synchronizeDirectory(of: url)
        afterStep()
    }

    private func fail(_ isWanted: inout Bool) throws {
        defer { isWanted = false }
        if isWanted { throw CocoaError(.fileWriteOutOfSpace) }
    }
}
