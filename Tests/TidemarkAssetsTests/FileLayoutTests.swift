// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkAssets

/// Each user's unfinished uploads are in a directory of their own.
@Suite struct FileLayoutTests {
    private static let database = DatabaseID(1)

    /// A store in a directory of its own.
    private struct Place {
        let directory: TestDirectory
        let store: FileAssetStore
        let layout: FileLayout

        init() throws {
            directory = try TestDirectory()
            layout = FileLayout(directory: directory.path)
            store = try FileAssetStore(
                directory: directory.path, idleMax: .seconds(60), uploadBytesMax: Limits().uploadBytesMax)
        }

        func close() {
            store.stop()
            directory.remove()
        }
    }

    /// Two bytes, of which the second ends the upload.
    private func upload(_ number: Int, by user: UserID?, isEnd: Bool = false) -> AssetUpload {
        AssetUpload(
            draft: Array(repeating: 7, count: 30) + [UInt8(number / 256), UInt8(number % 256)], byteCount: 2,
            in: Self.database, by: DeviceID(high: 0, low: 1), owner: user, isNamedByContent: isEnd)
    }

    /// Leaves uploads that nobody has open, as a server does that has ended. The first one has rested longest.
    private func leave(_ count: Int, of user: UserID?, _ layout: FileLayout) throws {
        try FileCalls.makeDirectory(layout.uploads(to: Self.database, by: user))
        for number in 0..<count {
            let path = layout.file(of: upload(number, by: user).key)
            try Data([1]).write(to: URL(fileURLWithPath: path))
            let date = Date(timeIntervalSinceNow: Double(number - 10_000))
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
        }
    }

    private func isThere(_ path: String) -> Bool { FileCalls.status(of: path) != nil }

    @Test(arguments: [UserID(7), nil] as [UserID?])
    func `R-734: a user has about a thousand unfinished uploads, and a new one meets no other user's`(
        user: UserID?
    ) async throws {
        let place = try Place()
        defer { place.close() }
        let (store, layout) = (place.store, place.layout)
        let others = UserID(8)
        for owner in [user, others] { try leave(1_100, of: owner, layout) }
        let new = upload(2_000, by: user)
        let begun = try await store.append([1], at: 0, to: new)
        #expect(begun.byteCount == 1)

        let left = (0..<1_100).filter { isThere(layout.file(of: upload($0, by: user).key)) }
        #expect(left == Array(100..<1_100), "those that rested longest have made room")
        #expect(isThere(layout.file(of: new.key)))
        let folder = layout.uploads(to: Self.database, by: others)
        #expect(FileCalls.names(in: folder).count == 1_100)
        #expect(FileCalls.parent(of: layout.file(of: new.key)) != folder)
    }

    @Test(arguments: [UserID(7), nil] as [UserID?])
    func `R-734: a directory in which nothing is left goes, and is made again for the next upload`(
        user: UserID?
    ) async throws {
        let place = try Place()
        defer { place.close() }
        let (store, layout) = (place.store, place.layout)
        let folder = layout.uploads(to: Self.database, by: user)
        for number in 0..<2 {
            try leave(1, of: UserID(8), layout)
            _ = try await store.append([1], at: 0, to: upload(number, by: user))
            try await store.expireUploads(idleFor: .seconds(60))
            #expect(FileCalls.names(in: folder).contains { $0.contains("-") }, "it is under way")
            let end = try await store.append([UInt8(number)], at: 1, to: upload(number, by: user, isEnd: true))
            #expect(end.isComplete)
            // The first call removes the directories of users, the second the one above them.
            for _ in 0..<2 { try await store.expireUploads(idleFor: .seconds(60)) }
            #expect(!FileManager.default.fileExists(atPath: layout.uploads(to: Self.database, by: nil)))
        }
    }

    /// Where an older version kept an upload of a user of a public database.
    private func older(_ number: Int, of user: UserID, _ layout: FileLayout) throws -> String {
        try FileCalls.makeDirectory(layout.uploads(to: Self.database, by: nil))
        return "\(layout.file(of: upload(number, by: nil).key))-\(user.rawValue)"
    }

    @Test func `R-734: what an older version began goes on where it was, for its user alone`() async throws {
        let place = try Place()
        defer { place.close() }
        let (store, layout) = (place.store, place.layout)
        for number in 1...2 {
            let older = try older(number, of: UserID(7), layout)
            try Data([1]).write(to: URL(fileURLWithPath: older))
            #expect(try await store.progress(of: upload(number, by: UserID(77))).byteCount == 0)
            #expect(isThere(older))
            // The client asks first, or it does not.
            if number == 1 {
                #expect(try await store.progress(of: upload(number, by: UserID(7))).byteCount == 1)
            }
            #expect(try await store.append([2], at: 1, to: upload(number, by: UserID(7))).byteCount == 2)
            #expect(!isThere(older))
            #expect(try Data(contentsOf: file(number, by: 7, layout)) == Data([1, 2]))
        }
    }

    private func file(_ number: Int, by user: Int64, _ layout: FileLayout) -> URL {
        URL(fileURLWithPath: layout.file(of: upload(number, by: UserID(user)).key))
    }

    @Test func `R-734: what an older version began moves to its user when old uploads are removed`() async throws {
        let place = try Place()
        defer { place.close() }
        let (store, layout) = (place.store, place.layout)
        for (number, user) in [(1, 7), (2, 8), (3, 7)] as [(Int, Int64)] {
            try Data([9]).write(to: URL(fileURLWithPath: try older(number, of: UserID(user), layout)))
        }
        let (idle, again) = (try older(3, of: UserID(7), layout), try older(4, of: UserID(8), layout))
        let date = Date(timeIntervalSinceNow: -10_000)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: idle)
        // This user has begun it anew.
        _ = try await store.append([5], at: 0, to: upload(4, by: UserID(8)))
        try Data([9]).write(to: URL(fileURLWithPath: again))

        try await store.expireUploads(idleFor: .seconds(60))
        #expect(FileCalls.names(in: layout.uploads(to: Self.database, by: nil)).sorted() == ["7", "8"])
        #expect(try Data(contentsOf: file(1, by: 7, layout)) == Data([9]))
        #expect(try Data(contentsOf: file(2, by: 8, layout)) == Data([9]))
        #expect(try Data(contentsOf: file(4, by: 8, layout)) == Data([5]))
        #expect(FileCalls.names(in: layout.uploads(to: Self.database, by: UserID(7))).count == 1)
    }
}
