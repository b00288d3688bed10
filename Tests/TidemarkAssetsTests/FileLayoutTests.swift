// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkDomain
import TidemarkService
import TidemarkTestSupport

@testable import TidemarkAssets

/// Each account's unfinished uploads are in a directory of their own.
@Suite struct FileLayoutTests {
    /// A store in a directory of its own.
    private struct Place {
        let directory: TestDirectory
        let store: FileAssetStore
        let layout: FileLayout

        init(uploadBytesMax: Int64 = Limits().uploadBytesMax) throws {
            directory = try TestDirectory()
            layout = FileLayout(directory: directory.path)
            store = try FileAssetStore(
                directory: directory.path, idleMax: .seconds(60), uploadBytesMax: uploadBytesMax)
        }

        func close() {
            store.stop()
            directory.remove()
        }
    }

    /// Where an upload goes to.
    struct Target {
        var account: Int64?
        var database: Int64 = 1
        /// In a public database; nil: the database is private.
        var user: Int64?
    }

    /// Two bytes, of which the second ends the upload.
    private func upload(
        _ number: Int, to target: Target, byteCount: Int64 = 2, isEnd: Bool = false
    ) -> AssetUpload {
        var upload = AssetUpload(
            draft: Array(repeating: 7, count: 30) + [UInt8(number / 256), UInt8(number % 256)], byteCount: byteCount,
            in: DatabaseID(target.database), by: DeviceID(high: 0, low: 1), owner: target.user.map { UserID($0) },
            isNamedByContent: isEnd)
        upload.account = target.account.map { AccountID($0) }
        return upload
    }

    /// Leaves uploads that nobody has open, as a server does that has ended. The first one has rested longest.
    private func leave(_ count: Int, of account: Int64?, _ layout: FileLayout) throws {
        try FileCalls.makeDirectory(layout.uploads(of: account.map { AccountID($0) }))
        for number in 0..<count {
            try leave(layout.file(of: upload(number, to: Target(account: account))), secondsAgo: 10_000 - number)
        }
    }

    private func leave(_ path: String, secondsAgo: Int = 0) throws {
        try FileCalls.makeDirectory(FileCalls.parent(of: path))
        try Data([1]).write(to: URL(fileURLWithPath: path))
        let date = Date(timeIntervalSinceNow: Double(-secondsAgo))
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }

    private func isThere(_ path: String) -> Bool { FileCalls.status(of: path) != nil }

    /// What the first byte of an upload fails with; nil if it does not.
    private func begin(_ upload: AssetUpload, _ store: FileAssetStore) async -> AssetStoreError.Code? {
        do throws(AssetStoreError) {
            _ = try await store.append([1], at: 0, to: upload)
            return nil
        } catch {
            return error.code
        }
    }

    @Test(arguments: [7, nil] as [Int64?])
    func `R-734: an account has about a thousand unfinished uploads, and a new one meets no other's`(
        account: Int64?
    ) async throws {
        let place = try Place()
        defer { place.close() }
        let (store, layout) = (place.store, place.layout)
        for owner in [account, 8] { try leave(1_100, of: owner, layout) }
        let new = upload(2_000, to: Target(account: account))
        #expect(await begin(new, store) == nil)

        let left = (0..<1_100).filter { isThere(layout.file(of: upload($0, to: Target(account: account)))) }
        #expect(left == Array(100..<1_100), "those that rested longest have made room")
        #expect(isThere(layout.file(of: new)))
        let folder = layout.uploads(of: AccountID(8))
        #expect(FileCalls.names(in: folder).count == 1_100)
        #expect(FileCalls.parent(of: layout.file(of: new)) != folder)
    }

    @Test(arguments: [7, nil] as [Int64?])
    func `R-738: unfinished uploads to many databases, by several servers, count for their account together`(
        account: Int64?
    ) async throws {
        let place = try Place(uploadBytesMax: 300)
        defer { place.close() }
        let other = try FileAssetStore(
            directory: place.directory.path, idleMax: .seconds(60), uploadBytesMax: 300)
        defer { other.stop() }
        // Two private databases, and a public one.
        let targets = [
            Target(account: account, database: 1), Target(account: account, database: 2),
            Target(account: account, database: 3, user: 70),
        ]
        func begin(_ number: Int, _ target: Target, _ store: FileAssetStore) async -> AssetStoreError.Code? {
            await self.begin(upload(number, to: target, byteCount: 100), store)
        }
        for (number, target) in targets.enumerated() {
            #expect(await begin(number, target, number == 0 ? other : place.store) == nil)
        }
        let next = Target(account: account, database: 4)
        for store in [place.store, other] { #expect(await begin(3, next, store) == .crowded) }
        // It goes on, and what others begin is not in the way.
        #expect(await begin(1, targets[1], place.store) == nil)
        #expect(await begin(3, Target(account: 8, database: 5), place.store) == nil)

        // What has ended counts for nothing.
        let end = upload(2, to: targets[2], byteCount: 100, isEnd: true)
        #expect(try await place.store.append(ArraySlice(repeating: 1, count: 99), at: 1, to: end).isComplete)
        #expect(await begin(3, next, other) == nil)
    }

    @Test(arguments: [7, nil] as [Int64?])
    func `R-738: what rests longest makes room, in whichever database it is, and only for its account`(
        account: Int64?
    ) async throws {
        let place = try Place(uploadBytesMax: 300)
        defer { place.close() }
        let layout = place.layout
        let others = Target(account: 8, database: 6)
        let targets = [
            Target(account: account, database: 1), Target(account: account, database: 2),
            Target(account: account, database: 3, user: 70), others,
        ]
        let files = targets.map { layout.file(of: upload(0, to: $0, byteCount: 100)) }
        for (file, secondsAgo) in zip(files, [4_000, 4_500, 5_000, 6_000]) { try leave(file, secondsAgo: secondsAgo) }
        let next = upload(0, to: Target(account: account, database: 4), byteCount: 100)
        #expect(await begin(next, place.store) == nil)
        #expect(files.map(isThere) == [true, true, false, true])
        #expect(isThere(layout.file(of: next)))
    }

    @Test(arguments: [7, nil] as [Int64?])
    func `R-734: a directory in which nothing is left goes, and is made again for the next upload`(
        account: Int64?
    ) async throws {
        let place = try Place()
        defer { place.close() }
        let store = place.store
        let target = Target(account: account)
        let folder = place.layout.uploads(of: account.map { AccountID($0) })
        for number in 0..<2 {
            #expect(await begin(upload(number, to: target), store) == nil)
            try await store.expireUploads(idleFor: .seconds(60))
            #expect(FileCalls.names(in: folder).count == 1, "it is under way")
            let end = try await store.append([UInt8(number)], at: 1, to: upload(number, to: target, isEnd: true))
            #expect(end.isComplete)
            try await store.expireUploads(idleFor: .seconds(60))
            #expect(!FileManager.default.fileExists(atPath: folder))
        }
    }

    // MARK: Older versions

    /// Where older versions kept the uploads of users 7 and 77.
    enum Older: CaseIterable {
        case ofPrivateDatabase, ofUser, ofPublicDatabase

        func target(_ user: Int64) -> Target {
            // A private database is of one account.
            self == .ofPrivateDatabase
                ? Target(account: user, database: user) : Target(account: user, user: user)
        }

        fileprivate func path(of upload: AssetUpload, _ layout: FileLayout) -> String {
            let folder = "\(layout.directory)/\(upload.key.database.rawValue)/uploads"
            let file = layout.file(of: upload)
            // Without the database and the user.
            let name = file.dropFirst(FileCalls.parent(of: file).count + 1).drop { $0 != "-" }.dropFirst()
            return switch self {
            case .ofPrivateDatabase: "\(folder)/\(name)"
            case .ofUser: "\(folder)/\(upload.account?.rawValue ?? 0)/\(name)"
            case .ofPublicDatabase: "\(folder)/\(name)-\(upload.account?.rawValue ?? 0)"
            }
        }
    }

    @Test(arguments: Older.allCases)
    func `R-734: what an older version began goes on where it was, for its user alone`(
        older: Older
    ) async throws {
        let place = try Place()
        defer { place.close() }
        let (store, layout) = (place.store, place.layout)
        for number in 1...2 {
            let own = upload(number, to: older.target(7))
            let path = older.path(of: own, layout)
            try leave(path)
            #expect(try await store.progress(of: upload(number, to: older.target(77))).byteCount == 0)
            #expect(isThere(path))
            // The client asks first, or it does not.
            if number == 1 { #expect(try await store.progress(of: own).byteCount == 1) }
            #expect(try await store.append([2], at: 1, to: own).byteCount == 2)
            #expect(!isThere(path))
            #expect(try Data(contentsOf: URL(fileURLWithPath: layout.file(of: own))) == Data([1, 2]))
        }
    }

    @Test(arguments: Older.allCases)
    func `R-734, R-738: what an older version began counts when it goes on, and goes when nobody does`(
        older: Older
    ) async throws {
        let place = try Place(uploadBytesMax: 3)
        defer { place.close() }
        let (store, layout) = (place.store, place.layout)
        let own = upload(1, to: older.target(7))
        let (idle, rested) = (upload(2, to: older.target(7)), upload(3, to: older.target(7)))
        for upload in [own, rested] { try leave(older.path(of: upload, layout)) }
        try leave(older.path(of: idle, layout), secondsAgo: 10_000)
        try await store.expireUploads(idleFor: .seconds(60))
        #expect(!isThere(older.path(of: idle, layout)))
        #expect(isThere(older.path(of: rested, layout)))

        #expect(try await store.progress(of: own).byteCount == 1)
        #expect(await begin(upload(4, to: Target(account: 7, database: 9)), store) == .crowded)
        #expect(await begin(upload(4, to: Target(account: 8, database: 9)), store) == nil)
    }
}
