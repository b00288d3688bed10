// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkCrypto
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService

/// The names of files below the directory of a ``FileAssetStore``.
struct FileLayout: Sendable {
    let directory: String

    func file(of asset: AssetKey) -> String {
        "\(shelf(of: asset))/\(name(asset.content.sha256, asset.content.byteCount))"
    }

    /// The directory of ``file(of:)``: one of 256, so that none holds too many names.
    func shelf(of asset: AssetKey) -> String {
        "\(directory)/\(asset.database.rawValue)/\(Hex.encode([asset.content.sha256[0]]))"
    }

    /// The directories that hold a shelf's name and the names above it, from the shelf upwards.
    func holders(ofShelf shelf: String) -> [String] {
        [FileCalls.parent(of: shelf), directory]
    }

    func file(of upload: AssetUpload) -> String {
        "\(uploads(of: upload.account))/\(place(of: upload.key))-\(name(of: upload.key))"
    }

    /// The database that is uploaded to. In a public one it has the user, too.
    private func place(of upload: AssetUpload.Key) -> String {
        upload.owner.map { "\(upload.database.rawValue).\($0.rawValue)" } ?? "\(upload.database.rawValue)"
    }

    private func name(of upload: AssetUpload.Key) -> String {
        "\(name(upload.name, upload.byteCount))-\(Hex.encode(upload.device.bytes))"
    }

    /// The directory of one account's unfinished uploads to all databases. A new one meets no other account's
    ///
    ///
    /// - Parameter account: nil: everybody without a credential together.
    func uploads(of account: AccountID?) -> String {
        "\(allUploads)/\(account.map { String($0.rawValue) } ?? "nobody")"
    }

    /// NB: it is not a number, so it is not the directory of a database.
    private var allUploads: String { "\(directory)/uploads" }

    private func name(_ name: [UInt8], _ byteCount: Int64) -> String {
        "\(Hex.encode(name)).\(byteCount)"
    }

    // MARK: Attributes of a file

    private static let checksum = "user.tidemark.checksum"

    static func keep(_ checksum: [UInt8], with descriptor: Int32) {
        FileCalls.setAttribute(Self.checksum, of: descriptor, to: checksum)
    }

    static func checksum(keptWith descriptor: Int32) -> [UInt8]? {
        let bytes = FileCalls.attribute(checksum, of: descriptor, byteCountMax: Checksum.byteCount)
        return bytes?.count == Checksum.byteCount ? bytes : nil
    }

    // MARK: Listing

    func databases() -> [DatabaseID] {
        FileCalls.names(in: directory).compactMap { Int64($0) }.sorted().map { DatabaseID($0) }
    }

    func shelves(of database: DatabaseID) -> [String] {
        FileCalls.names(in: "\(directory)/\(database.rawValue)").filter { $0.count == 2 }.sorted()
    }

    func assets(of database: DatabaseID, on shelf: String) -> [AssetKey] {
        FileCalls.names(in: "\(directory)/\(database.rawValue)/\(shelf)").sorted().compactMap { name in
            let parts = name.split(separator: ".")
            guard parts.count == 2, let sha256 = Hex.decode(String(parts[0])),
                sha256.count == FieldAsset.sha256ByteCount, let byteCount = Int64(parts[1]), byteCount >= 0
            else { return nil }
            return AssetKey(database: database, content: FieldAsset(sha256: sha256, byteCount: byteCount))
        }
    }

    /// About the most unfinished uploads of one account: a hundred devices may send ten files each. All their names are
    /// read for each new one, which takes some milliseconds.
    private static let uploadsMax: Int64 = 1_000

    /// Removes uploads in a directory that no server has open, those idle longest first, until the others have no more
    /// than this many bytes.
    ///
    /// - Returns: whether that was possible.
    func makeRoom(for byteCountMax: Int64, in folder: String) throws(AssetStoreError) -> Bool {
        // Small uploads count for more than their bytes, so that there are not too many of them either.
        let byteCountMin = byteCountMax / Self.uploadsMax
        let uploads = FileCalls.names(in: folder).compactMap { name in
            announcedByteCount(name).map { (path: "\(folder)/\(name)", byteCount: max($0, byteCountMin)) }
        }
        var sum = uploads.reduce(0) { $0 + $1.byteCount }
        guard sum > byteCountMax else { return true }
        let resting = uploads.compactMap { upload in
            FileCalls.status(of: upload.path).map { (upload: upload, since: $0.modifiedSeconds) }
        }
        for (upload, _) in resting.sorted(by: { $0.since < $1.since }) where sum > byteCountMax {
            if try removeUnlessOpen(upload.path) { sum -= upload.byteCount }
        }
        return sum <= byteCountMax
    }

    /// Nil if it is not the name of an upload's file.
    private func announcedByteCount(_ name: String) -> Int64? {
        let parts = name.split(separator: "-")
        return parts.count == 3 ? parts[1].split(separator: ".").last.flatMap { Int64($0) } : nil
    }

    /// - Returns: whether it is gone. If a server has it open, the file stays.
    private func removeUnlessOpen(_ path: String) throws(AssetStoreError) -> Bool {
        try unlessOpen(path) { () throws(AssetStoreError) in try FileCalls.remove(path) }
    }

    /// Does a work that takes the name from a file, unless a server has the file open.
    ///
    /// - Returns: whether the name is gone.
    private func unlessOpen(
        _ path: String, _ work: () throws(AssetStoreError) -> Void
    ) throws(AssetStoreError) -> Bool {
        // For writing: locks of network file systems need that.
        guard let descriptor = try? FileCalls.openWriting(path) else { return FileCalls.status(of: path) == nil }
        defer { FileCalls.close(descriptor) }
        guard FileCalls.lock(descriptor), FileCalls.isNamed(path, descriptor) else { return false }
        try work()
        return true
    }

    /// The directories of everybody's uploads.
    func uploadFolders() -> [String] {
        FileCalls.names(in: allUploads).sorted().map { "\(allUploads)/\($0)" }
    }

    /// The uploads in a directory. An empty directory is removed: code that needs it makes it again.
    func uploads(in folder: String) -> [String] {
        let names = FileCalls.names(in: folder)
        if names.isEmpty { FileCalls.removeDirectory(folder) }
        return names.map { "\(folder)/\($0)" }
    }

    /// Removes those of the files that are older than that time and that no server has open.
    func removeUploads(_ paths: ArraySlice<String>, before deadline: Int64) throws(AssetStoreError) {
        for path in paths {
            guard let status = FileCalls.status(of: path), status.modifiedSeconds < deadline else { continue }
            _ = try removeUnlessOpen(path)
        }
    }

    // MARK: Uploads of an older version

    // It kept them with their database:
    //     DATABASE/uploads/NAME.SIZE-DEVICE        in a private one
    //     DATABASE/uploads/USER/NAME.SIZE-DEVICE   in a public one; before that:
    //     DATABASE/uploads/NAME.SIZE-DEVICE-USER
    // Only a user who goes on tells whose such a file is. Nobody makes new ones, and old ones are removed.

    /// Whether the upload has a file. One of an older version moves to its account first, so that it goes on.
    ///
    /// - Throws: `busy` if a server of that version has it open.
    func hasFile(_ upload: AssetUpload) throws(AssetStoreError) -> Bool {
        let path = file(of: upload)
        if FileCalls.status(of: path) != nil { return true }
        for older in olderFiles(of: upload.key) where FileCalls.status(of: older) != nil {
            guard try move(older: older, to: path) else { throw AssetStoreError(.busy) }
            return FileCalls.status(of: path) != nil
        }
        return false
    }

    /// Where older versions kept the upload, the newest first.
    private func olderFiles(of upload: AssetUpload.Key) -> [String] {
        let (folder, name) = (olderUploads(to: upload.database), name(of: upload))
        guard let owner = upload.owner?.rawValue else { return ["\(folder)/\(name)"] }
        return ["\(folder)/\(owner)/\(name)", "\(folder)/\(name)-\(owner)"]
    }

    private func olderUploads(to database: DatabaseID) -> String { "\(directory)/\(database.rawValue)/uploads" }

    /// The directories of everybody's uploads to a database.
    func olderUploadFolders(of database: DatabaseID) -> [String] {
        let all = olderUploads(to: database)
        return [all] + FileCalls.names(in: all).filter { Int64($0) != nil }.map { "\(all)/\($0)" }
    }

    /// If the upload has started again in between, the newer one stays, and the older one goes.
    ///
    /// - Returns: whether it is in its place. If a server has it open, the file stays where it is.
    private func move(older: String, to place: String) throws(AssetStoreError) -> Bool {
        try unlessOpen(older) { () throws(AssetStoreError) in
            if FileCalls.status(of: place) == nil {
                try FileCalls.renameCreating(older, to: place)
            } else {
                try FileCalls.remove(older)
            }
        }
    }
}
