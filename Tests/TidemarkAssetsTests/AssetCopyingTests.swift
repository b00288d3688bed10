// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkCrypto
import TidemarkDomain
import TidemarkFields
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkAssets

@Suite struct AssetCopyingTests {
    private static let sizes = [
        0, 1, ContentHash.leafByteCount, 8 * ContentHash.pieceByteCount, 8 * ContentHash.pieceByteCount + 1,
    ]

    private static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) } }

    private static func copy(_ path: String, to other: String?, _ content: FieldAsset) throws(AssetStoreError) {
        let copying = try AssetCopying(path, to: other, content)
        while try copying.step() > 0 {}
        try copying.finish()
    }

    private func with(_ body: (String) throws -> Void) throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try body(directory.path)
    }

    private static func write(_ bytes: [UInt8], to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    @Test(arguments: sizes) func `R-951: a copy has the content, its owner alone can read it, and nothing else is left`(
        _ count: Int
    ) throws {
        try with { directory in
            let bytes = Self.bytes(count)
            let (source, target) = ("\(directory)/source", "\(directory)/a/b/target")
            try Self.write(bytes, to: source)
            let descriptor = try FileCalls.openWriting(source)
            FileLayout.keep([UInt8](repeating: 7, count: Checksum.byteCount), with: descriptor)
            let kept = FileLayout.checksum(keptWith: descriptor)
            FileCalls.close(descriptor)
            try Self.copy(source, to: target, FieldAsset(of: bytes))
            #expect(FileManager.default.contents(atPath: target) == Data(bytes))
            #expect(FileCalls.names(in: "\(directory)/a/b") == ["target"])
            let mode = try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let copied = try FileCalls.openReading(target)
            defer { FileCalls.close(copied) }
            // A file system without attributes keeps none.
            #expect(FileLayout.checksum(keptWith: copied) == kept)
        }
    }

    @Test(arguments: sizes) func `R-951: content that is not what its name says is never copied`(_ count: Int) throws {
        try with { directory in
            let bytes = Self.bytes(count)
            let (source, target) = ("\(directory)/source", "\(directory)/target")
            var other = bytes
            if count > 0 { other[count / 2] ^= 1 } else { other = [1] }
            for wrong in [other, bytes + [0], Array(bytes.dropLast())] where wrong != bytes {
                try Self.write(wrong, to: source)
                for target in [target, nil] {
                    let error = #expect(throws: AssetStoreError.self) {
                        try Self.copy(source, to: target, FieldAsset(of: bytes))
                    }
                    #expect(error?.code == .modified)
                }
                #expect(FileCalls.names(in: directory) == ["source"])
            }
        }
    }

    @Test func `R-952: a copy that is given up leaves nothing, and one that was killed is replaced`() throws {
        try with { directory in
            let bytes = Self.bytes(3_000_000)
            let (source, target) = ("\(directory)/source", "\(directory)/target")
            try Self.write(bytes, to: source)
            do {
                let copying = try AssetCopying(source, to: target, FieldAsset(of: bytes))
                #expect(try copying.step() > 0)
                #expect(FileManager.default.fileExists(atPath: "\(target).new"))
                withExtendedLifetime(copying) {}
            }
            #expect(FileCalls.names(in: directory) == ["source"])
            try Self.write([1, 2, 3], to: "\(target).new")
            try Self.copy(source, to: target, FieldAsset(of: bytes))
            #expect(FileManager.default.contents(atPath: target) == Data(bytes))
            #expect(Set(FileCalls.names(in: directory)) == ["source", "target"])
        }
    }

    @Test func `R-951: a file that is missing, or is a link, is no asset`() throws {
        try with { directory in
            let error = #expect(throws: AssetStoreError.self) {
                try Self.copy("\(directory)/none", to: "\(directory)/target", FieldAsset(of: [1]))
            }
            #expect(error?.code == .missing)
            try Self.write([1], to: "\(directory)/file")
            try FileManager.default.createSymbolicLink(
                atPath: "\(directory)/link", withDestinationPath: "\(directory)/file")
            let other = #expect(throws: AssetStoreError.self) {
                try Self.copy("\(directory)/link", to: nil, FieldAsset(of: [1]))
            }
            // So a backup may pass over it, as over a file that the disk does not open.
            #expect(other?.code == .unreadable && other?.detail.contains("\(directory)/link") == true)
            #expect(AssetFiles.byteCount(of: "\(directory)/link") == nil)
            #expect(FileCalls.names(in: directory).count == 2)
        }
    }

    @Test func `R-960: a file that the disk does not give back is damaged, and not another failure`() throws {
        try with { directory in
            // As a broken disk does, a directory opens and cannot be read.
            let source = "\(directory)/source"
            try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: true)
            for target in ["\(directory)/target", nil] {
                let error = #expect(throws: AssetStoreError.self) {
                    try Self.copy(source, to: target, FieldAsset(of: [1]))
                }
                #expect(error?.code == .modified && error?.detail.contains("cannot be read") == true, "\(error as Any)")
            }
            #expect(FileCalls.names(in: directory) == ["source"])
        }
    }

    @Test func `R-957: a link shares the file, and there is none to a file that exists`() throws {
        try with { directory in
            try Self.write([1], to: "\(directory)/file")
            #expect(AssetFiles.link("\(directory)/file", to: "\(directory)/a/other"))
            #expect(AssetFiles.byteCount(of: "\(directory)/a/other") == 1)
            #expect(!AssetFiles.link("\(directory)/file", to: "\(directory)/a/other"))
            #expect(!AssetFiles.link("\(directory)/none", to: "\(directory)/a/third"))
            #expect(AssetFiles.isEmpty("\(directory)/nowhere") && !AssetFiles.isEmpty(directory))
            #expect(AssetFiles.freeByteCount(at: directory).map { $0 > 0 } == true)
            #expect(AssetFiles.freeByteCount(at: "\(directory)/nowhere") == nil)
        }
    }

    @Test func `R-951: contents of a backup have one place each, whatever database they are of`() {
        let content = FieldAsset(sha256: [UInt8](repeating: 0xAB, count: 32), byteCount: 5)
        let name = String(repeating: "ab", count: 32)
        #expect(AssetFiles.path(of: content, inBackup: "/b/assets") == "/b/assets/ab/\(name).5")
        let key = AssetKey(database: DatabaseID(7), content: content)
        #expect(AssetFiles.path(of: key, in: "/s") == "/s/7/ab/\(name).5")
    }
}
