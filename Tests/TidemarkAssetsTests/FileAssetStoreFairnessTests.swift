// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkAssets
import TidemarkCrypto
import TidemarkDomain
import TidemarkFields
import TidemarkService
import TidemarkTestSupport

/// Many uploads at once, and long ones.
@Suite(.serialized) struct FileAssetStoreFairnessTests {
    private static let phone = DeviceID(high: 0, low: 1)

    private func withStore(
        threads: Int = 1, idleMax: Duration = .seconds(3_600), _ body: (FileAssetStore, String) async throws -> Void
    ) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        let store = try FileAssetStore(
            directory: directory.path, threads: threads, idleMax: idleMax, uploadBytesMax: Limits().uploadBytesMax)
        defer { store.stop() }
        try await body(store, directory.path)
    }

    /// Two bytes, of which the second ends the upload.
    private func upload(_ number: Int, by account: Int64, isEnd: Bool = false) -> AssetUpload {
        var upload = AssetUpload(
            draft: Array(repeating: UInt8(number % 256), count: 31) + [UInt8(number / 256)], byteCount: 2,
            in: DatabaseID(account), by: Self.phone, isNamedByContent: isEnd)
        upload.account = AccountID(account)
        return upload
    }

    /// The files below the directory that this process has open.
    private func openFiles(below path: String) -> Set<String> {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let files = descriptors.compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        return Set(files.filter { $0.hasPrefix(path) })
    }

    @Test func `R-717: any number of uploads goes on where it was, and few files are open for one account`()
        async throws
    {
        try await withStore { store, path async throws in
            for number in 0..<200 {
                let progress = try await store.append([UInt8(number)][...], at: 0, to: upload(number, by: 1))
                #expect(progress.byteCount == 1)
            }
            #expect(openFiles(below: path).count == 32)
            for number in 0..<200 {
                // Only an upload that was not read again is named by its content.
                let end = try await store.append([7][...], at: 1, to: upload(number, by: 1, isEnd: true))
                #expect(end.sha256 == ContentHash.of([UInt8(number), 7]), "\(number)")
            }
        }
    }

    @Test func `R-712, R-717: whoever has most open uploads gives way, and nobody is shut out`() async throws {
        try await withStore { store, path async throws in
            for account in 1...8 as ClosedRange<Int64> {
                for number in 0..<32 {
                    _ = try await store.append([1][...], at: 0, to: upload(number, by: account))
                }
            }
            #expect(openFiles(below: path).count == 256)
            for number in 0..<20 { _ = try await store.append([1][...], at: 0, to: upload(number, by: 9)) }
            let open = openFiles(below: path)
            #expect(open.count == 256)
            #expect(open.count { $0.hasPrefix("\(path)/uploads/9/") } == 20)
            for account in 1...8 {
                let count = open.count { $0.hasPrefix("\(path)/uploads/\(account)/") }
                #expect((29...30).contains(count), "account \(account) has \(count)")
            }
        }
    }

    @Test func `R-717: an upload that rested is not read again, unless somebody else has had it`() async throws {
        try await withStore(idleMax: .milliseconds(10)) { store, path async throws in
            for isTouched in [false, true] {
                let number = isTouched ? 2 : 1
                _ = try await store.append([5][...], at: 0, to: upload(number, by: 1))
                try await eventually { openFiles(below: path).isEmpty }
                if isTouched {
                    let folder = "\(path)/uploads/1"
                    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
                    try Data([6]).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
                }
                let end = try await store.append([7][...], at: 1, to: upload(number, by: 1, isEnd: true))
                #expect(end.sha256 == (isTouched ? nil : ContentHash.of([5, 7])))
                #expect(end.byteCount == 2)
            }
        }
    }

    @Test func `R-717: while a long upload is read, others have their turn`() async throws {
        try await withStore { store, path async throws in
            let content = [UInt8](repeating: 3, count: 64 << 20)
            let asset = AssetKey(of: content)
            // What another server has left.
            do {
                let other = try FileAssetStore(directory: path, threads: 1, uploadBytesMax: Limits().uploadBytesMax)
                _ = try await other.append(Array(content[..<1]), at: 0, to: asset, by: Self.phone)
                other.stop()
            }
            let folder = "\(path)/uploads/nobody"
            let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
            let file = "\(folder)/\(name)"
            // A program that this process starts just then has its lock too, until it runs.
            try await eventually { !openFiles(below: path).contains(file) }
            try Data(content).write(to: URL(fileURLWithPath: file))

            let order = Order()
            async let long: Void = {
                let progress = try await store.progress(of: asset, by: Self.phone)
                #expect(progress.isComplete)
                await order.add("long")
            }()
            // It has begun.
            try await eventually {
                openFiles(below: path).contains(file)
            }
            _ = try await store.append([1][...], at: 0, to: upload(1, by: 2))
            await order.add("short")
            try await long
            #expect(await order.all == ["short", "long"])
            #expect(try await store.read(asset, at: 1, count: 2) == [3, 3])
        }
    }

    private actor Order {
        private(set) var all: [String] = []

        func add(_ name: String) { all.append(name) }
    }
}
