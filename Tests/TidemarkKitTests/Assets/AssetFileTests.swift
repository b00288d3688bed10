// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkCrypto
import TidemarkFields
import TidemarkTestSupport

@testable import TidemarkKit

@Suite struct AssetFileTests {
    private func withDirectory(_ body: (URL) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try await body(URL(fileURLWithPath: directory.path))
    }

    private func content(_ bytes: [UInt8]) -> FieldAsset {
        FieldAsset(sha256: ContentHash.of(bytes), byteCount: Int64(bytes.count))
    }

    @Test func `R-070: a file is named by its content, and read again in parts`() async throws {
        try await withDirectory { directory in
            let url = directory.appendingPathComponent("f")
            let bytes = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            try Data(bytes).write(to: url)
            let file = try AssetFile(url)
            #expect(file.content == content(bytes))
            #expect(try file.bytes(at: 299_999, count: 5) == Array(bytes[299_999..<300_004]))
            try file.checkUnchanged()
            truncate(url.path, 100)
            #expect(throws: CKError.self) { try file.checkUnchanged() }
            do throws(CKError) {
                _ = try file.bytes(at: 50, count: 100)
                Issue.record("read past the end")
            } catch {
                #expect(error.code == .assetFileModified)
            }
        }
    }

    @Test func `R-070: a file is settled when each further change shows`() async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let url = URL(fileURLWithPath: directory.path).appendingPathComponent("f")
        try Data([1, 2, 3]).write(to: url)
        let young = try AssetSource(url)
        #expect(try !young.isUntouched())
        try await eventually { try AssetSource(url).isSettled }
        let source = try AssetSource(url)
        #expect(try source.isUntouched())
        #expect(source.draft != young.draft)
        // A link to it is no change of its content, but it is not as it was either.
        try FileManager.default.linkItem(at: url, to: url.appendingPathExtension("link"))
        #expect(try !source.isUntouched())
        try source.checkUnchanged()
        // Nor does it help to set the time back.
        let date = try FileManager.default.attributesOfItem(atPath: url.path)[.modificationDate]
        try Data([4, 5, 6]).write(to: url)
        try FileManager.default.setAttributes([.modificationDate: #require(date)], ofItemAtPath: url.path)
        #expect(try AssetSource(url).draft != source.draft)
    }

    @Test func `R-071: a download goes on from what is there, and damage is found`() async throws {
        try await withDirectory { directory in
            let staging = AssetStaging(directory: directory.appendingPathComponent("staging"))
            let bytes = [UInt8]("hello, tide".utf8)
            let asset = content(bytes)
            do {
                let file = try await staging.open(asset)
                try file.append(Array(bytes[..<5]))
                // Somebody else who wants the same gets a file of their own.
                let other = try await staging.open(asset)
                #expect(other.byteCount == 0)
            }
            let file = try await staging.open(asset)
            #expect(file.byteCount == 5)
            try file.append([1, 2, 3, 4, 5, 6])
            #expect(try await file.finish() == nil)
            #expect(file.byteCount == 0)
            try file.append(bytes)
            let url = try #require(try await file.finish())
            #expect(try Array(Data(contentsOf: url)) == bytes)
            // What is finished is nobody's to write to.
            #expect(try await staging.open(asset).byteCount == 0)
            let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    private func download(
        _ staging: AssetStaging, _ came: [UInt8], _ asset: FieldAsset, _ checksum: [UInt8]
    ) async throws -> [UInt8]? {
        let file = try await staging.open(asset)
        file.expect(checksum)
        try file.append(Array(came[..<5]))
        try file.append(Array(came[5...]))
        guard let url = try await file.finish() else {
            #expect(file.byteCount == 0)
            return nil
        }
        return try Array(Data(contentsOf: url))
    }

    @Test func `R-071: a checksum proves a download, and what differs from it is proved by its hash`() async throws {
        try await withDirectory { directory async throws in
            let staging = AssetStaging(directory: directory)
            let bytes = [UInt8]("hello, tide".utf8)
            var damaged = bytes
            damaged[3] ^= 1
            let (right, wrong) = (Checksum.of(bytes), [UInt8](repeating: 0, count: Checksum.byteCount))
            #expect(try await download(staging, bytes, content(bytes), right) == bytes)
            #expect(try await download(staging, bytes, content(bytes), wrong) == bytes)
            #expect(try await download(staging, damaged, content(bytes), right) == nil)
            #expect(try await download(staging, damaged, content(bytes), wrong) == nil)
            // No hash is made where the checksum is right.
            #expect(try await download(staging, bytes, content(damaged), right) == bytes)
        }
    }

    @Test func `R-071: what an earlier download left behind is proved by its hash`() async throws {
        try await withDirectory { directory async throws in
            let staging = AssetStaging(directory: directory)
            let bytes = (0..<4_096).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            // Made to fit: one block is changed by x, the next by x times the key's H.
            let h: [UInt8] = [
                0x66, 0xE9, 0x4B, 0xD4, 0xEF, 0x8A, 0x2C, 0x3B, 0x88, 0x4C, 0xFA, 0x59, 0xCA, 0x34, 0x2B, 0x2E,
            ]
            var forged = bytes
            forged[32] ^= 0x80
            for (index, byte) in h.enumerated() { forged[48 + index] ^= byte }
            #expect(Checksum.of(forged) == Checksum.of(bytes) && forged != bytes)
            try await staging.open(content(bytes)).append(Array(forged[..<1_024]))
            let file = try await staging.open(content(bytes))
            file.expect(Checksum.of(bytes))
            try file.append(Array(bytes[1_024...]))
            #expect(try await file.finish() == nil)
        }
    }

    @Test func `R-071: a large file is read for its checksum as well`() async throws {
        try await withDirectory { directory in
            let url = directory.appendingPathComponent("f")
            let bytes = (0..<Int(AssetFile.checksumBytesMin)).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) }
            try Data(bytes).write(to: url)
            #expect(try AssetFile(url).checksum == Checksum.of(bytes))
            try Data(bytes.dropLast()).write(to: url)
            #expect(try AssetFile(url).checksum == nil)
        }
    }

    @Test func `R-071: what is old in the staging directory is removed when it is next used`() async throws {
        try await withDirectory { directory in
            let old = directory.appendingPathComponent("old")
            let young = directory.appendingPathComponent("young")
            for url in [old, young] { try Data([1]).write(to: url) }
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -90_000)], ofItemAtPath: old.path)
            _ = try await AssetStaging(directory: directory).open(content([1]))
            #expect(!FileManager.default.fileExists(atPath: old.path))
            #expect(FileManager.default.fileExists(atPath: young.path))
        }
    }

    @Test func `R-071: after the clock was set ahead, a download stays for the app as long as ever`() async throws {
        try await withDirectory { directory in
            let clocks = try StagingClocks(directory)
            #expect(try await clocks.keepFile(afterHours: 1))
            #expect(try await clocks.keepFile(afterHours: 1, clockAheadHours: 365 * 24))
            #expect(try await clocks.keepFile(afterHours: 23))
            #expect(try await !clocks.keepFile(afterHours: 1))
        }
    }

    @Test func `R-071: a download from before the machine slept stays for an hour, however long it slept`() async throws
    {
        try await withDirectory { directory in
            let clocks = try StagingClocks(directory)
            #expect(try await clocks.keepFile(afterHours: 1))
            #expect(try await clocks.keepFile(afterHours: 0, asleepHours: 30))
            #expect(try await clocks.keepFile(afterHours: 0.9))
            #expect(try await !clocks.keepFile(afterHours: 0.2))
        }
    }

    @Test func `R-071: a download that somebody is at stays, however old it is`() async throws {
        try await withDirectory { directory in
            let bytes = [UInt8]("hello, tide".utf8)
            let file = try await AssetStaging(directory: directory).open(content(bytes))
            try file.append(bytes)
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSinceNow: -90_000)],
                    ofItemAtPath: directory.appendingPathComponent(name).path)
            }
            // As another process does, which knows of no sleep.
            _ = try await AssetStaging(directory: directory).open(content([1]))
            let url = try #require(try await file.finish())
            #expect(try Array(Data(contentsOf: url)) == bytes)
        }
    }

    private func names(_ directory: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path)
    }

    @Test func `R-071: what a download leaves in a file that no other looks for is removed`() async throws {
        try await withDirectory { directory in
            let staging = AssetStaging(directory: directory)
            let bytes = [UInt8]("hello, tide".utf8)
            let first = try await staging.open(content(bytes))
            do {
                let second = try await staging.open(content(bytes))
                try second.append(Array(bytes[..<5]))
                #expect(try names(directory).count == 2)
            }
            #expect(try names(directory).count == 1)
            let url = try await finish(staging, bytes)
            #expect(try Array(Data(contentsOf: url)) == bytes)
            try first.append(Array(bytes[..<5]))
        }
    }

    /// Which file has this name.
    private func number(_ file: URL) -> UInt64 {
        var status = stat()
        return stat(file.path, &status) == 0 ? UInt64(status.st_ino) : 0
    }

    /// - Returns: the file, of which nobody has the download any more.
    private func finish(_ staging: AssetStaging, _ bytes: [UInt8]) async throws -> URL {
        let file = try await staging.open(content(bytes))
        try file.append(bytes)
        return try #require(try await file.finish())
    }

    @Test func `R-071: a download is as young as its end, however old its first bytes are`() async throws {
        try await withDirectory { directory in
            let staging = AssetStaging(directory: directory)
            let bytes = [UInt8]("hello, tide".utf8)
            try await staging.open(content(bytes)).append(bytes)
            let part = try #require(try names(directory).first)
            let date = Date(timeIntervalSinceNow: -80_000)
            try FileManager.default.setAttributes(
                [.modificationDate: date], ofItemAtPath: directory.appendingPathComponent(part).path)
            let file = try await staging.open(content(bytes))
            #expect(file.byteCount == Int64(bytes.count))
            let url = try #require(try await file.finish())
            let came = try FileManager.default.attributesOfItem(atPath: url.path)[.modificationDate] as? Date
            #expect(try #require(came).timeIntervalSinceNow > -1_000)
        }
    }

    @Test func `R-071: a file that is taken back is where the next download begins, unless there is one`() async throws
    {
        try await withDirectory { directory in
            let staging = AssetStaging(directory: directory)
            let bytes = [UInt8]("hello, tide".utf8)
            let files = try await [finish(staging, bytes), finish(staging, bytes)]
            for file in files { staging.takeBack(file, content(bytes)) }
            #expect(try names(directory).count == 1)
            let file = try await staging.open(content(bytes))
            #expect(file.byteCount == Int64(bytes.count))
            // Somebody has it: it stays where it is.
            let part = directory.appendingPathComponent(try #require(try names(directory).first))
            let number = number(part)
            staging.takeBack(try await finish(staging, bytes), content(bytes))
            #expect(try names(directory).count == 1 && self.number(part) == number)
            let url = try #require(try await file.finish())
            #expect(try Array(Data(contentsOf: url)) == bytes)
        }
    }

    @Test func `R-071, R-401: a copy is whole, or nothing is left of it`() async throws {
        try await withDirectory { directory in
            let file = directory.appendingPathComponent("f")
            for byteCount in [0, 1, StagedAsset.blockBytes, 2 * StagedAsset.blockBytes + 1] {
                let data = Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) })
                try data.write(to: file)
                let copy = try await AssetStaging.copy(file)
                #expect(try Data(contentsOf: copy) == data)
                try FileManager.default.removeItem(at: copy)
            }
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await AssetStaging.copy(file)
            }
            let error = await #expect(throws: CKError.self) { try await task.value }
            #expect(error?.code == .operationCancelled)
            #expect(try names(directory) == ["f"])
        }
    }

    @Test func `R-070: a file that cannot be opened again is not said to have changed`() async throws {
        try await withDirectory { directory in
            let url = directory.appendingPathComponent("f")
            try Data([1, 2, 3]).write(to: url)
            let file = try AssetFile(url)
            let source = file.source
            let attempts: [() throws -> Void] = [
                { _ = try file.bytes(at: 0, count: 1) },
                { try file.checkUnchanged() },
                { _ = try source.isUntouched() },
                { _ = try AssetReading(source) },
            ]
            try FileManager.default.removeItem(at: url)
            for attempt in attempts {
                let error = #expect(throws: CKError.self) { try attempt() }
                #expect(error?.code == .assetFileModified)
            }
            // No file can be opened through it, whoever asks.
            try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: "f")
            for attempt in attempts {
                let error = #expect(throws: CKError.self) { try attempt() }
                #expect(error?.code == .assetNotAvailable)
                let text = error?.localizedDescription ?? ""
                #expect(text.contains("\(url.path) cannot be read. Check that it is a file"), "\(text)")
            }
        }
    }

    @Test func `R-071: others go on while a download reads what is there`() async throws {
        try await withDirectory { directory in
            let staging = AssetStaging(directory: directory)
            let bytes = [UInt8](repeating: 7, count: 32 * StagedAsset.blockBytes)
            let asset = content(bytes)
            try await staging.open(asset).append(bytes)
            let state = Locked((isReady: false, isReading: false, hasEnded: false, turnCount: 0))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await FileThread.stay { () async throws(CKError) in
                        while !state.withLock({ $0.hasEnded }) {
                            state.withLock { state in
                                state.isReady = true
                                if state.isReading { state.turnCount += 1 }
                            }
                            await Task.yield()
                        }
                    }
                }
                try await FileThread.stay { () async throws(CKError) in
                    defer { state.withLock { $0.hasEnded = true } }
                    while !state.withLock({ $0.isReady }) { await Task.yield() }
                    state.withLock { $0.isReading = true }
                    // A program that starts just then may hold the file's lock for a moment. There is nothing to read then.
                    var readCount = 0
                    for _ in 0..<10_000 where readCount == 0 {
                        readCount = Int(try await staging.open(asset).byteCount)
                        if readCount == 0 { await Task.yield() }
                    }
                    state.withLock { $0.isReading = false }
                }
                try await group.waitForAll()
            }
            #expect(state.withLock { $0.turnCount } > 0)
        }
    }

    @Test func `R-071: a staging directory that is no directory is refused`() async throws {
        try await withDirectory { directory in
            let file = directory.appendingPathComponent("file")
            try Data().write(to: file)
            do throws(CKError) {
                _ = try await AssetStaging(directory: file).open(content([1]))
                Issue.record("opened")
            } catch {
                #expect(error.code == .assetNotAvailable)
            }
        }
    }
}

/// A staging directory with a file in it, and clocks of its own.
private final class StagingClocks: Sendable {
    private let directory: URL
    private let clocks: Locked<AssetStaging.Clocks>
    private let staging: AssetStaging

    init(_ directory: URL) throws {
        self.directory = directory
        try Data([1]).write(to: directory.appendingPathComponent("fetched"))
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        let clocks = Locked<AssetStaging.Clocks>((now, .zero, .zero))
        self.clocks = clocks
        staging = AssetStaging(directory: directory) { clocks.withLock { $0 } }
    }

    /// - Returns: whether the file is there after that, and after the directory was used.
    func keepFile(
        afterHours awake: Double, asleepHours asleep: Double = 0, clockAheadHours ahead: Double = 0
    ) async throws -> Bool {
        clocks.withLock { clocks in
            clocks.awake += .seconds(awake * 3_600)
            clocks.steady += .seconds((awake + asleep) * 3_600)
            clocks.wall += Int64((awake + asleep + ahead) * 3_600_000)
        }
        _ = try await staging.open(FieldAsset(sha256: ContentHash.of([1]), byteCount: 1))
        return FileManager.default.fileExists(atPath: directory.appendingPathComponent("fetched").path)
    }
}
