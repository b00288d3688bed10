// SPDX-License-Identifier: Apache-2.0

internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService

/// Which file is what, below the directory of a ``FileAssetStore``.
struct FileLayout: Sendable {
    let directory: String

    private static let uploads = "uploads"

    func file(of asset: AssetKey) -> String {
        "\(shelf(of: asset))/\(name(asset.content.sha256, asset.content.byteCount))"
    }

    /// The directory of ``file(of:)``: one of 256, so that none holds too many names.
    func shelf(of asset: AssetKey) -> String {
        "\(directory)/\(asset.database.rawValue)/\(Hex.encode([asset.content.sha256[0]]))"
    }

    func file(of upload: AssetUpload.Key) -> String {
        "\(uploads(of: upload.database))/\(name(upload.name, upload.byteCount))-\(Hex.encode(upload.device.bytes))"
    }

    func uploads(of database: DatabaseID) -> String {
        "\(directory)/\(database.rawValue)/\(Self.uploads)"
    }

    private func name(_ name: [UInt8], _ byteCount: Int64) -> String {
        "\(Hex.encode(name)).\(byteCount)"
    }

    // MARK: What is there

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

    func removeUploads(idleFor idle: Duration) throws(AssetStoreError) {
        let deadline = FileCalls.nowSeconds - idle.components.seconds
        for database in databases() {
            let folder = uploads(of: database)
            for name in FileCalls.names(in: folder) {
                let path = "\(folder)/\(name)"
                guard let status = FileCalls.status(of: path), status.modifiedSeconds < deadline,
                    let descriptor = try? FileCalls.openReading(path)
                else { continue }
                defer { FileCalls.close(descriptor) }
                // One that a server has open goes on.
                guard FileCalls.lock(descriptor) else { continue }
                try FileCalls.remove(path)
            }
        }
    }
}
